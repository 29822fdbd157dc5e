"""The command line."""

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest
from click.testing import CliRunner
from kedro import KedroDeprecationWarning
from kedro.framework.session import KedroSession

from audit_examples import row, save
from benchwright import __version__
from benchwright.cli import cli
from benchwright.cli.kedro_run import wrap_kedro_run
from benchwright.cli.main import COMMANDS
from benchwright.methods.mmlu_cf.sealing.key import read_key
from benchwright.params.mmlu_cf import SealingParams


def test_version_is_printed_outside_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["--version"], prog_name="benchwright")
    assert (done.exit_code, done.output) == (0, f"benchwright {__version__}\n")


@pytest.mark.parametrize(
    ("name", "line"), [each for commands in COMMANDS.values() for each in commands.items()]
)
def test_help_names_every_command_and_option(name: str, line: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.get_short_help_str(90) == line
    options = [p for p in command.params if isinstance(p, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gate", "A", "B", "--margin", ".02", "--items", "bad", "--items", "good"], "--items"),
        (["gate", "A", "B", "--items=bad", "--margin=.02", "--items", "good"], "--items"),
        (["compare", "A", "B", "--scale", "bad", "--scale", "good"], "--scale"),
        (["-e", "bad", "--params", "limit=5", "--env", "good"], "--env/-e"),
        (["run", "-r", "bad", "--runner", "good"], "--runner/-r"),
        (["sweep", "-pbad", "-pgood"], "--pipeline/-p"),
    ],
)
def test_an_option_of_one_value_that_is_given_twice_is_refused(words: list[str], said: str) -> None:
    done = CliRunner().invoke(cli, words)
    message = f"benchwright: {said} takes one value, not 2: 'bad' and 'good'\n"
    assert (done.exit_code, done.output) == (3, message)


def test_options_of_many_values_and_flags_can_be_given_twice(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("item_id,a,b\n1,0,1\n2,1,1\n3,0,0\n")
    words = ["plan", str(file), "--se", ".3", "--se", ".2", "--all-items", "--all-items"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output


@pytest.fixture
def in_project(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    monkeypatch.setenv("BENCHWRIGHT_MLFLOW", "off")


@pytest.mark.usefixtures("in_project")
def test_options_alone_run_a_pipeline_and_nothing_shows_help() -> None:
    done = CliRunner().invoke(cli, [])
    assert (done.exit_code, done.stdout[:6]) == (0, "Usage:")
    done = CliRunner().invoke(cli, ["--params", "benchmark=arcc"])
    assert done.exit_code == 3
    assert "unknown benchmark 'arcc'; expected one of arc, " in done.stderr.splitlines()[-1]


@pytest.mark.usefixtures("in_project")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--benchmarks", "demo,arcc"], "unknown benchmark 'arcc'; expected one of arc, "),
        (["--variants", "smart,smartt"], "unknown variant 'smartt'; expected one of dele, "),
        (["--pipeline", "smrt"], "expected one of answers, budget"),
        (["--runner", "Fast"], "--runner 'Fast': expected one of "),
        (["--seeds", "one"], "--seeds 'one': expected non-negative integers"),
        (["--params", "variant=smart"], "--params variant=…: use --variants smart in a sweep"),
        (["--params", "limt=3"], "--params limt: unknown parameter; expected one of "),
    ],
)
def test_sweep_rejects_unknown_names_before_the_first_run(
    words: list[str], message: str, tmp_path: Path
) -> None:
    extra = [] if "--params" in words else ["--params", f"data_root={tmp_path}"]
    done = CliRunner().invoke(cli, ["sweep", *words, *extra])
    assert done.exit_code == 3
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("in_project")
def test_failed_combinations_are_reported_with_exit_code_1(tmp_path: Path) -> None:
    wrong = f"data_root={tmp_path},filtering.easy.confidence=2"
    done = CliRunner().invoke(cli, ["sweep", "--seeds", "0,1", "--params", wrong])
    assert done.exit_code == 1
    assert "[2/2] demo · smart · seed 1: failed" in done.stderr
    assert "Traceback" not in done.stderr
    (summary,) = (tmp_path / "08_reporting" / "sweeps").glob("*/summary.csv")
    table = pd.read_csv(summary)
    assert table["status"].tolist() == ["failed", "failed"]
    assert table["error"].str.contains("confidence").all()


@pytest.mark.usefixtures("in_project")
def test_diff_compares_the_last_two_runs(tmp_path: Path) -> None:
    folder = tmp_path / "07_model_output" / "arc" / "no_similar"
    save(folder, "2026-01-01T00.00.00.000Z", row("a", "easy"), row("b"))
    save(folder, "2026-01-02T00.00.00.000Z", row("a"), row("b"))
    chosen = ["--benchmark", "arc", "--variant", "no_similar", "--data-root", str(tmp_path)]
    done = CliRunner().invoke(cli, ["diff", *chosen])
    assert done.exit_code == 0, done.output
    assert "Kept: 1 → 2. 1 now kept, 0 now removed" in done.stdout
    assert "easy: removed → clear" in done.stdout


@pytest.mark.usefixtures("in_project")
@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("benchmarks", "demo            Benchwright demo"),
        ("variants", "no_similar           SMART without the similarity rule; needs no encoder"),
        ("models", "gemma-3-270m                 gemma-3  0.268   transformers"),
        ("pipelines", "documents         9      documents  documents"),
        ("runs", "arc        no_similar  50     0     2026-01-01T00.00.00.000Z  2"),
    ],
)
def test_list_has_a_line_for_each(what: str, line: str, tmp_path: Path) -> None:
    folder = tmp_path / "07_model_output" / "arc" / "no_similar" / "limit50"
    save(folder, "2026-01-01T00.00.00.000Z", row("a"))
    done = CliRunner().invoke(cli, ["list", what, "--data-root", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0].split()[0] == ("benchmark" if what == "runs" else what[:-1])
    assert any(text.startswith(line) for text in done.stdout.splitlines())


def test_new_key_is_private_and_replaces_nothing(tmp_path: Path) -> None:
    file = tmp_path / "conf" / "seal_key"
    done = CliRunner().invoke(cli, ["new-key", str(file)])
    assert done.exit_code == 0, done.output
    assert file.stat().st_mode & 0o777 == 0o600
    key = read_key(SealingParams(key_file=str(file)))
    again = CliRunner().invoke(cli, ["new-key", str(file)])
    assert again.exit_code == 3
    assert "exists and is not replaced" in again.stderr
    assert read_key(SealingParams(key_file=str(file))).derived(b"a") == key.derived(b"a")


def test_a_command_whose_reader_has_gone_is_done(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "benchwright", "new-key", str(tmp_path / "key")]
    done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("words", [["list", "runs"], ["diff"]])
def test_commands_refuse_a_data_root_that_is_no_folder(words: list[str]) -> None:
    done = CliRunner().invoke(cli, [*words, "--data-root", "http://x/y"])
    assert (done.exit_code, done.output) == (
        3,
        "benchwright: --params data_root='http://x/y': expected a folder of this machine\n",
    )


def test_relative_data_root_is_resolved_from_the_project_folder(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "01_raw").mkdir()
    (tmp_path / "01_raw" / "demo").symlink_to(repository / "data" / "01_raw" / "demo")
    monkeypatch.setenv("BENCHWRIGHT_MLFLOW", "off")
    monkeypatch.chdir(repository / "docs")
    root = os.path.relpath(tmp_path, repository)
    words = ["run", "--namespaces", "ingestion", "--params", f"data_root={root},limit=5"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert f"project: {repository}" in done.stderr
    (items,) = tmp_path.glob("03_primary/demo/limit5/items.parquet/*/items.parquet")
    assert len(pd.read_parquet(items)) == 5
    assert [path.suffix for path in tmp_path.glob("runs/*")] == [".json"]  # it has ended well
    assert Path.cwd() == repository / "docs"


def test_commands_fail_outside_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["diff"])
    assert done.exit_code == 3
    assert "is not in a Kedro project" in done.stderr


def _kedro_callback(
    pipeline: str | None, pipelines: list[str], params: dict[str, Any], env: str | None
) -> dict[str, Any]:
    return {"pipeline": pipeline, "pipelines": pipelines, "params": params, "env": env}


@pytest.mark.usefixtures("in_project")
@pytest.mark.parametrize(
    ("options", "variant"),
    [
        ({"pipeline": "wicked"}, "wicked"),
        ({"pipelines": ["wicked"]}, "wicked"),
        ({"pipeline": "wicked", "params": {"variant": "mmlu_cf_rules"}}, "mmlu_cf_rules"),
        ({"pipeline": "smart"}, None),
        ({}, None),
    ],
)
def test_pipelines_have_default_variants(options: dict[str, Any], variant: str | None) -> None:
    none: dict[str, Any] = {"pipeline": None, "pipelines": [], "params": {}, "env": None}
    seen = wrap_kedro_run(_kedro_callback)(**(none | options))
    assert seen["params"].get("variant") == variant
    assert seen["pipeline"] is None
    asked = [options["pipeline"]] if "pipeline" in options else options.get("pipelines", [])
    assert seen["pipelines"] == asked


@pytest.mark.usefixtures("in_project")
@pytest.mark.parametrize(
    ("params", "wanted"),
    [
        ({}, {"benchmark": "documents", "variant": "documents"}),
        ({"benchmark": "mine"}, {"benchmark": "mine", "variant": "documents"}),
        ({"variant": "mine", "seed": 1}, {"benchmark": "documents", "variant": "mine", "seed": 1}),
        ({"benchmark": "a", "variant": "b"}, {"benchmark": "a", "variant": "b"}),
    ],
)
def test_pipelines_have_default_benchmarks(params: dict[str, Any], wanted: dict[str, Any]) -> None:
    options = {"pipeline": "documents", "pipelines": [], "params": params, "env": None}
    assert wrap_kedro_run(_kedro_callback)(**options)["params"] == wanted


@pytest.mark.usefixtures("in_project")
@pytest.mark.parametrize("option", ["--pipeline", "-p", "--pipelines"])
def test_both_pipeline_options_run_the_pipeline_without_a_warning(
    option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def session_run(self: KedroSession, **given: Any) -> dict[str, Any]:
        ran.append(given["pipeline_names"])
        return {}

    monkeypatch.setattr(KedroSession, "run", session_run)
    with warnings.catch_warnings():
        warnings.simplefilter("error", KedroDeprecationWarning)
        done = CliRunner().invoke(cli, ["run", option, "budget"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert ran == [["budget"]]


@pytest.mark.usefixtures("in_project")
def test_both_pipeline_options_together_are_rejected() -> None:
    done = CliRunner().invoke(cli, ["run", "--pipeline", "smart", "--pipelines", "budget"])
    assert done.exit_code == 3
    assert "cannot be used together" in done.stderr


@pytest.mark.usefixtures("in_project")
def test_evaluate_sealed_rejects_a_plain_file_without_quoting_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_SEAL_KEY", "0" * 64)
    (tmp_path / "test.sealed").write_text("What is the question?")
    words = ["evaluate-sealed", str(tmp_path / "test.sealed"), "--model", "gemma-3-270m"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 3
    assert len(done.stderr.splitlines()) == 1
    assert "test.sealed" in done.stderr
    assert "What is" not in done.stderr
