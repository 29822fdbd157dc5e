"""Labels → classifier → its evaluation (WiCkeD, appendix A)."""

from kedro.pipeline import Pipeline

from benchwright.methods.wicked.single_best_answer.classifier import (
    evaluate_single_best_answer_classifier,
    train_single_best_answer_classifier,
)
from benchwright.methods.wicked.single_best_answer.labelled_items import (
    ask_judge,
    gather_labelled_items,
)
from benchwright.pipelines.nodes import ASKS_MODELS, node

_NODES = [
    node(
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
    node(
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
        ASKS_MODELS,
    ),
    node(
        train_single_best_answer_classifier,
        ["sba_judged_annotations", "sba_judged_texts", "params:single_best_answer"],
        ["sba_classifier", "sba_labels", "sba_labelled_items"],
    ),
    node(
        evaluate_single_best_answer_classifier,
        ["sba_labelled_items", "sba_labels", "sba_classifier"],
        ["sba_evaluation", "sba_metrics"],
    ),
]


def create_pipeline() -> Pipeline:
    """Return the training and evaluation of a classifier on labelled items."""
    return Pipeline(_NODES)
