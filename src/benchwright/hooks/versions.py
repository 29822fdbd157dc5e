"""Hooks that choose the versions a run reads, and clear what killed runs have left."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from kedro.framework.hooks import hook_impl
from kedro.pipeline import Pipeline

from benchwright.core.atomic_files import clear_abandoned
from benchwright.core.errors import InputError, expected
from benchwright.core.kedro_internals import folder_of_versions, read_version
from benchwright.runs.saved_runs import common_version, saved_versions

STAGES = ("namespaces", "node_names", "from_nodes", "to_nodes", "from_inputs", "to_outputs", "tags")
"""Options of `kedro run` that run a part of a pipeline."""


class VersionsHook:
    """Lets a run read what it writes, and its inputs from one earlier run.

    Kedro loads the newest version of each dataset, which a concurrent run may have saved. Parts of
    a pipeline, and runs of missing outputs, read the newest versions.
    """

    @hook_impl
    def before_pipeline_run(
        self, run_params: Mapping[str, Any], pipeline: Pipeline, catalog: Any
    ) -> None:
        folders = version_folders(pipeline, catalog)
        inputs = input_versions(run_params, pipeline, folders)
        for name, version in inputs.items():
            read_version(catalog.get(name), version)
        for name in sorted(pipeline.all_outputs()):
            exists = name in folders and saved_versions(folders[name])
            if not (run_params.get("only_missing_outputs") and exists):
                read_version(catalog.get(name))


def version_folders(pipeline: Pipeline, catalog: Any) -> dict[str, Path]:
    """Return the folder of versions of each dataset that is saved with versions."""
    folders = {}
    for name in sorted(pipeline.datasets()):
        folder = folder_of_versions(catalog.get(name))
        if folder is not None:
            folders[name] = folder
    return folders


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
    return found | pinned


def newest_versions(names: Collection[str], folders: Mapping[str, Path]) -> dict[str, str]:
    """Return the newest saved version of each of these datasets that has one."""
    newest = {name: common_version([folders[name]]) for name in sorted(names)}
    return {name: version for name, version in newest.items() if version}


class LeftoversHook:
    """Removes temporary files of killed runs beside what a run saves."""

    @hook_impl
    def before_pipeline_run(self, pipeline: Pipeline, catalog: Any) -> None:
        for name in sorted(pipeline.all_outputs()):
            clear_versions(folder_of_versions(catalog.get(name)))


def clear_versions(folder: Path | None) -> None:
    """Remove temporary files of killed runs from the version folders of a dataset."""
    if folder is None or not folder.is_dir():
        return
    for version in folder.iterdir():
        with suppress(OSError):  # a file, or a folder that is not empty
            clear_abandoned(list(version.iterdir()))
            version.rmdir()
