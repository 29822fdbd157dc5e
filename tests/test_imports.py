"""Commands that run no model must not load one."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("torch", "transformers", "sentence_transformers", "mlflow", "sklearn", "vllm", "ray")
PROBE = """
import sys
from kedro.framework.cli.cli import main
sys.argv = ["kedro", *{arguments!r}]
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
        [sys.executable, "-c", PROBE.format(arguments=arguments, heavy=HEAVY)],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "LOADED []"
    if arguments[0] == "registry":
        assert "smart" in done.stdout


def test_commands_outside_a_project_begin_without_a_message(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import benchwright.cli"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")
