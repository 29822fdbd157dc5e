"""Commands that run no model must not load one."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("torch", "transformers", "sentence_transformers", "mlflow", "sklearn", "vllm", "ray")
NOT_FOR_ANSWERS = (*HEAVY, "kedro.framework", "omegaconf", "plotly", "scipy.stats", "tqdm")
PROBE = """
import sys
from {module} import main
sys.argv = ["benchwright", *{arguments!r}]
try:
    main()
except SystemExit:
    pass
loaded = [name for name in {heavy!r} if name in sys.modules]
print("LOADED", loaded)
"""


@pytest.mark.parametrize("arguments", [["registry", "list"], ["--help"]])
def test_light_commands_do_not_import_heavy_libraries(
    repository: Path, arguments: list[str]
) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            PROBE.format(module="kedro.framework.cli.cli", arguments=arguments, heavy=HEAVY),
        ],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "LOADED []"
    if arguments[0] == "registry":
        assert "smart" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "heavy", "said"),
    [
        (["--help"], (*NOT_FOR_ANSWERS, "numpy", "pandas", "pydantic"), "Pipelines:"),
        (["compare", "a.csv", "b.csv"], NOT_FOR_ANSWERS, "items: 40 answered by both"),
    ],
)
def test_commands_on_answers_import_only_what_they_need(
    tmp_path: Path, arguments: list[str], heavy: tuple[str, ...], said: str
) -> None:
    for name, step in (("a", 3), ("b", 2)):
        rows = "".join(f"q{n},{int(n % step == 0)}\n" for n in range(40))
        (tmp_path / f"{name}.csv").write_text(f"item_id,score\n{rows}")
    probe = PROBE.format(module="benchwright.__main__", arguments=arguments, heavy=heavy)
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    *lines, loaded = done.stdout.splitlines()
    assert (loaded, said in lines) == ("LOADED []", True)


def test_commands_outside_a_project_begin_without_a_message(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import benchwright.cli"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")
