"""An installation without extras reads logs to verdicts, and says what pipelines lack."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from answers.lm_eval_examples import results, scored, write_log
from benchwright.core.errors import one_line
from cli.test_estimate import CORRECT, IDS, manifest, new

ANSWERS = (
    (0, ["--help"]),
    (0, ["read", "old", "--out", "answers.parquet"]),
    (0, ["compare", "old", "good", "--page", "compare.html", "--flips", "flips.csv"]),
    (0, ["gate", "old", "good", "--margin", ".05", "--out", "gate.json", "--page", "gate.html"]),
    (0, ["plan", "training.csv", "--se", ".05", "--tau", ".7", "--page", "plan.html"]),
    (0, ["estimate", "new.csv", "--subset", "subset", "--training", "training.csv"]),
    (0, ["suspects", "old", "good", "worse"]),
)
"""The commands that work without extras, with their exit codes."""
PIPELINES = (
    ["run", "--pipeline", "smart"],
    ["sweep", "--variants", "smart", "--benchmarks", "demo"],
)
MISSING = re.compile(
    r"^benchwright: \w+ is not installed: pip install 'benchwright\[all\]'$", re.MULTILINE
)
BESIDE = {"functorch", "torchgen", "tests", "jupyterlab_plotly"} | {
    f"kedro_datasets_{part}" for part in ("benchmarks", "experimental")
}
"""What some packages install beside the module that is imported."""
BLOCKED = """if True:
    import json, os, sys

    class Blocker:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in blocked:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    commands, blocked = json.loads(sys.argv[1])
    sys.meta_path.insert(0, Blocker())
    from click.testing import CliRunner
    from kedro.framework.project import configure_project
    configure_project("benchwright")
    from benchwright.cli import cli
    done = [os.chdir(where) or CliRunner().invoke(cli, words) for where, words in commands]
    sys.stderr.write(json.dumps([[each.exit_code, each.output] for each in done]))
"""


def modules_of_extras(repository: Path) -> set[str]:
    """The importable packages that the extras bring."""
    extras = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    wanted = [extras["optional-dependencies"][e] for e in ("models", "pipelines", "documents")]
    wanted.append(extras["optional-dependencies"]["text"])
    names = {re.split(r"[\[<>=]", line)[0].lower() for lines in wanted for line in lines}
    modules = {
        module
        for module, owners in packages_distributions().items()
        if names & {owner.lower().replace("_", "-") for owner in owners} and module[0] != "_"
    }
    return modules - BESIDE


def write_logs(folder: Path) -> None:
    """Logs of lm-eval: a model, one as good, one worse and one that does not decide."""
    rng = np.random.default_rng(0)
    old = rng.random(300) < 0.6
    good, worse = old.copy(), old.copy()
    good[:5], worse[::4] = True, False
    few = old ^ (rng.random(300) < 0.3)
    for name, right in {"old": old, "good": good, "worse": worse, "few": few}.items():
        rows = []
        for n, is_right in enumerate(right):
            doc = {"question": f"Question {n}?", "choices": list("wxyz"), "answer": n % 4}
            logprobs = [-2.0 * (option != (n + (not is_right)) % 4) for option in range(4)]
            rows.append(scored(n, doc, [f" {c}" for c in "ABCD"], logprobs, n % 4))
        write_log(folder / name, rows, "exam", results("exam", model=f"org/{name}"))


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    write_logs(tmp_path)
    models = {f"m{n}": row for n, row in enumerate(CORRECT)}
    pd.DataFrame({"item_id": IDS, **models}).to_csv(tmp_path / "training.csv", index=False)
    (tmp_path / "subset").mkdir()
    (tmp_path / "subset" / "manifest.json").write_text(
        json.dumps({"subset": manifest().model_dump(mode="json")})
    )
    asked = new(slice(0, 1))
    pd.DataFrame({"item_id": asked.item_ids, "new": asked.correct[0]}).to_csv(
        tmp_path / "new.csv", index=False
    )
    return tmp_path


def invoke_blocked(*commands: tuple[Path, list[str]], blocked: set[str]) -> list[tuple[int, str]]:
    words = json.dumps([[(str(where), words) for where, words in commands], sorted(blocked)])
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [(code, output) for code, output in json.loads(done.stderr.splitlines()[-1])]


def test_commands_on_answers_need_no_extra_and_pipelines_say_what_to_install(
    inputs: Path, repository: Path
) -> None:
    blocked = modules_of_extras(repository)
    assert {"torch", "sklearn", "kedro_datasets", "warcio", "spellchecker"} <= blocked
    commands = [(inputs, words) for _, words in ANSWERS]
    found = invoke_blocked(
        *commands, *((repository, words) for words in PIPELINES), blocked=blocked
    )
    for (code, words), (got, output) in zip(ANSWERS, found, strict=False):
        assert got == code, (words, output)
    for code, output in found[len(ANSWERS) :]:
        assert code == 3, output
        assert MISSING.search(output), output
        assert "Traceback" not in output


def test_every_package_of_an_extra_is_known(repository: Path) -> None:
    for module in modules_of_extras(repository):
        failed = RuntimeError("a node")
        failed.__cause__ = ModuleNotFoundError(f"No module named '{module}.part'")
        assert MISSING.search(f"benchwright: {one_line(failed)}"), module
    assert one_line(ModuleNotFoundError("No module named 'other'")) is None


def step(repository: Path, name: str, **environment: object) -> subprocess.CompletedProcess[str]:
    """Run the script of a step of the GitHub action."""
    action = yaml.safe_load((repository / "action.yml").read_text())
    (found,) = (each for each in action["runs"]["steps"] if each.get("id") == name)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", found["run"]],
        env=os.environ | {key: str(value) for key, value in environment.items()},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
def test_action_decides_and_writes_a_summary(inputs: Path, repository: Path) -> None:
    binary = inputs / "benchwright" / "bin" / "benchwright"
    binary.parent.mkdir(parents=True)
    binary.write_text(f'#!/bin/sh\nexec {sys.executable} -m benchwright "$@"\n')
    binary.chmod(0o755)
    verdicts = {"good": "not worse", "worse": "worse", "few": "undecided", "no": "unusable input"}
    for code, (candidate, verdict) in enumerate(verdicts.items()):
        summary = inputs / f"{candidate}.md"
        done = step(
            repository,
            "gate",
            RUNNER_TEMP=inputs,
            GITHUB_STEP_SUMMARY=summary,
            BASELINE=inputs / "old",
            CANDIDATE=inputs / candidate,
            MARGIN=".05",
            OPTIONS="--task exam\n--common",
        )
        assert done.returncode == code, done.stdout + done.stderr
        heading, _, first, *_ = summary.read_text().splitlines()
        assert heading == f"### benchwright gate: {verdict}"
        assert first.startswith(f"    {verdict if code < 3 else 'benchwright'}: ")
    assert (inputs / "benchwright-gate" / "gate.html").is_file()


@pytest.mark.long
def test_wheel_without_extras_gives_verdicts(wheel: Path, inputs: Path, repository: Path) -> None:
    given = {"PYTHON": sys.executable, "RUNNER_TEMP": inputs, "GITHUB_ACTION_PATH": wheel}
    done = step(repository, "install", **given)
    assert done.returncode == 0, done.stderr
    place = inputs / "benchwright"
    size = sum(file.lstat().st_size for file in place.rglob("*"))
    assert size < 600e6
    for code, words in (*ANSWERS, (0, ["new", "mine"]), (3, ["run"])):
        done = subprocess.run(
            [place / "bin" / "benchwright", *words],
            cwd=inputs / "mine" if words == ["run"] else inputs,
            env=os.environ | {"PYTHONPATH": ""},  # where Kedro puts the clone of earlier tests
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, (words, done.stdout, done.stderr)
    assert "pip install 'benchwright[all]'" in done.stderr
