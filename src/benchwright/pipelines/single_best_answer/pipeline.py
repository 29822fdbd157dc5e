"""The stage of single-best-answer items: labels → classifier, figures, card."""

from collections.abc import Callable
from typing import Any

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
    nodes: list[tuple[Callable[..., Any], Any, Any]] = [
        (
            gather_labelled_items,
            [
                "items",
                "demonstrations",
                "calibration_items",
                "saved_items",
                "single_best_answer_annotations",
            ],
            ["sba_annotations", "sba_texts"],
        ),
        (
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
        ),
        (
            train_single_best_answer_classifier,
            [
                "sba_judged_annotations",
                "sba_judged_texts",
                "text_vector_cache",
                "params:single_best_answer",
                "params:models",
            ],
            ["sba_classifier", "sba_labels", "sba_labelled_items", "text_vectors"],
        ),
        (
            evaluate_single_best_answer_classifier,
            ["sba_labelled_items", "sba_labels", "sba_classifier"],
            ["sba_evaluation", "sba_metrics"],
        ),
        (
            write_single_best_answer_card,
            ["sba_classifier", "sba_evaluation", "sba_labelled_items", "sba_labels"],
            "sba_card",
        ),
    ]
    return Pipeline([Node(*node, name=node[0].__name__) for node in nodes])
