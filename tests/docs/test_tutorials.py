"""Commands of the README and the tutorials: all of them parse, and the tutorials run as printed."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import click
import pytest
from kedro.pipeline import Pipeline
from omegaconf import OmegaConf

from benchwright.cli import cli
from benchwright.params.filtering import FilteringParams
from benchwright.params.mmlu_cf import SamplingByDifficultyParams, SealingParams
from benchwright.params.run import check_run_values, unknown_parameters
from benchwright.params.sampling import SamplingParams
from benchwright.params.section import Section
from benchwright.pipeline_registry import register_pipelines
from benchwright.runs.project_conf import load_conf, pipeline_defaults
from docs.followed_page import copy_project, steps, write
from docs.test_extending import environment

REPOSITORY = Path(__file__).resolve().parents[2]
TUTORIALS = sorted((REPOSITORY / "docs" / "tutorials").glob("*.md"))
PAGES = [REPOSITORY / "README.md", REPOSITORY / "docs" / "index.md", *TUTORIALS]
OTHER_PROGRAMS = {
    *(".", "cd", "chmod", "cp", "ls", "make", "mkdir", "mlflow", "pip", "python", "python3")
}
SECTIONS: dict[str, type[Section]] = {
    "filtering": FilteringParams,
    "sampling": SamplingParams,
    "sampling_by_difficulty": SamplingByDifficultyParams,
    "sealing": SealingParams,
}
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def shell_commands(page: str) -> Iterator[list[str]]:
    """The commands of a page's shell blocks, without assignments of variables."""
    for step in steps(page):
        lines = step.text.replace("\\\n", " ").splitlines() if step.kind == "sh" else []
        for line in lines:
            if not re.match(r"\s*(#|$|\w+=)", line):
                for part in line.split("&&"):
                    yield list(takewhile(">".__ne__, shlex.split(part, comments=True)))


@pytest.fixture(scope="module")
def project(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with the files that the tutorials add."""
    copied = project_of_a_reader(repository, tmp_path_factory.mktemp("tutorials"))
    for page in TUTORIALS:
        for step in steps(page.read_text()):
            if step.kind != "text":
                write(step, copied)
    return copied


def project_of_a_reader(repository: Path, to: Path) -> Path:
    """The project with all of its bundled data."""
    project = copy_project(repository, to)
    shutil.copytree(repository / "data/01_raw/documents", project / "data/01_raw/documents")
    return project


@cache
def known_pipelines() -> dict[str, Pipeline]:
    return register_pipelines()


@cache
def parameters_of(project: Path, pipeline: str, **named: str) -> dict[str, Any]:
    """The parameters of a run with these names of a benchmark and a variant."""
    defaults = pipeline_defaults(project, None, pipeline)
    return dict(load_conf(project, None, defaults | named)["parameters"])


def check_params(project: Path, pipeline: str, given: dict[str, Any]) -> None:
    """Whether `--params` names a known benchmark, variant, and settings that are accepted."""
    check_run_values(given)
    named = {name: given[name] for name in ("benchmark", "variant") if name in given}
    parameters = parameters_of(project, pipeline, **named)
    problem = unknown_parameters(given, parameters)
    assert problem is None, problem
    for name, value in given.items():
        if isinstance(value, dict):
            merged = OmegaConf.merge(parameters[name], value)
            SECTIONS[name].model_validate(OmegaConf.to_container(merged))


def check_command(project: Path, command: list[str]) -> None:
    """Whether a command exists with these options.

    Raises:
        click.UsageError: an option is not known.
        InputError: a value of `--params` is not accepted.
        InterpolationResolutionError: the benchmark or the variant is not known.
    """
    program, *arguments = command
    if program not in {"kedro", "benchwright"}:
        assert program in OTHER_PROGRAMS, program
        return
    if arguments == ["viz", "run"]:
        return
    name = "run" if not arguments or arguments[0].startswith("-") else arguments.pop(0)
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    parsed = command.make_context(name, arguments).params
    if name in {"run", "sweep"}:
        pipeline = parsed["pipeline"] or "__default__"
        assert pipeline in known_pipelines()
        check_params(project, pipeline, parsed["params"] or {})
    elif named := {kind: parsed[kind] for kind in ("benchmark", "variant") if parsed.get(kind)}:
        check_params(project, "__default__", named)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_parse(page: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    for command in shell_commands(page.read_text()):
        check_command(project, command)


def test_make_targets_exist(repository: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (repository / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        made = [command for command in shell_commands(page.read_text()) if "make" in command[:1]]
        for command in made:
            assert set(command[1:]) <= targets, command


def comparable(text: str, page: Path) -> str:
    """A text with single spaces; numbers are masked where a model's differ between processors."""
    masked = text if page.stem == "from_logs" else _NUMBER.sub("0", text)
    return " ".join(masked.split())


@pytest.mark.long
@pytest.mark.live
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorials_run_as_printed(page: Path, repository: Path, tmp_path: Path) -> None:
    project = project_of_a_reader(repository, tmp_path)
    printed = ""
    for step in steps(page.read_text()):
        if step.kind == "text":
            for line in step.text.splitlines():
                if "<version>" not in line:
                    assert comparable(line, page) in comparable(printed, page), line
            continue
        write(step, project)
        if step.kind == "sh":
            shell = ["bash", "-euo", "pipefail", "-c", step.text]
            done = subprocess.run(
                shell,
                check=False,
                cwd=project,
                env=environment(project),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert done.returncode == 0, f"{step.text}\n{done.stdout[-3000:]}"
            printed = done.stdout
