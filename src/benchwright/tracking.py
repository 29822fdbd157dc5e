"""One Kedro run becomes one MLflow run: parameters, metrics, artefacts, where it came from.

Written from the main process after the run, so that it works under every runner; datasets say what
they are by `metadata: {mlflow: metrics | artifact}` in the catalog.
"""

import json
import math
import os
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchwright.errors import one_line

PARAMETER_LENGTH = 6000  # MLflow's limit on the length of a parameter's value


def flatten(values: Any, prefix: str = "") -> dict[str, str]:
    """Nested parameters as dotted names: `filtering.easy.confidence`. Lists become JSON."""
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
    """Commit and whether the tree differs from it; empty outside a checkout."""

    def git(*words: str) -> str:
        return subprocess.run(  # noqa: S603
            ["git", "-C", str(project), *words],  # noqa: S607
            capture_output=True,
            text=True,
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


def _runner_name(runner: Any) -> str:
    """`ThreadRunner`, from what Kedro says: a name, a dotted path or `<… object at 0x…>`."""
    found = re.findall(r"\w*Runner", str(runner or ""))
    return found[-1] if found else ""


def tracking_uri(configured: str, project: Path) -> str:
    """MLFLOW_TRACKING_URI if set; a relative SQLite path is taken from the project's folder."""
    if uri := os.environ.get("MLFLOW_TRACKING_URI"):
        return uri
    prefix = "sqlite:///"
    if configured.startswith(prefix) and not configured.startswith(prefix + "/"):
        return prefix + str(project / configured.removeprefix(prefix))
    return configured


def record_run(
    conf: Mapping[str, Any],
    project: Path,
    parameters: Mapping[str, Any],
    run_params: Mapping[str, Any],
    saved: Mapping[str, tuple[Any, Path | None]],
    seconds: float,
    error: Exception | None,
) -> str:
    """Write one MLflow run and return its id.

    Args:
        conf: `tracking_uri`, `experiment`.
        project: the project's folder.
        parameters: resolved parameters; nested ones are flattened.
        run_params: what Kedro says of the run (pipeline, runner, version …).
        saved: dataset and local file of each saved output, by name.
        seconds: wall time of the pipeline.
        error: what ended the run, or None.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    import mlflow
    from filelock import FileLock
    from mlflow.entities import Metric, Param, RunTag
    from mlflow.tracking import MlflowClient

    uri = tracking_uri(str(conf["tracking_uri"]), project)
    # Opening the store creates the database's tables: of two first runs at once, one would fail.
    with FileLock(str(project / ".mlflow.lock")):
        client = MlflowClient(tracking_uri=uri)
        experiment = client.get_experiment_by_name(str(conf["experiment"]))
        experiment_id = (
            experiment.experiment_id
            if experiment
            else client.create_experiment(
                str(conf["experiment"]),
                artifact_location=(project / "mlruns").as_uri()
                if uri.startswith("sqlite")
                else None,
            )
        )
    benchmark, variant = str(parameters.get("benchmark")), str(parameters.get("variant"))
    pipelines = run_params.get("pipeline_names") or [run_params.get("pipeline_name") or "smart"]
    pipeline = ",".join(str(name or "smart") for name in pipelines).replace("__default__", "smart")
    tags = {
        "benchmark": benchmark,
        "variant": variant,
        "pipeline": pipeline,
        "runner": _runner_name(run_params.get("runner")),
        "save_version": str(run_params.get("run_id") or run_params.get("session_id") or ""),
        **git_state(project),
    }
    if error is not None:
        tags["error"] = (one_line(error) or f"{type(error).__name__}: {error}")[:5000]
    now = int(time.time() * 1000)
    run = client.create_run(
        experiment_id,
        start_time=now - int(seconds * 1000),
        run_name=f"{pipeline} {benchmark} {variant}",
        tags=tags,
    )
    run_id = str(run.info.run_id)
    flat = flatten(
        {k: v for k, v in parameters.items() if k not in ("ingestion", "models", "ratings")}
    )
    client.log_batch(
        run_id, params=[Param(key, value) for key, value in flat.items() if value != ""][:1000]
    )
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
