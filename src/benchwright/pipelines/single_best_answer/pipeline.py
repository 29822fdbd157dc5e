"""The stage of single-best-answer items: labels → classifier, plots, card."""

from kedro.pipeline import Pipeline

from benchwright.pipelines.named_nodes import NodeParts, named_nodes
from benchwright.pipelines.single_best_answer import nodes

_JUDGED = ["sba_judged_annotations", "sba_judged_texts"]
_EVALUATED = ["sba_labelled_items", "sba_labels"]
_SETTINGS = ["params:single_best_answer", "params:models"]
_NODES: tuple[NodeParts, ...] = (
    (
        nodes.gather_labelled_items,
        [
            *("items", "demonstrations", "calibration_items"),
            *("saved_items", "single_best_answer_annotations"),
        ],
        ["sba_annotations", "sba_texts"],
    ),
    (
        nodes.ask_judge,
        ["items", "sba_texts", "sba_annotations", "answer_store", *_SETTINGS, "params:scoring"],
        _JUDGED,
    ),
    (
        nodes.train_single_best_answer_classifier,
        [*_JUDGED, "text_vector_cache", *_SETTINGS],
        ["sba_classifier", "sba_labels", "sba_labelled_items", "text_vectors"],
    ),
    (
        nodes.evaluate_single_best_answer_classifier,
        [*_EVALUATED, "sba_classifier"],
        ["sba_evaluation", "sba_metrics"],
    ),
    (
        nodes.write_single_best_answer_card,
        ["sba_classifier", "sba_evaluation", *_EVALUATED],
        "sba_card",
    ),
)


def create_pipeline() -> Pipeline:
    """Return the training and evaluation of a classifier on labelled items, and its card."""
    return Pipeline(named_nodes(_NODES))
