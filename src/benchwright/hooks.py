"""Kedro hooks: reject unknown parameters, record the run in MLflow, print the results' paths."""

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

import click
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.pipeline import Pipeline

from benchwright.core.atomic_files import clear_abandoned, written_aside
from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError, expected
from benchwright.core.kedro_internals import (
    count_as_missing,
    folder_of_versions,
    loaded_from,
    read_version,
    save_version,
)
from benchwright.core.progress import stage_log
from benchwright.methods.mmlu_cf.sealing.key import read_key
from benchwright.params.mmlu_cf import SealingParams
from benchwright.params.run import RUN_VALUES, check_run_values, unknown_parameters
from benchwright.project_conf import CONFIG_LOADER_ARGS
from benchwright.reports.page.quote import quote_page
from benchwright.run_records import (
    PARAMS,
    RunRecord,
    claim_version,
    find_conflict,
    read_record,
    sources,
    write_record,
)
from benchwright.saved_runs import common_version, saved_versions
from benchwright.tracking import (
    flatten,
    logged,
    main_metrics,
    one_warning,
    record_run,
    sweep_member,
    tracking_is_on,
)

logger = logging.getLogger(__name__)

SEALING = "params:sealing"
_NAMING = {
    **dict.fromkeys(("configurations", "answering", "judges", "judge"), "models"),
    **dict.fromkeys(("encoder", "encoders", "compare"), "encoders"),
}  # settings that name models or encoders
_WIDTH = 100  # of the text at the end of a run


class StrictParametersHook:
    """Rejects `--params` with unknown keys or invalid values."""

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


def local_path(dataset: Any) -> Path | None:
    """Return the local file or folder of a dataset if it exists, else None."""
    folder = getattr(dataset, "folder", None)
    path = folder if isinstance(folder, Path) else loaded_from(dataset)
    return path if path is not None and path.exists() else None


class MemoryHook:
    """Gives freed memory back to the system before a node loads its inputs."""

    def __init__(self) -> None:
        self._freed = False

    @hook_impl
    def after_node_run(self) -> None:
        self._freed = True  # once its outputs are saved

    @hook_impl
    def before_dataset_loaded(self) -> None:
        if not self._freed:
            return
        import pyarrow as pa

        self._freed = False
        pa.default_memory_pool().release_unused()
        if os.name == "posix" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
            trim(0)  # of glibc


class SealKeyHook:
    """Stops a run that seals a closed half before any data is read if the key is missing."""

    @hook_impl
    def before_pipeline_run(self, pipeline: Pipeline, catalog: Any) -> None:
        if SEALING in pipeline.inputs():
            read_key(SealingParams.model_validate(catalog.load(SEALING)))


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


class ModelNamesHook:
    """Stops a run that names an unknown model or encoder before any data is read."""

    @hook_impl
    def before_pipeline_run(self, pipeline: Pipeline, catalog: Any) -> None:
        names = [name for name in pipeline.inputs() if name.startswith("params:")]
        sections = {name.removeprefix("params:"): catalog.load(name) for name in sorted(names)}
        if "models" in sections and (problem := unknown_model(sections)):
            raise InputError(problem)


STAGES = ("namespaces", "node_names", "from_nodes", "to_nodes", "from_inputs", "to_outputs", "tags")
"""Options of `kedro run` that run a part of a pipeline."""


class VersionsHook:
    """Gives a run a version of its own, and lets it read only what belongs together.

    Kedro loads the newest version of each dataset. It may belong to a concurrent run with other
    settings, and versions of two datasets to different runs. A run loads its own outputs, and its
    other inputs from one earlier run. Stages that are run one by one, and runs of missing outputs,
    read the newest versions, which must belong together and to the run's settings.
    """

    def __init__(self) -> None:
        self._context: KedroContext | None = None

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        self._context = context

    @hook_impl(trylast=True)  # a run that other hooks stop leaves no record
    def before_pipeline_run(
        self, run_params: dict[str, Any], pipeline: Pipeline, catalog: Any
    ) -> None:
        if self._context is None:
            return
        params = self._context.params
        root = Path(self._context.project_path) / str(params["data_root"])
        only_missing = bool(run_params.get("only_missing_outputs"))
        folders = {
            name: folder
            for name in sorted(pipeline.datasets())
            if (folder := folder_of_versions(catalog.get(name)))
        }
        inputs = input_versions(run_params, pipeline, folders)
        read = inputs | (output_versions(pipeline, folders) if only_missing else {})
        unknown = {name for name, version in read.items() if not read_record(root, version)}
        settings = flatten(parameters_read(params, pipeline, catalog, _NOT_OF_RESULTS))
        whole = not only_missing and not any(map(run_params.get, STAGES))
        used = {} if whole else settings  # a pipeline on the results of one run may have its own
        problem = find_conflict(root, read, used, lambda n: folder_of_versions(catalog.get(n)))
        if only_missing and (made := sorted(unknown - inputs.keys())):
            problem = f"the settings of {made[0]} of the run {read[made[0]]} are not recorded"
        if problem:
            advice = "run without --only-missing-outputs" if only_missing else "run all stages"
            raise InputError(f"{problem}; {advice}, or use settings and versions of one run")

        version = claim_version(root, str(run_params["run_id"]))
        run_params["run_id"] = version  # MLflow records it
        if member := sweep_member.get():
            member.version = version
        write_record(root, version, RunRecord(settings, read, sources(pipeline.nodes, folders)))
        for name in sorted(pipeline.all_outputs()):
            clear_versions(dataset := catalog.get(name))
            save_version(dataset, version)
            if name not in read:
                read_version(dataset)
            if only_missing and dataset is not None and name not in folders:
                count_as_missing(dataset)  # nothing says which run made it
        for name in inputs:
            read_version(catalog.get(name), inputs[name])
        _log_versions(inputs, unknown)


def input_versions(
    run_params: Mapping[str, Any], pipeline: Pipeline, folders: Mapping[str, Path]
) -> dict[str, str]:
    """Return the versions of the inputs that a run reads: one run's, those of stages the newest.

    Args:
        run_params: Kedro's description of the run.
        pipeline: what is run.
        folders: the folder of each dataset that is saved with versions.

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
        if name not in folders:
            raise InputError(f"--load-versions {name}: this run reads no version of it")
        saved = [file.parent.name for file in saved_versions(folders[name])]
        if version not in saved:
            raise InputError(f"--load-versions {name}:{version}: {expected(version, saved)}")
    others = {name: folders[name] for name in pipeline.inputs() & folders.keys() - pinned.keys()}
    in_stages = any(map(run_params.get, STAGES))
    common = None if in_stages else common_version(others.values())
    found = {name: common or common_version([folder]) for name, folder in others.items()}
    return {name: version for name, version in sorted((found | pinned).items()) if version}


def output_versions(pipeline: Pipeline, folders: Mapping[str, Path]) -> dict[str, str]:
    """Return the newest versions of the outputs that exist."""
    found = {
        name: common_version([folders[name]])
        for name in sorted(pipeline.all_outputs() & folders.keys())
    }
    return {name: version for name, version in found.items() if version}


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


def copy_to_latest(datasets: Iterable[Any]) -> None:
    """Copy the files that MLflow records to `latest/<name>`, next to the folders of versions.

    Failing to do so does not fail the run, whose results are saved.
    """
    for dataset in datasets:
        folder, file = folder_of_versions(dataset), local_path(dataset)
        if folder and file and logged(dataset):
            try:
                with written_aside(folder.parent / LATEST / folder.name) as aside:
                    shutil.copyfile(file, aside)
            except (InputError, OSError) as error:
                logger.warning("%s is not the newest version: %s", LATEST, error)


def newest_path(dataset: Any) -> Path | None:
    """Return the copy in `latest` of what a run has just saved if there is one, else its path."""
    folder, path = folder_of_versions(dataset), local_path(dataset)
    if folder and path and (copy := folder.parent / LATEST / folder.name).is_file():
        return copy if copy.stat().st_mtime >= path.stat().st_mtime else path
    return path


LATEST = "latest"
"""Folder with the newest version of what people open: pages, tables and metrics."""


class RunHook:
    """Records each run in MLflow and prints where its results are saved."""

    def __init__(self) -> None:
        self._context: KedroContext | None = None
        self._started = 0.0

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        self._context = context

    @hook_impl
    def before_pipeline_run(self, pipeline: Pipeline) -> None:
        self._started = time.monotonic()
        stage_log.start(node.name for node in pipeline.nodes)

    @hook_impl
    def after_pipeline_run(
        self, run_params: dict[str, Any], pipeline: Pipeline, catalog: Any
    ) -> None:
        copy_to_latest([catalog.get(name) for name in sorted(pipeline.all_outputs())])
        run_id = self._record(run_params, pipeline, catalog, None)
        if (member := sweep_member.get()) is None:
            files = {name: newest_path(catalog.get(name)) for name in pipeline.all_outputs()}
            lines = describe_results({name: path for name, path in files.items() if path})
            lines += [f"{'MLflow run:':<25}{run_id}  (mlflow ui)"] if run_id else []
            lines.append(f"{'time:':<25}{time.monotonic() - self._started:,.0f} s")
            click.echo("\n".join(lines))  # click writes UTF-8 even where the terminal is ASCII
            return
        saved = {name: catalog.get(name) for name in sorted(pipeline.all_outputs())}
        for dataset in saved.values():
            if isinstance(named := logged(dataset), list):
                metrics = dict(dataset.load())
                member.metrics |= metrics
                member.main += main_metrics(metrics, named)
        reports = [path for name in RESULTS if (path := local_path(saved.get(name)))]
        member.report = next((path for path in reports if path.suffix == ".html"), None)

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
        outputs = sorted(pipeline.all_outputs()) if error is None else []
        saved = {name: (catalog.get(name), local_path(catalog.get(name))) for name in outputs}
        pages = [path for _, path in saved.values() if path is not None and path.suffix == ".html"]
        quoted = [line for page in pages for line in quote_page(page.read_text("utf-8"))]
        run_id = None
        with one_warning("this run"):
            run_id = record_run(
                conf=conf,
                project=Path(self._context.project_path),
                parameters=parameters_read(self._context.params, pipeline, catalog, _LONG),
                run_params=run_params,
                saved=saved,
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
    *("judge_report", "memorisation_report", "sba_card", "sba_classifier"),
    *("sealed_benchmark", "open_benchmark"),
    *("kept_items", "removed_items", "rejected_items", "item_audit", "review_sheet"),
    *("perturbed_items", "chosen_subset", "responses", "recorded_answers", "scoring_budget"),
    *("encoder_overlap", "harness_tasks", "harness_perturbed_tasks", "harness_subset"),
    *("hub_kept_items", "hub_perturbed_items", "hub_subset"),
)
"""Datasets whose paths are printed after a run."""


def describe_results(paths: Mapping[str, Path]) -> list[str]:
    """Return what a run prints at its end: what its reports say, and the paths of its results.

    `paths` are the saved files and folders by dataset.
    """
    from pyarrow.parquet import read_metadata

    saved = {name: paths[name] for name in RESULTS if name in paths}
    if "rejected_items" in saved and not read_metadata(saved["rejected_items"]).num_rows:
        del saved["rejected_items"]
    width = min(get_terminal_size((_WIDTH, 24)).columns, _WIDTH)
    said = [
        fill(line, width, subsequent_indent="  " * line.startswith("- "), break_on_hyphens=False)
        for page in saved.values()
        if page.suffix == ".html"
        for line in ("", *quote_page(page.read_text("utf-8")))
    ]
    here = Path.cwd()
    shown = [
        f"{name.replace('_', ' ') + ':':<25}"
        f"{path.relative_to(here) if path.is_relative_to(here) else path}"
        for name, path in saved.items()
    ]
    return [*said, "", *shown]
