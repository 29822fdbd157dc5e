"""A Kedro run becomes an MLflow run that can be searched and compared."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.commands.sweep.page import Combination, SweepRun, summarise_sweep
from benchwright.datasets.atomic import JsonDocument
from benchwright.tracking import (
    finish_sweep,
    flatten,
    record_run,
    recorded_parameters,
    start_sweep,
    tracking_is_on,
    tracking_uri,
)


def test_nested_parameters_become_dotted_names() -> None:
    assert flatten({"filtering": {"easy": {"confidence": 0.8}}, "models": ["a", "b"]}) == {
        "filtering.easy.confidence": "0.8",
        "models": '["a", "b"]',
    }


def test_relative_database_is_in_the_project_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert tracking_uri("sqlite:///mlflow.db", tmp_path) == f"sqlite:///{tmp_path}/mlflow.db"
    assert tracking_uri("sqlite:////srv/m.db", tmp_path) == "sqlite:////srv/m.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000")
    assert tracking_uri("sqlite:///mlflow.db", tmp_path) == "http://127.0.0.1:5000"


@pytest.fixture
def conf(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return {"tracking_uri": "sqlite:///mlflow.db", "experiment": "benchwright"}


def test_finished_and_failed_runs_are_recorded(tmp_path: Path, conf: dict[str, str]) -> None:
    metrics = JsonDocument(filepath=str(tmp_path / "metrics.json"), metadata={"mlflow": "metrics"})
    metrics.save({"kept.share": 0.5, "tau_b": float("nan"), "note": "text"})
    saved = {"metrics": (metrics, tmp_path / "metrics.json")}
    parameters = {"benchmark": "demo", "variant": "smart", "seed": 0, "ingestion": {"name": "x"}}
    run_params = {
        "pipeline_names": None,
        "run_id": "2026-01-01T00.00.00.000Z",
        "runner": "<kedro.runner.thread_runner.ThreadRunner object at 0x7f>",
    }
    good = record_run(conf, tmp_path, parameters, run_params, saved, 1.5, None)
    bad = record_run(conf, tmp_path, parameters, run_params, {}, 0.1, ValueError("no rows"))

    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{tmp_path}/mlflow.db")
    run = client.get_run(good)
    assert run.info.status == "FINISHED"
    assert run.data.metrics == {"kept.share": 0.5, "wall_seconds": 1.5}
    assert run.data.params == {"benchmark": "demo", "variant": "smart", "seed": "0"}
    assert run.data.tags["runner"] == "ThreadRunner"
    assert run.data.tags["save_version"] == "2026-01-01T00.00.00.000Z"
    assert [item.path for item in client.list_artifacts(good)] == ["metrics.json"]
    assert client.get_run(bad).info.status == "FAILED"
    assert client.get_run(bad).data.tags["error"] == "ValueError: no rows"


FIRST_RUN = """
import sys
from pathlib import Path
from benchwright.tracking import record_run
conf = {"tracking_uri": "sqlite:///mlflow.db", "experiment": "benchwright"}
print(record_run(conf, Path(sys.argv[1]), {"benchmark": "demo"}, {}, {}, 1, None))
"""


def test_concurrent_first_runs_are_recorded(tmp_path: Path, conf: dict[str, str]) -> None:
    command = [sys.executable, "-c", FIRST_RUN, str(tmp_path)]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    ids = {run.communicate()[0].strip() for run in runs}
    assert [run.returncode for run in runs] == [0, 0]
    assert len(ids) == 2


def test_runs_of_a_sweep_are_children_of_its_run(tmp_path: Path, conf: dict[str, str]) -> None:
    parent = start_sweep(conf, tmp_path, "smart", 2, {"benchmarks": ["demo"], "seeds": [0, 1]})
    parameters = {"benchmark": "demo", "variant": "smart", "seed": 1}
    child = record_run(conf, tmp_path, parameters, {}, {}, 1.0, None, parent=parent)
    combination = Combination("demo", "smart", 0)
    runs = [SweepRun(combination, "done"), SweepRun(combination, "failed", error="no rows")]
    (tmp_path / "summary.csv").write_text("benchmark\n")
    files = [tmp_path / "summary.csv"]
    finish_sweep(conf, tmp_path, parent, summarise_sweep(runs), files, "FAILED")

    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{tmp_path}/mlflow.db")
    assert client.get_run(child).data.tags["mlflow.parentRunId"] == parent
    assert client.get_run(child).info.run_name == "smart demo smart seed 1"
    above = client.get_run(parent)
    assert above.info.run_name == "sweep smart"
    assert above.info.status == "FAILED"
    assert above.data.params == {"benchmarks": '["demo"]', "seeds": "[0, 1]"}
    tags = {name: above.data.tags[name] for name in ("combinations", "done", "failed")}
    assert tags == {"combinations": "2", "done": "1", "failed": "1"}
    assert {item.path for item in client.list_artifacts(parent)} == {"summary.csv", "summary.json"}


def test_artefacts_are_saved_next_to_the_database(
    tmp_path: Path, conf: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/elsewhere/m.db")
    start_sweep(conf, tmp_path / "project", "smart", 1, {})

    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{tmp_path}/elsewhere/m.db")
    experiment = client.get_experiment_by_name("benchwright")
    assert experiment.artifact_location == (tmp_path / "elsewhere" / "mlruns").as_uri()


def test_parameters_of_a_version_are_found(tmp_path: Path, conf: dict[str, str]) -> None:
    assert recorded_parameters(conf, tmp_path, "v1") is None
    assert not (tmp_path / "mlflow.db").exists()
    record_run(conf, tmp_path, {"seed": 3}, {"run_id": "v1"}, {}, 1.0, None)
    assert recorded_parameters(conf, tmp_path, "v1") == {"seed": "3"}
    assert recorded_parameters(conf, tmp_path, "v2") is None


def test_tracking_can_be_disabled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCHWRIGHT_MLFLOW", raising=False)
    assert tracking_is_on({"enabled": True})
    assert not tracking_is_on({"enabled": False})
    monkeypatch.setenv("BENCHWRIGHT_MLFLOW", "off")
    assert not tracking_is_on({"enabled": True})
