"""Record each Kedro run as an MLflow run with parameters, metrics, artefacts and Git state.

The main process records the run when it ends, which works with every runner. In the catalog,
`metadata: {mlflow: artifact}` logs a file, and `metadata: {mlflow: [share_removed, …]}` a file of
metrics: those that the list names (`*` matches anything) as metrics too.

The plugin kedro-mlflow is not used: Kedro imports an installed plugin, and with it MLflow, in every
command (5 seconds), and it asks the server before a run, so that a hung one would stop the run.
"""

import json
import logging
import math
import os
import re
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase
from numbers import Real
from pathlib import Path
from typing import Any

from benchwright.core.errors import one_line

logger = logging.getLogger(__name__)

_SQLITE = "sqlite:///"
_VIEW = "benchwright"  # name of the saved view
_DECIMALS = 4  # of metrics, which MLflow shows in full; `metrics.json` has all digits
_PARAMETER_LENGTH = 6000  # MLflow's limit on the length of a parameter's value
_SERVER = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "7",  # a hung server costs two of these
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
}

sweep_parent: ContextVar[str | None] = ContextVar("sweep_parent", default=None)
"""The MLflow run of the current sweep, "" if it has none; None outside a sweep."""


@contextmanager
def one_warning(what: str) -> Iterator[None]:
    """Log an error of the block, and whatever MLflow logs about it, as one warning about `what`."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    problem = ""
    try:
        yield
    except Exception as error:
        problem = next(iter(str(error).splitlines()), "") or type(error).__name__
    finally:
        logging.disable(disabled)
    if problem:
        logger.warning("MLflow did not record %s: %s", what, problem)


def tracking_is_on(conf: Mapping[str, Any]) -> bool:
    """Return `enabled` of conf, unless the variable BENCHWRIGHT_MLFLOW is `off`."""
    return bool(conf["enabled"]) and os.environ.get("BENCHWRIGHT_MLFLOW", "on") != "off"


def flatten(values: Any, prefix: str = "") -> dict[str, str]:
    """Flatten nested parameters to dotted names (`filtering.easy.confidence`), lists to JSON."""
    if hasattr(values, "model_dump"):
        values = values.model_dump(mode="json")
    if isinstance(values, Mapping) and values:
        start = f"{prefix}." if prefix else ""
        parts = (flatten(value, f"{start}{key}") for key, value in values.items())
        return {name: text for part in parts for name, text in part.items()}
    return {prefix: json.dumps(values) if isinstance(values, list | tuple | dict) else str(values)}


def git_commit(project: Path) -> str:
    """Return the commit, `…-dirty` if tracked files have changed; empty outside a checkout."""
    command = "git describe --always --abbrev=40 --exclude=* --dirty"
    try:
        return subprocess.check_output(  # noqa: S603
            command.split(), cwd=project, stderr=subprocess.DEVNULL, text=True, timeout=10
        ).strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def tracking_uri(configured: str, project: Path) -> str:
    """Return MLFLOW_TRACKING_URI, else the configured URI; SQLite paths are below the project."""
    database = configured.removeprefix(_SQLITE)
    default = configured if database == configured else f"{_SQLITE}{project / database}"
    return os.environ.get("MLFLOW_TRACKING_URI") or default


def open_store(conf: Mapping[str, Any], project: Path) -> tuple[Any, str]:
    """Return MLflow's client and the id of the experiment, which is created if it is missing.

    Artefacts of a SQLite store are saved in `mlruns` next to it. A new experiment gets the saved
    view `benchwright` with `view` of conf as its state.
    """
    for name, value in _SERVER.items():
        os.environ.setdefault(name, value)
    from filelock import FileLock
    from mlflow.tracking import MlflowClient

    uri = tracking_uri(str(conf["tracking_uri"]), project)
    database = Path(uri.removeprefix(_SQLITE)) if uri.startswith(_SQLITE) else None
    folder = database.absolute().parent if database else project
    # Opening a new store creates its tables; two concurrent first runs would collide.
    with FileLock(str(folder / ".mlflow.lock"), timeout=20):
        client, name = MlflowClient(tracking_uri=uri), str(conf["experiment"])
        experiment = client.get_experiment_by_name(name)
        if experiment is not None:
            return client, str(experiment.experiment_id)
        state = {"name": _VIEW, "createdAt": 0, "state": json.dumps(conf.get("view", {}))}
        tags = {f"mlflow.sharedViewState.{_VIEW}": json.dumps(state)}
        tags["mlflow.experimentKind"] = "custom_model_development"
        place = (folder / "mlruns").as_uri() if database else None
        return client, str(client.create_experiment(name, place, tags))


def logged(dataset: Any) -> list[str] | str | None:
    """Return how the catalog logs a dataset: `artifact`, names of metrics, or None."""
    return (getattr(dataset, "metadata", None) or {}).get("mlflow")


def main_metrics(metrics: Iterable[str], patterns: Sequence[str]) -> list[str]:
    """Return the names of metrics that match one of the patterns, in the order of the patterns."""
    names = list(metrics)
    return list(dict.fromkeys(n for like in patterns for n in names if fnmatchcase(n, like)))


def record_run(
    conf: Mapping[str, Any],
    project: Path,
    parameters: Mapping[str, Any],
    run_params: Mapping[str, Any],
    saved: Mapping[str, tuple[Any, Path]],
    headline: str,
    seconds: float,
    error: Exception | None,
) -> str:
    """Write one MLflow run, a child of the current sweep's if there is one, and return its id.

    `parameters` are those that the run read, `run_params` Kedro's description of it, `saved` the
    dataset and file of each output, `headline` the result in words, `seconds` the wall time.
    """
    known = ("benchmark", "variant", "seed", "limit")
    of_run = {name: str(parameters[name]) for name in known if parameters.get(name) is not None}
    pipeline = ",".join(map(str, run_params.get("pipeline_names") or ["smart"]))
    version = str(run_params["run_id"])
    tags = {
        **of_run,
        "pipeline": pipeline,
        "save_version": version,
        "mlflow.source.name": f"kedro run --pipeline {pipeline}",
        "mlflow.note.content": headline,
    }
    if error is not None:
        tags["error"] = (one_line(error) or f"{type(error).__name__}: {error}")[:5000]
        tags["mlflow.note.content"] = f"Failed: {tags['error']}"
    name = " ".join([pipeline, of_run["benchmark"], of_run["variant"], version])
    start = int((time.time() - seconds) * 1000)
    client, run_id = _start(conf, project, name, tags, parameters, start_time=start)
    # Metrics and status first: where artefacts cannot be written, they are there.
    for dataset, _ in saved.values():
        if isinstance(patterns := logged(dataset), list):
            metrics = dataset.load()
            for name in main_metrics(metrics, patterns):
                client.log_metric(run_id, name, round(metrics[name], _DECIMALS))
    client.set_terminated(run_id, status="FAILED" if error is not None else "FINISHED")
    for dataset, path in saved.values():
        if logged(dataset):
            client.log_artifact(run_id, str(path))
    return run_id


def start_sweep(
    conf: Mapping[str, Any], project: Path, name: str, options: Mapping[str, Any]
) -> str:
    """Start the parent MLflow run of a sweep, with `options` as parameters, and return its id.

    `name` ends with the time, by which the saved view sorts it among the runs.
    """
    given = {key: value for key, value in options.items() if value}
    return _start(conf, project, name, {"save_version": name.rpartition(" ")[2]}, given)[1]


def finish_sweep(
    conf: Mapping[str, Any], project: Path, run_id: str, folder: Path, status: str
) -> None:
    """End the run of a sweep (FINISHED, FAILED or KILLED), with the files in `folder`."""
    client, _ = open_store(conf, project)
    client.set_terminated(run_id, status=status)
    client.log_artifacts(run_id, str(folder))


def _start(
    conf: Mapping[str, Any],
    project: Path,
    name: str,
    tags: Mapping[str, str],
    parameters: Mapping[str, Any],
    **times: int,
) -> tuple[Any, str]:
    client, experiment = open_store(conf, project)
    from mlflow.entities import Param

    tags = {**tags, "mlflow.source.git.commit": git_commit(project)}
    if parent := sweep_parent.get():
        tags["mlflow.parentRunId"] = parent
    run_id = str(client.create_run(experiment, run_name=name, tags=tags, **times).info.run_id)
    flat = flatten(parameters).items()
    params = [Param(key, text[:_PARAMETER_LENGTH]) for key, text in flat if key and text]
    client.log_batch(run_id, params=params[:1000])
    return client, run_id


def known_metrics(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the finite numbers; `_` replaces characters that MLflow does not allow in names."""
    return {
        re.sub(r"[^A-Za-z0-9_.-]", "_", name): float(value)
        for name, value in values.items()
        if isinstance(value, Real) and math.isfinite(value)
    }
