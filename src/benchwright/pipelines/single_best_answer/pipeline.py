"""The stage of single-best-answer items: labels → classifier, figures, card."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.single_best_answer.nodes import (
    ask_judge,
    evaluate_single_best_answer_classifier,
    gather_labelled_items,
    train_single_best_answer_classifier,
    write_single_best_answer_card,
)


def create_pipeline() -> Pipeline:
    """A classifier trained on labelled items, and its card."""
    return Pipeline(
        [
            Node(
                gather_labelled_items,
                [
                    "items",
                    "demonstrations",
                    "calibration_items",
                    "saved_items",
                    "single_best_answer_annotations",
                ],
                ["sba_annotations", "sba_texts"],
                name="gather_labelled_items",
            ),
            Node(
                ask_judge,
                [
                    "items",
                    "sba_texts",
                    "sba_annotations",
                    "answer_store",
                    "params:single_best_answer",
                    "params:models",
                    "params:scoring",
                ],
                ["sba_judged_annotations", "sba_judged_texts"],
                name="ask_judge",
            ),
            Node(
                train_single_best_answer_classifier,
                [
                    "sba_judged_annotations",
                    "sba_judged_texts",
                    "text_vector_cache",
                    "params:single_best_answer",
                    "params:models",
                ],
                ["sba_classifier", "sba_labels", "sba_labelled_items", "text_vectors"],
                name="train_single_best_answer_classifier",
            ),
            Node(
                evaluate_single_best_answer_classifier,
                ["sba_labelled_items", "sba_labels", "sba_classifier"],
                ["sba_evaluation", "sba_metrics"],
                name="evaluate_single_best_answer_classifier",
            ),
            Node(
                write_single_best_answer_card,
                ["sba_classifier", "sba_evaluation", "sba_labelled_items", "sba_labels"],
                "sba_card",
                name="write_single_best_answer_card",
            ),
        ]
    )
