"""Exports: kept items, draws of altered ones, a subset → tasks for lm-evaluation-harness."""

from kedro.pipeline import Pipeline, node

from benchwright.exports.export import export_tasks
from benchwright.exports.export_draws import export_draws
from benchwright.exports.export_subset import export_subset


def create_pipeline() -> Pipeline:
    """Items and kept items → a folder of tasks."""
    return Pipeline(
        [
            node(
                export_tasks,
                inputs=[
                    "items",
                    "kept_items",
                    "demonstrations",
                    "params:ingestion",
                    "params:scoring",
                    "params:exports",
                    "params:variant",
                    "params:limit",
                    "params:mirror_root",
                    "params:seed",
                ],
                outputs="harness_tasks",
                name="export_tasks",
            )
        ]
    )


def create_draws_pipeline() -> Pipeline:
    """Items and their draws → a folder of tasks."""
    return Pipeline(
        [
            node(
                export_draws,
                inputs=[
                    "items",
                    "demonstrations",
                    "draws",
                    "params:ingestion",
                    "params:scoring",
                    "params:exports",
                    "params:perturbation",
                    "params:variant",
                    "params:limit",
                    "params:seed",
                ],
                outputs="harness_draw_tasks",
                name="export_draws",
            )
        ]
    )


def create_subset_pipeline() -> Pipeline:
    """Items and a subset that stands for them → a folder of tasks."""
    return Pipeline(
        [
            node(
                export_subset,
                inputs=[
                    "items",
                    "chosen_subset",
                    "sampler_choice",
                    "demonstrations",
                    "params:ingestion",
                    "params:scoring",
                    "params:exports",
                    "params:sampling",
                    "params:variant",
                    "params:limit",
                    "params:mirror_root",
                    "params:seed",
                ],
                outputs="harness_subset",
                name="export_subset",
            )
        ]
    )
