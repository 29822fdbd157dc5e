"""Exports: kept items, perturbed copies, a subset → tasks for lm-evaluation-harness."""

from collections.abc import Callable

from kedro.pipeline import Pipeline, node

from benchwright.datasets.harness_tasks import HarnessExport
from benchwright.exports.export import ExportedRun, export_perturbed, export_subset, export_tasks

_RUN = [f"params:{name}" for name in ExportedRun._fields]


def create_pipeline() -> Pipeline:
    """Create a pipeline: items and kept items → a folder of tasks."""
    inputs = ["items", "kept_items", "demonstrations", "params:mirror_root"]
    return _export(export_tasks, inputs, "harness_tasks")


def create_perturbed_pipeline() -> Pipeline:
    """Create a pipeline: items and their perturbed copies → a folder of tasks."""
    inputs = ["items", "demonstrations", "perturbed_items", "params:perturbation"]
    return _export(export_perturbed, inputs, "harness_perturbed_tasks")


def create_subset_pipeline() -> Pipeline:
    """Create a pipeline: items and a subset → a folder of tasks."""
    inputs = ["items", "chosen_subset", "sampler_choice", "demonstrations"]
    inputs += ["params:sampling", "params:mirror_root"]
    return _export(export_subset, inputs, "harness_subset")


def _export(function: Callable[..., HarnessExport], inputs: list[str], output: str) -> Pipeline:
    return Pipeline([node(function, [*inputs, *_RUN], output, name=function.__name__)])
