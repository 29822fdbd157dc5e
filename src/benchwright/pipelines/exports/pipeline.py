"""Exports: kept items, draws of altered ones, a subset → tasks for lm-evaluation-harness."""

from collections.abc import Callable

from kedro.pipeline import Pipeline, node

from benchwright.datasets.harness_tasks import HarnessExport
from benchwright.exports.export import export_draws, export_subset, export_tasks

_RUN = [
    "params:ingestion",
    "params:scoring",
    "params:exports",
    "params:variant",
    "params:limit",
    "params:seed",
]


def create_pipeline() -> Pipeline:
    """Items and kept items → a folder of tasks."""
    inputs = ["items", "kept_items", "demonstrations", "params:mirror_root"]
    return _export(export_tasks, inputs, "harness_tasks")


def create_draws_pipeline() -> Pipeline:
    """Items and their draws → a folder of tasks."""
    inputs = ["items", "demonstrations", "draws", "params:perturbation"]
    return _export(export_draws, inputs, "harness_draw_tasks")


def create_subset_pipeline() -> Pipeline:
    """Items and a subset that stands for them → a folder of tasks."""
    inputs = ["items", "chosen_subset", "sampler_choice", "demonstrations"]
    more = ["params:sampling", "params:mirror_root"]
    return _export(export_subset, inputs + more, "harness_subset")


def _export(function: Callable[..., HarnessExport], inputs: list[str], output: str) -> Pipeline:
    return Pipeline([node(function, [*inputs, *_RUN], output, name=function.__name__)])
