"""Record each Kedro run as an MLflow run with parameters, metrics, artefacts and Git state.

The main process records the run when it ends, which works with every runner. In the catalog,
`metadata: {mlflow: artifact}` logs a file, and `metadata: {mlflow: [share_removed, …]}` a dataset
of metrics: those that the list names (`*` matches anything) as metrics, all of them as a table.
"""

import json
import logging
import math
import os
import platform
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from numbers import Real
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from benchwright.core.errors import one_line

logger = logging.getLogger(__name__)

SQLITE = "sqlite:///"
VIEW = "benchwright"  # name of the saved view
LOCK_SECONDS = 120  # the longest wait for another process that creates the database
SILENT_SECONDS = 5
DECIMALS = 4  # of metrics, which MLflow shows in full; `metrics.json` has all digits
PARAMETER_LENGTH = 6000  # MLflow's limit on the length of a parameter's value


@dataclass
class SweepMember:
    """One run of a sweep: its MLflow parent run, if any, and its results."""

    parent: str | None = None
    version: str = ""
    metrics: dict[str, float] = field(default_factory=dict)
    main: list[str] = field(default_factory=list)  # the metrics that the catalog lists
    report: Path | None = None


sweep_member: ContextVar[SweepMember | None] = ContextVar("sweep_member", default=None)
"""The current run of a sweep; None outside a sweep."""


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
    text = json.dumps(values) if isinstance(values, (list, tuple, dict)) else str(values)
    return {prefix: text}


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
    if uri := os.environ.get("MLFLOW_TRACKING_URI"):
        return uri
    database = configured.removeprefix(SQLITE)
    return configured if database == configured else _sqlite_uri(project / database)


def _sqlite_uri(database: Path) -> str:
    """Return the URI of a database; `%` and `?` mean something else in a URI.

    MLflow creates the folder of the quoted path too, so the path is a relative one then.
    """
    path = str(database)
    return SQLITE + (quote(os.path.relpath(path)) if set(path) & set("%?") else path)


def _database(uri: str) -> Path | None:
    """Return the path of a SQLite database, None for other stores."""
    return Path(unquote(uri.removeprefix(SQLITE))) if uri.startswith(SQLITE) else None


def open_store(conf: Mapping[str, Any], project: Path) -> tuple[Any, str]:
    """Return MLflow's client and the id of the experiment, which is created if it is missing.

    Artefacts of a SQLite store are saved in `mlruns` next to it, also after the database was moved.
    The experiment gets the saved view `benchwright` with `view` of conf as its state.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")  # 7 take four minutes
    from mlflow.tracking import MlflowClient

    uri = tracking_uri(str(conf["tracking_uri"]), project)
    database = _database(uri)
    folder = database.absolute().parent if database else project
    # Opening the store creates the database tables; two concurrent first runs would collide.
    with _locked(folder / ".mlflow.lock"):
        client, name = MlflowClient(tracking_uri=uri), str(conf["experiment"])
        place = (folder / "mlruns").as_uri() if database else None
        state = {"name": VIEW, "createdAt": 0, "state": json.dumps(conf.get("view", {}))}
        view = {f"mlflow.sharedViewState.{VIEW}": json.dumps(state)}
        if experiment := client.get_experiment_by_name(name):
            if not view.items() <= experiment.tags.items():  # of an earlier version
                client.set_experiment_tag(experiment.experiment_id, *next(iter(view.items())))
            old = str(experiment.artifact_location)
            if database and place and old != place and re.match("file:.*/mlruns$", old):
                _move_artifacts(database, old, place)
            return client, str(experiment.experiment_id)
        tags = view | {"mlflow.experimentKind": "custom_model_development"}
        return client, str(client.create_experiment(name, place, tags))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock; say which process has it if that takes more than a few seconds."""
    from filelock import FileLock, Timeout

    lock = FileLock(str(path))
    try:
        lock.acquire(timeout=SILENT_SECONDS)
    except Timeout:
        holder, longest = _holder(path), max(0, LOCK_SECONDS - SILENT_SECONDS)
        # Logging is off meanwhile (`one_warning`).
        sys.stderr.write(f"waiting up to {longest:.0f} s for {path}, which {holder} holds\n")
        lock.acquire(timeout=longest)
    try:
        if type(lock) is FileLock:  # what replaces it where files cannot be locked says this itself
            with suppress(OSError):  # on Windows nobody can write a locked file
                path.write_text(f"{os.getpid()}\n{platform.node()}\n")
        yield
    finally:
        lock.release()


def _holder(path: Path) -> str:
    """Return the process that holds a lock, where its file or the system says so."""
    with suppress(OSError, ValueError):
        pid, host = path.read_text().split()[:2]
        if host != platform.node():
            return f"process {pid} on host {host}"
    try:
        inode, locks = f":{path.stat().st_ino}", Path("/proc/locks").read_text().splitlines()
        pid = next(line.split()[4] for line in locks if line.split()[5].endswith(inode))
        status = Path(f"/proc/{pid}/status").read_text()
    except (OSError, StopIteration, IndexError):
        return "another process"
    return f"process {pid}" + (" (stopped: kill -CONT continues it)" if "\tT (" in status else "")


def _move_artifacts(database: Path, old: str, new: str) -> None:
    """Let the artefacts of an experiment and its runs be in another folder.

    MLflow saves absolute places and cannot change them.
    """
    with closing(sqlite3.connect(database)) as connection, connection:
        for table, column in (("experiments", "artifact_location"), ("runs", "artifact_uri")):
            connection.execute(
                f"UPDATE {table} SET {column} = ? || substr({column}, ?) "  # noqa: S608
                f"WHERE {column} = ? OR substr({column}, 1, ?) = ?",
                (new, len(old) + 1, old, len(old) + 1, f"{old}/"),
            )


def view_address(conf: Mapping[str, Any], project: Path) -> str:
    """Return the address of the saved view of the runs in `mlflow ui`."""
    _, experiment_id = open_store(conf, project)
    runs = f"#/experiments/{experiment_id}/runs"
    return f"http://127.0.0.1:5000/{runs}?viewStateShareKey={VIEW}"


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
    saved: Mapping[str, tuple[Any, Path | None]],
    headline: str,
    seconds: float,
    error: Exception | None,
) -> str:
    """Write one MLflow run, a child of the current sweep's if there is one, and return its id.

    Args:
        conf: `tracking_uri`, `experiment`, `view`.
        project: the project folder.
        parameters: those that the run read, with benchmark, variant and seed; nested ones are
            flattened.
        run_params: Kedro's description of the run (pipeline, runner, version …).
        saved: dataset and local file of each saved output, by name.
        headline: the run's result in a sentence or two.
        seconds: wall time of the pipeline.
        error: the error that ended the run, or None.
    """
    client, experiment_id = open_store(conf, project)
    import pandas as pd
    from mlflow.entities import Metric

    of_run = {name: str(parameters.get(name)) for name in ("benchmark", "variant", "seed")}
    if parameters.get("limit") is not None:
        of_run["limit"] = str(parameters["limit"])
    pipelines = run_params.get("pipeline_names") or [run_params.get("pipeline_name") or "smart"]
    pipeline = ",".join(str(name or "smart") for name in pipelines).replace("__default__", "smart")
    version = str(run_params.get("run_id") or run_params.get("session_id") or "")
    tags = {
        **of_run,
        "pipeline": pipeline,
        # Kedro says a name, a dotted path or `<… object at 0x…>`.
        "runner": ["", *re.findall(r"\w*Runner", str(run_params.get("runner") or ""))][-1],
        "save_version": version,
        "mlflow.source.name": f"kedro run --pipeline {pipeline}",
        "mlflow.note.content": headline,
        "mlflow.source.git.commit": git_commit(project),
    }
    if (member := sweep_member.get()) and member.parent:
        tags["mlflow.parentRunId"] = member.parent
    if error is not None:
        tags["error"] = (one_line(error) or f"{type(error).__name__}: {error}")[:5000]
        tags["mlflow.note.content"] = f"Failed: {tags['error']}"
    now = int(time.time() * 1000)
    run = client.create_run(
        experiment_id,
        start_time=now - int(seconds * 1000),
        run_name=" ".join([pipeline, of_run["benchmark"], of_run["variant"], version]),
        tags=tags,
    )
    run_id = str(run.info.run_id)
    _log_parameters(client, run_id, parameters)
    # Metrics and status first: where artefacts cannot be written, they are there.
    for dataset, _ in saved.values():
        if isinstance(patterns := logged(dataset), list):
            metrics = dataset.load()
            figures = {
                key: round(float(metrics[key]), DECIMALS) for key in main_metrics(metrics, patterns)
            }
            client.log_batch(run_id, metrics=[Metric(*each, now, 0) for each in figures.items()])
    client.set_terminated(run_id, status="FAILED" if error is not None else "FINISHED")
    for name, (dataset, path) in saved.items():
        logged_as = logged(dataset)
        if isinstance(logged_as, list):
            table = pd.DataFrame(dataset.load().items(), columns=["metric", "value"])
            # MLflow warns about text columns of another type than object.
            client.log_table(run_id, table.astype(object), f"{name}.json")
        elif logged_as == "artifact" and path is not None:
            client.log_artifact(run_id, str(path))
    return run_id


def start_sweep(
    conf: Mapping[str, Any], project: Path, name: str, options: Mapping[str, Any]
) -> str:
    """Start the parent MLflow run of a sweep, with `options` as parameters, and return its id."""
    client, experiment_id = open_store(conf, project)
    tags = {"mlflow.source.git.commit": git_commit(project)}
    run_id = str(client.create_run(experiment_id, run_name=name, tags=tags).info.run_id)
    _log_parameters(client, run_id, {key: value for key, value in options.items() if value})
    return run_id


def _log_parameters(client: Any, run_id: str, parameters: Mapping[str, Any]) -> None:
    from mlflow.entities import Param

    flat = flatten(parameters).items()
    known = [Param(key, text[:PARAMETER_LENGTH]) for key, text in flat if key and text]
    client.log_batch(run_id, params=known[:1000])


def finish_sweep(
    conf: Mapping[str, Any],
    project: Path,
    run_id: str,
    means: Mapping[str, float],
    description: str,
    folder: Path,
    status: str,
) -> None:
    """End the run `run_id` of a sweep, with the files in `folder` and `means` over its runs.

    `description` is Markdown. `status` is FINISHED, FAILED or KILLED.
    """
    client, _ = open_store(conf, project)
    client.set_tag(run_id, "mlflow.note.content", description)
    for name, mean in means.items():
        client.log_metric(run_id, name, round(mean, DECIMALS))
    client.set_terminated(run_id, status=status)
    client.log_artifacts(run_id, str(folder))


def known_metrics(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the finite numbers; `_` replaces characters that MLflow does not allow in names."""
    return {
        re.sub(r"[^A-Za-z0-9_.-]", "_", name): float(value)
        for name, value in values.items()
        if isinstance(value, Real) and math.isfinite(value)
    }
