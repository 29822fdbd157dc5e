"""A hook that records each run in MLflow."""

import time
from collections.abc import Mapping
from typing import Any

from kedro.framework.hooks import hook_impl
from kedro.pipeline import Pipeline

from benchwright.hooks.results import labelled, print_result, saved_files
from benchwright.hooks.run_context import NOT_OF_RESULTS, ContextHook, parameters_read
from benchwright.reports.verdict import read_verdicts, verdict_lines
from benchwright.runs.tracking import one_warning, record_run, tracking_is_on

_LONG = {*NOT_OF_RESULTS, "ingestion", "ratings"}  # sections that MLflow does not need


class TrackingHook(ContextHook):
    """Records each run in MLflow, from the main process, which works with every runner."""

    @hook_impl
    def before_pipeline_run(self) -> None:
        self._started = time.monotonic()

    @hook_impl
    def after_pipeline_run(
        self, run_params: Mapping[str, Any], pipeline: Pipeline, catalog: Any
    ) -> None:
        self._record(run_params, pipeline, catalog, None)

    @hook_impl
    def on_pipeline_error(
        self, error: Exception, run_params: Mapping[str, Any], pipeline: Pipeline, catalog: Any
    ) -> None:
        self._record(run_params, pipeline, catalog, error)

    def _record(
        self,
        run_params: Mapping[str, Any],
        pipeline: Pipeline,
        catalog: Any,
        error: Exception | None,
    ) -> None:
        conf = self._context.config_loader["mlflow"]
        if not tracking_is_on(conf):
            return
        files = {} if error else saved_files(catalog, pipeline.all_outputs())
        headline: list[str] = []
        for verdict in read_verdicts(files):
            headline += verdict_lines(verdict)
        with one_warning("this run"):
            run_id = record_run(
                conf=conf,
                project=self.project,
                parameters=parameters_read(self._context.params, pipeline, catalog, _LONG),
                run_params=run_params,
                saved={name: (catalog.get(name), path) for name, path in files.items()},
                headline="\n\n".join(headline),
                seconds=time.monotonic() - self._started,
                error=error,
            )
            if error is None:
                print_result([labelled("MLflow run", f"{run_id}  (mlflow ui)")])
