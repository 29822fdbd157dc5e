"""Kedro hooks: reject wrong parameters, pin versions, record the run, print its results."""

import ctypes
import json
import logging
import os
import shutil
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import Any

from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.pipeline import Pipeline

from benchwright.core.atomic_files import clear_abandoned, written_aside
from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError, expected
from benchwright.core.kedro_internals import folder_of_versions, loaded_from, read_version
from benchwright.core.progress import say, stage_log
from benchwright.core.values import escape_controls
from benchwright.methods.mmlu_cf.sealing.key import read_key
from benchwright.params.mmlu_cf import SealingParams
from benchwright.params.perturbation import PerturbationParams, require_one_copy
from benchwright.params.run import RUN_VALUES, check_run_values, unknown_parameters
from benchwright.reports.page.quote import quote_page
from benchwright.runs.project_conf import CONFIG_LOADER_ARGS
from benchwright.runs.run_records import (
    PARAMS,
    RunRecord,
    joined_settings,
    read_record,
    sections_behind,
    unfinished_mark,
    write_record,
)
from benchwright.runs.saved_runs import common_version, saved_versions
from benchwright.runs.tracking import (
    flatten,
    logged,
    one_warning,
    record_run,
    sweep_parent,
    tracking_is_on,
)

logger = logging.getLogger(__name__)

_NAMING = {
    **dict.fromkeys(("configurations", "answering", "judges", "judge"), "models"),
    **dict.fromkeys(("encoder", "encoders", "compare"), "encoders"),
}  # settings that name models or encoders
_WIDTH = 100  # of the text at the end of a run


class CheckHook:
    """Stops a run with a wrong parameter, or without the key to seal, before any data is read."""

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        loader = context.config_loader
        given = loader.runtime_params or {}
        check_run_values(given)
        if given.keys() <= RUN_VALUES:
            return  # the names are known, so the parameters need not be resolved here
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

    @hook_impl
    def before_pipeline_run(self, pipeline: Pipeline, catalog: Any) -> None:
        names = sorted(name for name in pipeline.inputs() if name.startswith(PARAMS))
        sections = {name.removeprefix(PARAMS): catalog.load(name) for name in names}
        if "models" in sections and (problem := unknown_model(sections)):
            raise InputError(problem)
        if "sealing" in sections:
            read_key(SealingParams.model_validate(sections["sealing"]))
            require_one_copy(PerturbationParams.model_validate(sections.get("perturbation", {})))


def unknown_model(sections: Mapping[str, Any]) -> str | None:
    """Return an error message for the first model or encoder that is not under `models`."""
    for setting, value in flatten(sections).items():
        kind = _NAMING.get(setting.rpartition(".")[2])
        if kind is None or setting.startswith("models.") or value == "None":
            continue
        known = dict(sections["models"])[kind]
        for name in json.loads(value) if value.startswith("[") else [value]:
            model = parse_configuration(name).model
            if model not in known:
                return f"{setting}: unknown {kind[:-1]} {model!r}; {expected(model, known)}"
    return None


class MemoryHook:
    """Gives freed memory back to the system: else a million items take more than 4 GB."""

    @hook_impl
    def before_dataset_loaded(self) -> None:
        import pyarrow as pa

        pa.default_memory_pool().release_unused()
        if os.name == "posix" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
            trim(0)  # glibc keeps what small objects have used


STAGES = ("namespaces", "node_names", "from_nodes", "to_nodes", "from_inputs", "to_outputs", "tags")
"""Options of `kedro run` that run a part of a pipeline."""


class _OfContext:
    """A hook that uses the context of the run."""

    _context: KedroContext

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        self._context = context


class VersionsHook(_OfContext):
    """Lets a run read what it writes, and only what was made with its own settings.

    Kedro loads the newest version of each dataset, which a concurrent run may have saved. A run
    loads its own outputs, and its other inputs from one earlier run. Parts of a pipeline, and runs
    of missing outputs, read the newest versions, which must have been made with its settings.
    """

    @hook_impl(trylast=True)  # a run that other hooks stop leaves no record
    def before_pipeline_run(
        self, run_params: dict[str, Any], pipeline: Pipeline, catalog: Any
    ) -> None:
        params = self._context.params
        root = Path(self._context.project_path) / str(params["data_root"])
        names = sorted(pipeline.datasets())
        folders = {name: at for name in names if (at := folder_of_versions(catalog.get(name)))}
        missing = bool(run_params.get("only_missing_outputs"))
        inputs = input_versions(run_params, pipeline, folders)
        made = newest_versions(pipeline.all_outputs() & folders.keys(), folders) if missing else {}
        records = {
            name: (version, record)
            for name, version in sorted((inputs | made).items())
            if (record := read_record(root, version))
        }
        settings = flatten(parameters_read(params, pipeline, catalog, _NOT_OF_RESULTS))
        part = missing or any(map(run_params.get, STAGES))  # else it may have settings of its own
        behind, problem = joined_settings(records, settings if part else {})
        for name in sorted(made.keys() - records.keys()):
            problem = problem or f"the settings of {name} of the run {made[name]} are not recorded"
        if problem:
            advice = "run without --only-missing-outputs" if missing else "run all stages"
            raise InputError(f"{problem}; {advice}, or use settings and versions of one run")

        read = {name: record.made_from.get(name, ()) for name, (_, record) in records.items()}
        sections = sections_behind(pipeline.nodes, read)
        saved = {
            name: sorted(sections[name]) for name in names if name in sections.keys() & folders
        }
        write_record(root, str(run_params["run_id"]), RunRecord(behind | settings, saved))
        for name in sorted(pipeline.all_outputs()):
            clear_versions(catalog.get(name))
            if name not in made:
                read_version(catalog.get(name))
        for name, version in inputs.items():
            read_version(catalog.get(name), version)
        _log_versions(inputs, inputs.keys() - records.keys())


def input_versions(
    run_params: Mapping[str, Any], pipeline: Pipeline, folders: Mapping[str, Path]
) -> dict[str, str]:
    """Return the versions of the inputs that a run reads: one run's, those of a part the newest.

    `folders` are those of the datasets that are saved with versions.

    Raises:
        InputError: `--load-versions` names a dataset that the run makes or does not read, or a
            version that is not saved.
    """
    pinned = dict(run_params.get("load_versions") or {})
    for name, version in sorted(pinned.items()):
        if name in pipeline.all_outputs():
            raise InputError(
                f"--load-versions {name}: this run makes {name} itself; leave it out, or run only "
                "the stages that use it (--from-nodes or --namespaces)"
            )
        files = saved_versions(folders[name]) if name in folders else []
        saved = [file.parent.name for file in files]
        if version not in saved:
            raise InputError(f"--load-versions {name}:{version}: {expected(version, saved)}")
    others = pipeline.inputs() & folders.keys() - pinned.keys()
    found = newest_versions(others, folders)
    if not any(map(run_params.get, STAGES)):
        common = common_version(folders[name] for name in others)
        found = dict.fromkeys(found, common) if common else found
    return dict(sorted((found | pinned).items()))


def newest_versions(names: Collection[str], folders: Mapping[str, Path]) -> dict[str, str]:
    """Return the newest saved version of each of these datasets that has one."""
    return {name: it for name in sorted(names) if (it := common_version([folders[name]]))}


def _log_versions(inputs: Mapping[str, str], unknown: Collection[str]) -> None:
    if len(set(inputs.values())) == 1:
        logger.info("reads %s of the run %s", ", ".join(inputs), *set(inputs.values()))
    elif inputs:
        versions = ", ".join(f"{name} ({version})" for name, version in inputs.items())
        level = logging.WARNING if unknown & inputs.keys() else logging.INFO
        logger.log(level, "reads datasets of different runs: %s", versions)


def clear_versions(dataset: Any) -> None:
    """Remove temporary files of killed runs from the version folders of a dataset."""
    folder = folder_of_versions(dataset)
    for version in folder.iterdir() if folder is not None and folder.is_dir() else ():
        with suppress(OSError):  # a file, or a folder that is not empty
            clear_abandoned(list(version.iterdir()))
            version.rmdir()


LATEST = "latest"
"""Folder with the newest version of what people open: pages, tables and metrics."""


def copy_to_latest(catalog: Any, names: Iterable[str]) -> dict[str, Path]:
    """Return the file of each dataset that a run has saved.

    Those that MLflow records are copied to `latest/<name>`, next to the folders of versions.
    Failing to do so does not fail the run, whose results are saved.
    """
    files = {}
    for name in sorted(names):
        dataset = catalog.get(name)
        folder = getattr(dataset, "folder", None)
        file = folder if isinstance(folder, Path) else loaded_from(dataset)
        if file is None or not file.exists():
            continue
        files[name] = file
        folder = folder_of_versions(dataset)
        if folder and logged(dataset):
            copy = folder.parent / LATEST / folder.name
            try:
                with written_aside(copy) as aside:
                    shutil.copyfile(file, aside)
                files[name] = copy
            except (InputError, OSError) as error:
                logger.warning("%s is not the newest version: %s", LATEST, error)
    return files


class RunHook(_OfContext):
    """Records each run in MLflow and prints where its results are saved."""

    @hook_impl
    def before_pipeline_run(self, pipeline: Pipeline) -> None:
        self._started = time.monotonic()
        stage_log.start(node.name for node in pipeline.nodes)

    @hook_impl
    def after_pipeline_run(
        self, run_params: dict[str, Any], pipeline: Pipeline, catalog: Any
    ) -> None:
        root = Path(self._context.project_path) / str(self._context.params["data_root"])
        unfinished_mark(root, str(run_params["run_id"])).unlink(missing_ok=True)
        files = copy_to_latest(catalog, pipeline.all_outputs())
        run_id = self._record(run_params, pipeline, catalog, files, None)
        if sweep_parent.get() is None:
            lines, next_step = describe_results(files)
            lines += [f"{'MLflow run:':<25}{run_id}  (mlflow ui)"] if run_id else []
            lines.append(f"{'time:':<25}{time.monotonic() - self._started:,.0f} s")
            lines += ["", *next_step] if next_step else []
            say("\n".join(lines))

    @hook_impl
    def on_pipeline_error(
        self, error: Exception, run_params: dict[str, Any], pipeline: Pipeline, catalog: Any
    ) -> None:
        self._record(run_params, pipeline, catalog, {}, error)

    def _record(
        self,
        run_params: dict[str, Any],
        pipeline: Pipeline,
        catalog: Any,
        files: Mapping[str, Path],
        error: Exception | None,
    ) -> str | None:
        conf = self._context.config_loader["mlflow"]
        if not tracking_is_on(conf):
            return None
        pages = [path for path in files.values() if path.suffix == ".html"]
        quoted = [line for page in pages for line in quote_page(page.read_text("utf-8"))[0]]
        run_id = None
        with one_warning("this run"):
            run_id = record_run(
                conf=conf,
                project=Path(self._context.project_path),
                parameters=parameters_read(self._context.params, pipeline, catalog, _LONG),
                run_params=run_params,
                saved={name: (catalog.get(name), path) for name, path in files.items()},
                headline="\n\n".join(quoted),
                seconds=time.monotonic() - self._started,
                error=error,
            )
        return run_id  # noqa: RET504


_NOT_OF_RESULTS = {"mirror_root", "models"}  # paths, and models that the run may not use
_LONG = {*_NOT_OF_RESULTS, "ingestion", "ratings"}


def parameters_read(
    params: Mapping[str, Any], pipeline: Pipeline, catalog: Any, without: Collection[str]
) -> dict[str, Any]:
    """Return the parameters that the pipeline's nodes read, and benchmark, variant and seed."""
    read = {name for name in pipeline.inputs() if name.startswith(PARAMS)}
    values = {name: params.get(name) for name in ("benchmark", "variant", "seed")}
    values |= {name.removeprefix(PARAMS): catalog.load(name) for name in sorted(read)}
    return {name: value for name, value in values.items() if name not in without}


RESULTS = (
    *("report", "comparison_report", "sampling_report", "construction_report", "half_gap_report"),
    *("judge_report", "memorisation_report", "sba_evaluation", "sba_classifier"),
    *("sealed_benchmark", "open_benchmark"),
    *("kept_items", "removed_items", "rejected_items", "item_audit", "review_sheet"),
    *("perturbed_items", "chosen_subset", "responses", "recorded_answers", "scoring_budget"),
    *("encoder_overlap", "harness_tasks", "harness_perturbed_tasks", "harness_subset"),
    *("hub_kept_items", "hub_perturbed_items", "hub_subset"),
)
"""Datasets whose paths are printed after a run."""


def describe_results(paths: Mapping[str, Path]) -> tuple[list[str], list[str]]:
    """Return what a run prints at its end: what its reports say and the paths, and what is next.

    `paths` are the saved files and folders by dataset.
    """
    from pyarrow.parquet import read_metadata

    saved = {name: paths[name] for name in RESULTS if name in paths}
    if "rejected_items" in saved and not read_metadata(saved["rejected_items"]).num_rows:
        del saved["rejected_items"]
    width = min(get_terminal_size((_WIDTH, 24)).columns, _WIDTH)

    def wrapped(line: str) -> str:
        indent = "  " * line.startswith("- ")
        return fill(escape_controls(line), width, subsequent_indent=indent, break_on_hyphens=False)

    pages = [path for path in saved.values() if path.suffix == ".html"]
    quoted = [quote_page(page.read_text("utf-8")) for page in pages]
    here = f"{Path.cwd()}{os.sep}"
    shown = [
        f"{name.replace('_', ' ') + ':':<25}{str(path).removeprefix(here)}"
        for name, path in saved.items()
    ]
    said = [wrapped(line) for page, _ in quoted for line in ("", *page)]
    return [*said, "", *shown], [wrapped(line) for _, line in quoted if line]
