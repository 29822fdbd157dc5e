"""Kedro hooks: refuse unknown parameters, record the run in MLflow, say where the results are."""

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
    """What is wrong with the keys of `--params`, in one line, or None.

    Kedro accepts any key silently: `--params benchmrk=arc` would run the default benchmark.
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
    """Rejects `--params` keys that conf does not declare, and values that a run cannot have."""

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
    """The file or folder a dataset was last saved to, or None where it is not a local one."""
    if isinstance(folder := getattr(dataset, "folder", None), Path):
        return folder if folder.exists() else None
    path = loaded_from(dataset)
    return path if path is not None and path.exists() else None


class SealKeyHook:
    """Refuses a run that is to seal a closed half without a key, before anything is read."""

    @hook_impl
    def before_pipeline_run(self, pipeline: Pipeline, catalog: Any) -> None:
        if SEALING in pipeline.inputs():
            read_key(SealingParams.model_validate(catalog.load(SEALING)))


class OwnVersionsHook:
    """Lets a run read back what it saved itself, and clears away what killed runs left aside.

    Kedro reads the newest version that there is, which may be of another run that goes on at the
    same time, perhaps with other settings.
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
    """Remove what killed runs left in the folders of a dataset's versions."""
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
            # The results are on disk; a tracking server that is away must not take them along.
            logger.exception("this run could not be recorded in MLflow; its results are saved")
            return None


PLACES = {
    "report": "report",
    "report of draws": "draw_report",
    "report of samplers": "sampling_report",
    "chosen subset": "chosen_subset",
    "card": "sba_card",
    "gap of the halves": "half_gap_report",
    "memorisation": "memorisation_report",
    "tasks of the draws": "harness_draw_tasks",
    "sealed benchmark": "sealed_benchmark",
    "open benchmark": "open_benchmark",
    "kept items": "kept_items",
    "audit of every item": "item_audit",
    "tasks for lm-eval": "harness_tasks",
}
"""Datasets that a run says the place of, by what they are called."""


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
