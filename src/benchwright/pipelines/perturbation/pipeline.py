"""The perturbation stage: items → draws."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.perturbation.nodes import (
    collect_single_best_answers,
    list_option_wordings,
    perturb_items,
    predict_single_best_answers,
    rephrase_questions,
)


def create_pipeline() -> Pipeline:
    """Draws of altered items, and what was changed in each."""
    return Pipeline(
        [
            Node(
                predict_single_best_answers,
                [
                    "items",
                    "demonstrations",
                    "single_best_answer_labels",
                    "sba_classifier",
                    "text_vector_cache",
                    "params:perturbation",
                    "params:models",
                ],
                ["sba_predictions", "text_vectors"],
                name="predict_single_best_answers",
            ),
            Node(
                collect_single_best_answers,
                ["sba_predictions", "single_best_answer_labels", "params:perturbation"],
                "single_best_answer_ids",
                name="collect_single_best_answers",
            ),
            Node(
                rephrase_questions,
                [
                    "items",
                    "demonstrations",
                    "answer_store",
                    "params:perturbation",
                    "params:models",
                    "params:scoring",
                    "params:seed",
                ],
                "rephrasings",
                name="rephrase_questions",
            ),
            Node(
                perturb_items,
                [
                    "items",
                    "demonstrations",
                    "single_best_answer_ids",
                    "rephrasings",
                    "params:perturbation",
                    "params:seed",
                ],
                ["draws", "perturbation_changes"],
                name="perturb_items",
            ),
            Node(
                list_option_wordings,
                ["items", "demonstrations"],
                "option_wordings",
                name="list_option_wordings",
            ),
        ]
    )
