"""The perturbation stage: items → draws."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.perturbation.nodes import perturb_items, read_labels


def create_pipeline() -> Pipeline:
    """Draws of altered items, and what was changed in each."""
    return Pipeline(
        [
            Node(
                read_labels,
                ["single_best_answer_labels", "params:perturbation"],
                "single_best_answer_ids",
                name="read_labels",
            ),
            Node(
                perturb_items,
                [
                    "items",
                    "demonstrations",
                    "single_best_answer_ids",
                    "params:perturbation",
                    "params:seed",
                ],
                ["draws", "perturbation_changes"],
                name="perturb_items",
            ),
        ]
    )
