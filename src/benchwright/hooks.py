"""Kedro hooks: reject unknown parameters, record the run in MLflow, print where the results are."""

import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.pipeline import Pipeline

from benchwright.core.atomic_files import clear_abandoned
from benchwright.core.errors import InputError
from benchwright.core.kedro_internals import folder_of_versions, loaded_from, read_own_version
from benchwright.methods.mmlu_cf.sealing.key import read_key
from benchwright.params.mmlu_cf import SealingParams
from benchwright.params.run import check_run_values
from benchwright.project_conf import CONFIG_LOADER_ARGS
from benchwright.tracking import record_run, sweep_member, tracking_is_on

logger = logging.getLogger(__name__)

SEALING = "params:sealing"
HIDDEN = {"benchmarks", "variants", "_benchmarks", "_variants"}


def unknown_parameters(given: Mapping[str, Any], declared: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the keys of `--params`, in one line, or None.

    Kedro silently accepts any key: `--params benchmrk=arc` would run the default benchmark.
    """
    names = sorted(key for key in declared if key not in HIDDEN)
    for key in given:
        if key in HIDDEN:
            return (
                f"--params {key}.… has no effect: benchmark and variant are chosen first; "
                "override the chosen section instead, e.g. filtering.easy.confidence=0.9"
            )
        if key not in declared:
            return f"--params {key}=… is not a parameter; there are {', '.join(names)}"
    return None


class StrictParametersHook:
    """Rejects `--params` keys that conf does not declare, and invalid values."""

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        loader = context.config_loader
        given = loader.runtime_params or {}
        if not given:
            return
        check_run_values(given)
        declared = type(loader)(
            conf_source=loader.conf_source,
            env=context.env,
            runtime_params={
                key: given[key] for key in ("benchmark", "variant") if given.get(key) is not None
            },
            **CONFIG_LOADER_ARGS,
        )["parameters"]
        problem = unknown_parameters(given, declared)
        if problem:
            raise InputError(problem)


def local_path(dataset: Any) -> Path | None:
    """Return the existing local file or folder of a dataset, or None."""
    folder = getattr(dataset, "folder", None)
    path = folder if isinstance(folder, Path) else loaded_from(dataset)
    return path if path is not None and path.exists() else None


class SealKeyHook:
    """Stops a run that seals a closed half if the key is missing, before anything is read."""

    @hook_impl
    def before_pipeline_run(self, pipeline: Pipeline, catalog: Any) -> None:
        if SEALING in pipeline.inputs():
            read_key(SealingParams.model_validate(catalog.load(SEALING)))


class OwnVersionsHook:
    """Makes a run load what it saved itself, and removes the leftovers of killed runs.

    Kedro loads the newest version, which may be of a concurrent run with other settings.
    """

    @hook_impl
    def before_pipeline_run(
        self, run_params: dict[str, Any], pipeline: Pipeline, catalog: Any
    ) -> None:
        saved = [catalog.get(name) for name in sorted(pipeline.all_outputs())]
        for dataset in saved:
            clear_versions(dataset)
            if not run_params.get("only_missing_outputs"):  # these may be of an earlier run
                read_own_version(dataset)


def clear_versions(dataset: Any) -> None:
    """Remove the leftovers of killed runs in the version folders of a dataset."""
    folder = folder_of_versions(dataset)
    for version in folder.iterdir() if folder is not None and folder.is_dir() else ():
        with suppress(OSError):  # a file; or a folder with more in it, which stays
            clear_abandoned(list(version.iterdir()))
            version.rmdir()


class RunHook:
    """Records each run in MLflow, from the main process, and prints where its results are."""

    def __init__(self) -> None:
        self._context: KedroContext | None = None
        self._started = 0.0

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        self._context = context

    @hook_impl
    def before_pipeline_run(self) -> None:
        self._started = time.monotonic()

    @hook_impl
    def after_pipeline_run(
        self, run_params: dict[str, Any], pipeline: Pipeline, catalog: Any
    ) -> None:
        run_id = self._record(run_params, pipeline, catalog, None)
        if (member := sweep_member.get()) is None:
            _say_where(pipeline, catalog, run_id)
            return
        saved = pipeline.all_outputs()
        if "metrics" in saved:
            member.metrics = dict(catalog.get("metrics").load())
        if "report" in saved:
            member.report = local_path(catalog.get("report"))

    @hook_impl
    def on_pipeline_error(
        self, error: Exception, run_params: dict[str, Any], pipeline: Pipeline, catalog: Any
    ) -> None:
        self._record(run_params, pipeline, catalog, error)

    def _record(
        self, run_params: dict[str, Any], pipeline: Pipeline, catalog: Any, error: Exception | None
    ) -> str | None:
        if self._context is None:
            return None
        conf = self._context.config_loader["mlflow"]
        if not tracking_is_on(conf):
            return None
        member = sweep_member.get()
        try:
            return record_run(
                conf=conf,
                project=Path(self._context.project_path),
                parameters={k: v for k, v in self._context.params.items() if k not in HIDDEN},
                run_params=run_params,
                saved={
                    name: (dataset, local_path(dataset))
                    for name in sorted(pipeline.all_outputs())
                    if (dataset := catalog.get(name)) is not None and error is None
                },
                seconds=time.monotonic() - self._started,
                error=error,
                parent=member.parent if member is not None else None,
            )
        except Exception:
            # The results are on disk; an unreachable tracking server must not fail the run.
            logger.exception("this run could not be recorded in MLflow; its results are saved")
            return None


PLACES = {
    "report": "report",
    "report of copies": "comparison_report",
    "report of samplers": "sampling_report",
    "chosen subset": "chosen_subset",
    "card": "sba_card",
    "gap of the halves": "half_gap_report",
    "memorisation": "memorisation_report",
    "tasks of the copies": "harness_perturbed_tasks",
    "sealed benchmark": "sealed_benchmark",
    "open benchmark": "open_benchmark",
    "kept items": "kept_items",
    "audit of every item": "item_audit",
    "tasks for lm-eval": "harness_tasks",
}
"""Datasets whose paths a run prints, by title."""


def _say_where(pipeline: Pipeline, catalog: Any, run_id: str | None) -> None:
    lines = []
    for title, name in PLACES.items():
        if name in pipeline.all_outputs() and (path := local_path(catalog.get(name))):
            shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
            lines.append(f"{title + ':':<21}{shown}")
    if run_id:
        lines.append(f"{'MLflow run:':<21}{run_id}  (make mlflow)")
    if lines:
        click.echo("\n" + "\n".join(lines))  # in UTF-8 where the terminal knows ASCII alone
