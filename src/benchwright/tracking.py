"""Record each Kedro run as an MLflow run with parameters, metrics, artefacts and Git state.

The main process records the run when it ends, which works with every runner. Datasets declare
`metadata: {mlflow: metrics | artifact}` in the catalog.
"""

import json
import math
import os
import re
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.core.errors import one_line

if TYPE_CHECKING:
    import pandas as pd

SQLITE = "sqlite:///"
PARAMETER_LENGTH = 6000  # MLflow's limit on the length of a parameter's value


@dataclass
class SweepMember:
    """One run of a sweep: its MLflow parent run, if any, and its results."""

    parent: str | None = None
    version: str = ""
    metrics: dict[str, float] = field(default_factory=dict)
    report: Path | None = None


sweep_member: ContextVar[SweepMember | None] = ContextVar("sweep_member", default=None)
"""The current run of a sweep; None outside a sweep."""


def tracking_is_on(conf: Mapping[str, Any]) -> bool:
    """Return `enabled` of conf, unless the variable BENCHWRIGHT_MLFLOW is `off`."""
    return bool(conf["enabled"]) and os.environ.get("BENCHWRIGHT_MLFLOW", "on") != "off"


def flatten(values: Any, prefix: str = "") -> dict[str, str]:
    """Flatten nested parameters to dotted names (`filtering.easy.confidence`), lists to JSON."""
    if isinstance(values, Mapping) and values:
        flat: dict[str, str] = {}
        for key, value in values.items():
            flat |= flatten(value, f"{prefix}.{key}" if prefix else str(key))
        return flat
    if hasattr(values, "model_dump"):
        return flatten(values.model_dump(mode="json"), prefix)
    text = json.dumps(values) if isinstance(values, (list, tuple, dict)) else str(values)
    return {prefix: text[:PARAMETER_LENGTH]}


def git_state(project: Path) -> dict[str, str]:
    """Return the commit and whether there are uncommitted changes; empty outside a checkout."""

    def git(*words: str) -> str:
        return subprocess.run(  # noqa: S603
            ["git", "-C", str(project), *words],  # noqa: S607
            capture_output=True,
            encoding="utf-8",
            errors="replace",  # file names may be in any encoding
            check=True,
            timeout=10,
        ).stdout.strip()

    try:
        return {
            "git.commit": git("rev-parse", "HEAD"),
            "git.dirty": str(bool(git("status", "--porcelain"))).lower(),
        }
    except (OSError, subprocess.SubprocessError):
        return {}


def tracking_uri(configured: str, project: Path) -> str:
    """Return MLFLOW_TRACKING_URI, else the configured URI; SQLite paths are below the project."""
    if uri := os.environ.get("MLFLOW_TRACKING_URI"):
        return uri
    database = configured.removeprefix(SQLITE)
    return configured if database == configured else f"{SQLITE}{project / database}"


def open_store(conf: Mapping[str, Any], project: Path) -> tuple[Any, str]:
    """Return MLflow's client and the id of the experiment, which is created if it is missing.

    Artefacts of a SQLite store are saved in `mlruns` next to it.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    from filelock import FileLock
    from mlflow.tracking import MlflowClient

    uri = tracking_uri(str(conf["tracking_uri"]), project)
    folder = Path(uri.removeprefix(SQLITE)).parent if uri.startswith(f"{SQLITE}/") else project
    # Opening the store creates the database tables; two concurrent first runs would collide.
    with FileLock(str(folder / ".mlflow.lock")):
        client, name = MlflowClient(tracking_uri=uri), str(conf["experiment"])
        if experiment := client.get_experiment_by_name(name):
            return client, str(experiment.experiment_id)
        place = (folder / "mlruns").as_uri() if uri.startswith("sqlite") else None
        return client, str(client.create_experiment(name, artifact_location=place))


def record_run(
    conf: Mapping[str, Any],
    project: Path,
    parameters: Mapping[str, Any],
    run_params: Mapping[str, Any],
    saved: Mapping[str, tuple[Any, Path | None]],
    seconds: float,
    error: Exception | None,
    parent: str | None = None,
) -> str:
    """Write one MLflow run and return its id.

    Args:
        conf: `tracking_uri`, `experiment`.
        project: the project folder.
        parameters: resolved parameters; nested ones are flattened.
        run_params: Kedro's description of the run (pipeline, runner, version …).
        saved: dataset and local file of each saved output, by name.
        seconds: wall time of the pipeline.
        error: the error that ended the run, or None.
        parent: id of the sweep's run.
    """
    client, experiment_id = open_store(conf, project)
    import mlflow
    from mlflow.entities import Metric, RunTag

    benchmark, variant = str(parameters.get("benchmark")), str(parameters.get("variant"))
    pipelines = run_params.get("pipeline_names") or [run_params.get("pipeline_name") or "smart"]
    pipeline = ",".join(str(name or "smart") for name in pipelines).replace("__default__", "smart")
    tags = {
        "benchmark": benchmark,
        "variant": variant,
        "pipeline": pipeline,
        # Kedro says a name, a dotted path or `<… object at 0x…>`.
        "runner": ["", *re.findall(r"\w*Runner", str(run_params.get("runner") or ""))][-1],
        "save_version": str(run_params.get("run_id") or run_params.get("session_id") or ""),
        **git_state(project),
    }
    name = f"{pipeline} {benchmark} {variant}"
    if parent is not None:
        tags["mlflow.parentRunId"] = parent
        name += f" seed {parameters.get('seed')}"
    if error is not None:
        tags["error"] = (one_line(error) or f"{type(error).__name__}: {error}")[:5000]
    now = int(time.time() * 1000)
    run = client.create_run(
        experiment_id, start_time=now - int(seconds * 1000), run_name=name, tags=tags
    )
    run_id = str(run.info.run_id)
    left_out = ("ingestion", "models", "ratings")
    _log_parameters(client, run_id, {k: v for k, v in parameters.items() if k not in left_out})
    metrics = {"wall_seconds": float(seconds)}
    for dataset, path in saved.values():
        kind = (getattr(dataset, "metadata", None) or {}).get("mlflow")
        if kind == "metrics":
            metrics |= {
                key: float(value)
                for key, value in dataset.load().items()
                if isinstance(value, (int, float)) and math.isfinite(value)
            }
        if kind in ("artifact", "metrics") and path is not None:
            client.log_artifact(run_id, str(path))
    client.log_batch(
        run_id,
        metrics=[Metric(key, value, now, 0) for key, value in metrics.items()],
        tags=[
            RunTag("mlflow.source.name", f"kedro run --pipeline {pipeline}"),
            RunTag("mlflow.version", mlflow.__version__),
        ],
    )
    client.set_terminated(run_id, status="FAILED" if error is not None else "FINISHED")
    return run_id


def start_sweep(
    conf: Mapping[str, Any],
    project: Path,
    pipeline: str,
    combinations: int,
    options: Mapping[str, Any],
) -> str:
    """Start the parent MLflow run of a sweep, with `options` as parameters, and return its id."""
    client, experiment_id = open_store(conf, project)
    run = client.create_run(
        experiment_id,
        run_name=f"sweep {pipeline}",
        tags={"pipeline": pipeline, "combinations": str(combinations), **git_state(project)},
    )
    run_id = str(run.info.run_id)
    given = {name: value for name, value in options.items() if value not in (None, "", {}, [])}
    _log_parameters(client, run_id, given)
    return run_id


def _log_parameters(client: Any, run_id: str, parameters: Mapping[str, Any]) -> None:
    from mlflow.entities import Param

    flat = flatten(parameters) if parameters else {}
    known = [Param(key, text) for key, text in flat.items() if text != ""]
    client.log_batch(run_id, params=known[:1000])


def finish_sweep(
    conf: Mapping[str, Any],
    project: Path,
    run_id: str,
    summary: "pd.DataFrame",
    files: Iterable[Path],
    status: str,
) -> None:
    """End the run `run_id` of a sweep, with its summary as a table and `files` as artefacts.

    `status` is FINISHED, FAILED or KILLED.
    """
    client, _ = open_store(conf, project)
    for path in files:
        client.log_artifact(run_id, str(path))
    if len(summary):
        # MLflow warns about text columns of another type than object.
        client.log_table(run_id, summary.astype(object), "summary.json")
    for state in ("done", "failed"):
        client.set_tag(run_id, state, str(int((summary["status"] == state).sum())))
    client.set_terminated(run_id, status=status)


def recorded_parameters(
    conf: Mapping[str, Any], project: Path, version: str
) -> dict[str, str] | None:
    """Return the parameters of the run that saved `version`, or None if there is no such run.

    This does not create a missing database.
    """
    uri = tracking_uri(str(conf["tracking_uri"]), project)
    if uri.startswith(SQLITE) and not Path(uri.removeprefix(SQLITE)).exists():
        return None
    client, experiment_id = open_store(conf, project)
    condition = "tags.save_version = '{}'".format(version.replace("'", ""))
    runs = client.search_runs([experiment_id], filter_string=condition, max_results=1)
    return dict(runs[0].data.params) if runs else None


def metric_name(text: str) -> str:
    """Replace characters that MLflow does not allow in names by `_`."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text)
