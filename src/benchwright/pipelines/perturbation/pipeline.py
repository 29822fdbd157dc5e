"""The perturbation stage: items → perturbed copies."""

from kedro.pipeline import Pipeline

from benchwright.pipelines.named_nodes import NodeParts, named_nodes
from benchwright.pipelines.perturbation import nodes

_SOURCES = ["items", "demonstrations"]
_NODES: tuple[NodeParts, ...] = (
    (
        nodes.choose_shown_demonstrations,
        [*_SOURCES, "params:scoring", "params:seed"],
        "shown_demonstrations",
    ),
    (
        nodes.judge_single_best_answers,
        [
            *("items", "shown_demonstrations", "single_best_answer_labels", "answer_store"),
            *(
                "params:perturbation",
                "params:single_best_answer",
                "params:models",
                "params:scoring",
            ),
        ],
        "sba_judged",
    ),
    (
        nodes.predict_single_best_answers,
        [
            *(*_SOURCES, "single_best_answer_labels", "sba_judged", "sba_classifier"),
            *("text_vector_cache", "params:perturbation", "params:models"),
        ],
        ["sba_predictions", "single_best_answer_ids", "text_vectors"],
    ),
    (
        nodes.rephrase_questions,
        [
            *("items", "shown_demonstrations", "answer_store", "params:perturbation"),
            *("params:models", "params:scoring"),
        ],
        "rephrasings",
    ),
    (
        nodes.perturb_items,
        [
            *(*_SOURCES, "single_best_answer_ids", "rephrasings"),
            *("params:perturbation", "params:seed"),
        ],
        ["perturbed_items", "perturbation_changes"],
    ),
    (nodes.list_option_wordings, _SOURCES, "option_wordings"),
)


def create_pipeline() -> Pipeline:
    """Return the pipeline: items → perturbed copies, and the changes of each."""
    return Pipeline(named_nodes(_NODES))
