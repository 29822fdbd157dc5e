"""Unknown parameters are refused, and a user's mistake is one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.core.errors import InputError, one_line
from benchwright.hooks import SealKeyHook, unknown_parameters
from benchwright.pipeline_registry import register_pipelines

DECLARED = {"benchmark": "demo", "filtering": {"easy": {}}, "seed": 0}


def test_a_misspelt_parameter_is_named_with_the_valid_ones() -> None:
    assert unknown_parameters({"benchmrk": "arc"}, DECLARED) == (
        "--params benchmrk=… is not a parameter; there are benchmark, filtering, seed"
    )


def test_declared_parameters_pass() -> None:
    assert unknown_parameters({"benchmark": "arc", "filtering": {"easy": 1}}, DECLARED) is None


@pytest.mark.parametrize("group", ["benchmarks", "variants"])
def test_overriding_what_was_already_chosen_is_refused(group: str) -> None:
    assert "has no effect" in str(unknown_parameters({group: {"arc": {}}}, DECLARED))


def test_the_users_mistake_is_found_below_what_wraps_it() -> None:
    inner = InputError("items.csv, row 3:\n answer 'F'")
    outer = RuntimeError("dataset failed")
    outer.__cause__ = inner
    assert one_line(outer) == "items.csv, row 3: answer 'F'"
    assert one_line(RuntimeError("a defect of ours")) is None


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ("benchmrk=arc", "--params benchmrk=… is not a parameter; there are anomalous_subjects"),
        ("filtering.easy.confidense=0.9", "confidense"),
    ],
)
def test_kedro_run_says_it_in_one_line(repository: Path, params: str, said: str) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("kedro")), "run", "--params", params],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert said in lines[-1]
    assert "Traceback" not in done.stderr


class Catalog:
    """Holds the settings of sealing, and is asked for nothing else."""

    def load(self, name: str) -> dict[str, str]:
        assert name == "params:sealing"
        return {"name": "mmlu_cf"}


@pytest.fixture
def no_key(monkeypatch: pytest.MonkeyPatch) -> Catalog:
    monkeypatch.delenv("BENCHWRIGHT_SEAL_KEY", raising=False)
    return Catalog()


def test_a_run_that_seals_is_refused_without_a_key(no_key: Catalog) -> None:
    with pytest.raises(InputError, match=r"BENCHWRIGHT_SEAL_KEY.*new_key\(\)"):
        SealKeyHook().before_pipeline_run(register_pipelines()["mmlu_cf"], no_key)


def test_runs_that_seal_nothing_need_no_key(
    no_key: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipelines = register_pipelines()
    for name, pipeline in pipelines.items():
        if name != "mmlu_cf":
            SealKeyHook().before_pipeline_run(pipeline, no_key)
    SealKeyHook().before_pipeline_run(pipelines["mmlu_cf"].to_outputs("raw_items"), no_key)
    monkeypatch.setenv("BENCHWRIGHT_SEAL_KEY", "a key of some length")
    SealKeyHook().before_pipeline_run(pipelines["mmlu_cf"], no_key)


def test_without_a_key_no_document_is_read(repository: Path, tmp_path: Path) -> None:
    kedro = str(Path(sys.executable).with_name("kedro"))
    done = subprocess.run(
        [kedro, "run", "--pipeline", "mmlu_cf", "--params", f"data_root={tmp_path}"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "BENCHWRIGHT_SEAL_KEY"},
    )
    assert done.returncode == 1
    assert "sealing: no key: set the environment variable" in done.stderr.splitlines()[-1]
    # There are no documents here: reading them would have been the error.
    assert "Running node" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []
