"""A Kedro run becomes an MLflow run that can be searched and compared."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.datasets.atomic import JsonDocument
from benchwright.tracking import flatten, record_run, tracking_uri


def test_nested_parameters_become_dotted_names() -> None:
    assert flatten({"filtering": {"easy": {"confidence": 0.8}}, "models": ["a", "b"]}) == {
        "filtering.easy.confidence": "0.8",
        "models": '["a", "b"]',
    }


def test_a_relative_database_is_the_projects(
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


def test_success_and_failure_are_both_recorded(tmp_path: Path, conf: dict[str, str]) -> None:
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


def test_first_runs_at_once_are_all_recorded(tmp_path: Path, conf: dict[str, str]) -> None:
    command = [sys.executable, "-c", FIRST_RUN, str(tmp_path)]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    ids = {run.communicate()[0].strip() for run in runs}
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert len(ids) == 3
