"""A Kedro run becomes an MLflow run that can be searched and compared."""

import json
import multiprocessing
import socket
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from benchwright.datasets.atomic import JsonDocument
from benchwright.runs.project_conf import load_conf
from benchwright.runs.tracking import (
    finish_sweep,
    one_warning,
    record_run,
    start_sweep,
    sweep_parent,
    tracking_is_on,
    tracking_uri,
)


def test_relative_database_is_in_the_project_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert tracking_uri("sqlite:///mlflow.db", tmp_path) == f"sqlite:///{tmp_path}/mlflow.db"
    assert tracking_uri("sqlite:////srv/m.db", tmp_path) == "sqlite:////srv/m.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000")
    assert tracking_uri("sqlite:///mlflow.db", tmp_path) == "http://127.0.0.1:5000"


@pytest.fixture
def conf(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return {"tracking_uri": "sqlite:///mlflow.db", "experiment": "benchwright"}


def record(
    project: Path,
    conf: dict[str, Any],
    *,
    error: Exception | None = None,
    saved: dict[str, Any] | None = None,
    version: str = "v1",
    **parameters: Any,
) -> str:
    """Record a run of 1.5 s and return its id."""
    told = {"run_id": version, "pipeline_names": ["smart"]}
    given = {"benchmark": "demo", "variant": "smart", "seed": 0, **parameters}
    return record_run(conf, project, given, told, saved or {}, "Half is kept.", 1.5, error)


def client_of(project: Path) -> Any:
    from mlflow.tracking import MlflowClient

    return MlflowClient(tracking_uri=f"sqlite:///{project}/mlflow.db")


def test_finished_and_failed_runs_are_recorded(tmp_path: Path, conf: dict[str, Any]) -> None:
    metrics = JsonDocument(
        filepath=str(tmp_path / "metrics.json"), metadata={"mlflow": ["tau_b", "share_*"]}
    )
    metrics.save({"share_removed": 0.5, "rare": 2.0, "tau_b": 0.900012345})
    saved = {"metrics": (metrics, tmp_path / "metrics.json")}
    conf["view"] = {"selectedColumns": ["tags.`seed`"]}
    good = record(tmp_path, conf, saved=saved, limit=5, filtering={"easy": {"retain": 0.1}})
    bad = record(tmp_path, conf, error=ValueError("no rows"))

    client = client_of(tmp_path)
    run = client.get_run(good)
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "smart demo smart v1"
    assert run.info.end_time - run.info.start_time >= 1500
    assert run.data.metrics == {"share_removed": 0.5, "tau_b": 0.9}
    of_run = {"benchmark": "demo", "variant": "smart", "seed": "0", "limit": "5"}
    assert run.data.params == {**of_run, "filtering.easy.retain": "0.1"}
    assert run.data.tags.items() >= of_run.items()
    assert run.data.tags["save_version"] == "v1"
    assert run.data.tags["mlflow.note.content"] == "Half is kept."
    assert [item.path for item in client.list_artifacts(good)] == ["metrics.json"]
    artefact = Path(client.download_artifacts(good, "metrics.json"))
    assert json.loads(artefact.read_text()) == metrics.load()
    assert client.get_run(bad).info.status == "FAILED"
    assert client.get_run(bad).data.tags["error"] == "ValueError: no rows"
    assert client.get_run(bad).data.tags["mlflow.note.content"] == "Failed: ValueError: no rows"
    tags = client.get_experiment_by_name("benchwright").tags
    saved_view = json.loads(tags["mlflow.sharedViewState.benchwright"])
    assert saved_view["name"] == "benchwright"
    assert json.loads(saved_view["state"]) == conf["view"]


def test_columns_and_chart_of_the_saved_view_exist(repository: Path) -> None:
    view = load_conf(repository)["mlflow"]["view"]
    catalog = load_conf(repository)["catalog"]
    files = ("metrics", "sampling_metrics", "comparison_metrics")
    patterns = [
        f"metrics.`{name}`" for file in files for name in catalog[file]["metadata"]["mlflow"]
    ]
    tags = {f"tags.`{name}`" for name in ("benchmark", "variant", "seed", "limit")}
    known = [*patterns, *tags, "attributes.`Description`", "attributes.`Duration`"]

    def unknown(names: Iterable[str]) -> list[str]:
        return [name for name in names if not any(fnmatchcase(name, each) for each in known)]

    assert unknown(view["selectedColumns"]) == []
    (chart,) = view["compareRunCharts"]
    assert unknown(f"metrics.`{name}`" for name in chart["selectedMetrics"]) == []
    assert set(chart["selectedParams"]) <= {"variant", "seed"}
    assert chart["metricSectionId"] == view["compareRunSections"][0]["uuid"]


@pytest.fixture
def hung_server() -> Iterator[str]:
    """The address of a server that accepts connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("hangs", [False, True])
def test_a_broken_or_hung_server_costs_one_warning_and_20_seconds(
    hangs: bool,
    tmp_path: Path,
    conf: dict[str, Any],
    hung_server: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", hung_server if hangs else "http://127.0.0.1:9")
    import mlflow  # noqa: F401, the import is not the server's fault

    began = time.monotonic()
    with one_warning("this run"):
        record(tmp_path, conf)
    assert time.monotonic() - began < 20
    (said,) = caplog.records
    assert said.getMessage().startswith("MLflow did not record this run: ")
    assert "\n" not in said.getMessage()


def test_concurrent_first_runs_are_recorded(tmp_path: Path, conf: dict[str, Any]) -> None:
    import mlflow  # noqa: F401, once for both processes

    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        runs = [pool.submit(record, tmp_path, conf) for _ in range(2)]
        ids = {run.result() for run in runs}
    assert None not in ids
    assert len(ids) == 2


def test_runs_of_a_sweep_are_children_of_its_run(tmp_path: Path, conf: dict[str, Any]) -> None:
    options = {"benchmarks": ["demo"], "seeds": [0, 1]}
    parent = start_sweep(conf, tmp_path, "sweep smart 2026", options)
    token = sweep_parent.set(parent)
    child = record(tmp_path, conf)
    sweep_parent.reset(token)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "summary.csv").write_text("benchmark\n")
    finish_sweep(conf, tmp_path, parent, tmp_path / "out", "FAILED")

    client = client_of(tmp_path)
    assert client.get_run(child).data.tags["mlflow.parentRunId"] == parent
    above = client.get_run(parent)
    assert above.info.run_name == "sweep smart 2026"
    assert above.data.tags["save_version"] == "2026"
    assert above.info.status == "FAILED"
    assert above.data.params == {"benchmarks": '["demo"]', "seeds": "[0, 1]"}
    assert [item.path for item in client.list_artifacts(parent)] == ["summary.csv"]


def page_in(project: Path) -> tuple[Any, Path]:
    """Return a dataset that is logged as an artefact, and its file."""
    page = project / "page.html"
    page.write_text("<p>")
    return JsonDocument(filepath=str(page), metadata={"mlflow": "artifact"}), page


def test_metrics_are_there_where_artefacts_cannot_be_written(
    tmp_path: Path, conf: dict[str, Any]
) -> None:
    metrics = JsonDocument(filepath=str(tmp_path / "m.json"), metadata={"mlflow": ["tau_b"]})
    metrics.save({"tau_b": 0.9})
    (tmp_path / "mlruns").write_text("")
    with one_warning("this run"):
        record(tmp_path, conf, saved={"metrics": (metrics, tmp_path / "m.json")})
    (run,) = client_of(tmp_path).search_runs(["1"])
    assert run.data.metrics == {"tau_b": 0.9}
    assert run.info.status == "FINISHED"
    with one_warning("the sweep"):
        finish_sweep(conf, tmp_path, run.info.run_id, tmp_path, "KILLED")
    assert client_of(tmp_path).get_run(run.info.run_id).info.status == "KILLED"


def test_tracking_can_be_disabled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCHWRIGHT_MLFLOW", raising=False)
    assert tracking_is_on({"enabled": True})
    assert not tracking_is_on({"enabled": False})
    monkeypatch.setenv("BENCHWRIGHT_MLFLOW", "off")
    assert not tracking_is_on({"enabled": True})
