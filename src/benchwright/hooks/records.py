"""A hook that records the settings behind what a run saves."""

import logging
from collections.abc import Mapping
from typing import Any

from kedro.framework.hooks import hook_impl
from kedro.pipeline import Pipeline

from benchwright.core.errors import InputError
from benchwright.core.kedro_internals import pinned_version
from benchwright.hooks.run_context import NOT_OF_RESULTS, ContextHook, parameters_read
from benchwright.hooks.versions import STAGES, newest_versions, version_folders
from benchwright.runs.run_records import (
    RunRecord,
    joined_settings,
    read_record,
    sections_behind,
    unfinished_mark,
    write_record,
)
from benchwright.runs.tracking import flatten

logger = logging.getLogger(__name__)


class RecordHook(ContextHook):
    """Records the settings behind what a run saves, those of earlier runs that it reads included.

    A part of a pipeline may read only what was made with its settings.
    """

    @hook_impl
    def before_pipeline_run(
        self, run_params: Mapping[str, Any], pipeline: Pipeline, catalog: Any
    ) -> None:
        run_id = str(run_params["run_id"])
        missing = bool(run_params.get("only_missing_outputs"))
        read = versions_read(pipeline, catalog, run_id)
        records = {}
        for name, version in read.items():
            record = read_record(self.data_root, version)
            if record:
                records[name] = (version, record)
        settings = flatten(parameters_read(self._context.params, pipeline, catalog, NOT_OF_RESULTS))
        part = missing or any(map(run_params.get, STAGES))  # else it may have settings of its own
        behind, problem = joined_settings(records, settings if part else {})
        unknown = sorted(read.keys() - records.keys())
        for name in unknown:
            if name in pipeline.all_outputs() and not problem:
                problem = f"the settings of {name} of the run {read[name]} are not recorded"
        if problem:
            advice = "run without --only-missing-outputs" if missing else "run all stages"
            raise InputError(f"{problem}; {advice}, or use settings and versions of one run")
        sections = sections_behind(
            pipeline.nodes,
            {name: record.made_from.get(name, ()) for name, (_, record) in records.items()},
        )
        saved = {
            name: sorted(sections[name])
            for name in version_folders(pipeline, catalog)
            if name in sections
        }
        write_record(self.data_root, run_id, RunRecord(behind | settings, saved))
        _log_versions({name: read[name] for name in read if name in pipeline.inputs()}, unknown)

    @hook_impl
    def after_pipeline_run(self, run_params: Mapping[str, Any]) -> None:
        unfinished_mark(self.data_root, str(run_params["run_id"])).unlink(missing_ok=True)


def versions_read(pipeline: Pipeline, catalog: Any, run_id: str) -> dict[str, str]:
    """Return the version of each dataset that this run reads from an earlier one."""
    folders = version_folders(pipeline, catalog)
    pinned = {name: pinned_version(catalog.get(name)) for name in folders}
    unpinned = [name for name, version in pinned.items() if version is None]
    read = {name: version for name, version in pinned.items() if version not in (None, run_id)}
    return dict(sorted((read | newest_versions(unpinned, folders)).items()))


def _log_versions(inputs: Mapping[str, str], unknown: list[str]) -> None:
    runs = set(inputs.values())
    if len(runs) == 1:
        logger.info("reads %s of the run %s", ", ".join(inputs), runs.pop())
    elif inputs:
        versions = ", ".join(f"{name} ({version})" for name, version in inputs.items())
        level = logging.WARNING if inputs.keys() & set(unknown) else logging.INFO
        logger.log(level, "reads datasets of different runs: %s", versions)
