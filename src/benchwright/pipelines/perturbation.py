"""Nodes of the perturbation stage, over `benchwright.transforms`."""

from kedro.pipeline import Pipeline

from benchwright.methods.wicked.perturbation import (
    choose_shown_demonstrations,
    perturb_items,
    rephrase_questions,
)
from benchwright.methods.wicked.single_best_answer.decisions import (
    judge_single_best_answers,
    predict_single_best_answers,
)
from benchwright.pipelines.nodes import ASKS_MODELS, node

_SHOWN = ["items", "shown_demonstrations"]
_ASKING = ["params:models", "params:scoring"]
_NODES = [
    node(
        choose_shown_demonstrations,
        ["items", "demonstrations", "params:scoring", "params:seed"],
        "shown_demonstrations",
    ),
    node(
        judge_single_best_answers,
        [
            *_SHOWN,
            "single_best_answer_labels",
            "answer_store",
            "params:perturbation",
            "params:single_best_answer",
            *_ASKING,
        ],
        "sba_judged",
        ASKS_MODELS,
    ),
    node(
        predict_single_best_answers,
        [
            "items",
            "demonstrations",
            "single_best_answer_labels",
            "sba_judged",
            "sba_classifier",
            "params:perturbation",
        ],
        ["sba_predictions", "single_best_answer_ids"],
    ),
    node(
        rephrase_questions,
        [*_SHOWN, "answer_store", "params:perturbation", *_ASKING],
        "rephrasings",
        ASKS_MODELS,
    ),
    node(
        perturb_items,
        [
            "items",
            "demonstrations",
            "single_best_answer_ids",
            "rephrasings",
            "params:perturbation",
            "params:seed",
        ],
        ["perturbed_items", "perturbation_changes"],
    ),
]


def create_pipeline() -> Pipeline:
    """Return the pipeline: items → perturbed copies, and the changes of each."""
    return Pipeline(_NODES)
