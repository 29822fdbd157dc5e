"""Responses: import, calibrate, build matrices, describe models, choose filter models."""

from kedro.pipeline import Pipeline

from benchwright.answers.calibration import fit_temperatures
from benchwright.answers.choose_filter_models import choose_filter_models
from benchwright.answers.import_responses import import_responses
from benchwright.answers.model_descriptions import describe_models
from benchwright.answers.response_matrices import (
    build_perturbed_matrices,
    build_response_matrices,
)
from benchwright.evidence.suspect_items import rank_suspect_items
from benchwright.pipelines.nodes import node

_RECORDED = ["response_files", "items", "calibration_items"]
_SETTINGS = ["params:filter_models", "params:models", "params:scoring"]
_ANSWERS = ["live_responses", "imported_responses", "wide_matrices", "calibration", "items"]
_NODES = [
    node(
        fit_temperatures,
        ["live_responses", "imported_responses", "calibration_items", "params:responses"],
        "calibration",
    ),
    node(describe_models, ["response_matrix", "params:models"], "models_table"),
    node(
        choose_filter_models,
        ["params:filter_models", "response_matrix", "models_table"],
        "chosen_filter_models",
    ),
]


def create_pipeline(*, perturbed: bool = False) -> Pipeline:
    """Create the responses stage; with `perturbed` copies of items get matrices of their own."""
    copies = ["perturbed_items"] if perturbed else []
    if perturbed:
        last = node(build_perturbed_matrices, [*_ANSWERS, *copies], "perturbed_matrices")
    else:
        suspects = ["response_matrix", "items", "models_table"]
        last = node(rank_suspect_items, suspects, "suspect_items")
    nodes = [
        node(
            import_responses,
            [*_RECORDED, *_SETTINGS, *copies],
            ["imported_responses", "wide_matrices", "import_report"],
        ),
        node(
            build_response_matrices,
            [*_ANSWERS, "params:responses"],
            ["response_matrix", "choices_only_matrix", "responses", "answer_coverage"],
        ),
    ]
    return Pipeline([*nodes, *_NODES, last])
