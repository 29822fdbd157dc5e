"""Exports: kept items, perturbed copies, a subset → harness tasks, and folders for the Hub."""

from kedro.pipeline import Node, Pipeline

from benchwright.exports import hub_folder as hub
from benchwright.exports.export import ExportedRun, export_perturbed, export_subset, export_tasks
from benchwright.pipelines.nodes import EXPORT, node

_TOLD = [f"params:{name}" for name in ExportedRun._fields]
_RUN = Node(ExportedRun, _TOLD, "exported_run", name="describe_run", tags=EXPORT)


def create_pipeline() -> Pipeline:
    """Create a pipeline: items and kept items → a folder of tasks, and one for the Hub."""
    inputs = ["items", "kept_items", "demonstrations", "exported_run"]
    kept = ["items", "kept_items", "rule_coverage", "exported_run"]
    return Pipeline(
        [
            _RUN,
            node(export_tasks, inputs, "harness_tasks", EXPORT),
            node(hub.publish_kept_items, kept, "hub_kept_items", EXPORT),
        ]
    )


def create_perturbed_pipeline() -> Pipeline:
    """Create a pipeline: items and perturbed copies → a folder of tasks, and one for the Hub."""
    copies = ["perturbed_items", "params:perturbation", "exported_run"]
    return Pipeline(
        [
            _RUN,
            node(
                export_perturbed,
                ["items", "demonstrations", *copies],
                "harness_perturbed_tasks",
                EXPORT,
            ),
            node(hub.publish_perturbed_copies, copies, "hub_perturbed_items", EXPORT),
        ]
    )


def create_subset_pipeline() -> Pipeline:
    """Create a pipeline: items and a subset → a folder of tasks, and one for the Hub."""
    subset = ["items", "chosen_subset", "chosen_subset_facts"]
    inputs = [*subset, "sampler_choice", "demonstrations", "params:sampling", "exported_run"]
    return Pipeline(
        [
            _RUN,
            node(export_subset, inputs, "harness_subset", EXPORT),
            node(hub.publish_subset, [*subset, "exported_run"], "hub_subset", EXPORT),
        ]
    )
