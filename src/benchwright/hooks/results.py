"""Hooks that show a run: its progress, what it saved and found, and what to do next."""

import logging
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import Any

from kedro.framework.hooks import hook_impl
from kedro.pipeline import Pipeline

from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError
from benchwright.core.kedro_internals import folder_of_versions, loaded_from
from benchwright.core.printable import escape_controls
from benchwright.core.progress import say, stage_log
from benchwright.reports.verdict import plain_line, read_verdicts, verdict_lines
from benchwright.runs.tracking import logged, sweep_parent

logger = logging.getLogger(__name__)

LATEST = "latest"
"""Folder with the newest version of what people open: pages, tables and metrics."""
RESULTS = [
    "report",
    "comparison_report",
    "sampling_report",
    "construction_report",
    "half_gap_report",
    "judge_report",
    "memorisation_report",
    "sba_evaluation",
    "sba_classifier",
    "sealed_benchmark",
    "open_benchmark",
    "kept_items",
    "removed_items",
    "rejected_items",
    "item_audit",
    "review_sheet",
    "perturbed_items",
    "chosen_subset",
    "responses",
    "recorded_answers",
    "scoring_budget",
    "encoder_overlap",
    "harness_tasks",
    "harness_perturbed_tasks",
    "harness_subset",
    "hub_kept_items",
    "hub_perturbed_items",
    "hub_subset",
]
"""Datasets whose paths are printed after a run."""
_WIDTH = 100  # of the text at the end of a run


class ProgressHook:
    """Shows a line for each finished stage, and the time of the run."""

    @hook_impl
    def before_pipeline_run(self, pipeline: Pipeline) -> None:
        self._started = time.monotonic()
        stage_log.start(node.name for node in pipeline.nodes)

    @hook_impl
    def after_pipeline_run(self) -> None:
        print_result([labelled("time", f"{time.monotonic() - self._started:,.0f} s")])


class ResultsHook:
    """Copies what people open to `latest/`, prints what reports say and where results are."""

    @hook_impl
    def after_pipeline_run(self, pipeline: Pipeline, catalog: Any) -> None:
        files = saved_files(catalog, pipeline.all_outputs())
        copies = {name: copy_to_latest(catalog.get(name), file) for name, file in files.items()}
        print_result(describe_results(copies))


class NextStepHook:
    """Prints what reports advise to do next."""

    @hook_impl
    def after_pipeline_run(self, pipeline: Pipeline, catalog: Any) -> None:
        steps = next_steps(saved_files(catalog, pipeline.all_outputs()))
        if steps:
            print_result(["", *steps])


def print_result(lines: Iterable[str]) -> None:
    """Print lines at the end of a run, unless it is one of a sweep, which has a summary."""
    if sweep_parent.get() is None:
        say("\n".join(lines))


def labelled(label: str, value: object) -> str:
    """Return a line of a label and what it stands for."""
    return f"{label + ':':<25}{value}"


def saved_files(catalog: Any, names: Iterable[str]) -> dict[str, Path]:
    """Return the file or folder of each of these datasets that is saved, by name."""
    files = {}
    for name in sorted(names):
        dataset = catalog.get(name)
        folder = getattr(dataset, "folder", None)
        file = folder if isinstance(folder, Path) else loaded_from(dataset)
        if file is not None and file.exists():
            files[name] = file
    return files


def copy_to_latest(dataset: Any, file: Path) -> Path:
    """Copy a file that MLflow records to `latest/<name>`, next to the folders of versions.

    Failing to do so does not fail the run, whose results are saved.

    Returns:
        The copy, else the file.
    """
    folder = folder_of_versions(dataset)
    if folder is None or not logged(dataset):
        return file
    copy = folder.parent / LATEST / folder.name
    try:
        with written_aside(copy) as aside:
            shutil.copyfile(file, aside)
    except (InputError, OSError) as error:
        logger.warning("%s is not the newest version: %s", LATEST, error)
        return file
    return copy


def describe_results(paths: Mapping[str, Path]) -> list[str]:
    """Return what reports say, and the paths of results by dataset."""
    from pyarrow.parquet import read_metadata

    saved = {name: paths[name] for name in RESULTS if name in paths}
    if "rejected_items" in saved and not read_metadata(saved["rejected_items"]).num_rows:
        del saved["rejected_items"]
    lines = []
    for verdict in read_verdicts(paths):
        lines.append("")
        lines += map(_wrapped, verdict_lines(verdict))
    lines.append("")
    here = f"{Path.cwd()}{os.sep}"
    for name, path in saved.items():
        lines.append(labelled(name.replace("_", " "), str(path).removeprefix(here)))
    return lines


def next_steps(paths: Mapping[str, Path]) -> list[str]:
    """Return what reports advise to do next."""
    advice = (plain_line(verdict["next_step"]) for verdict in read_verdicts(paths))
    return [_wrapped(line) for line in advice if line]


def _wrapped(line: str) -> str:
    width = min(get_terminal_size((_WIDTH, 24)).columns, _WIDTH)
    indent = "  " if line.startswith("- ") else ""
    return fill(escape_controls(line), width, subsequent_indent=indent, break_on_hyphens=False)
