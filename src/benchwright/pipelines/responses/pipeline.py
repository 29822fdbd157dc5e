"""Answers: import, calibrate, build matrices, describe the models, choose those that filter."""

from kedro.pipeline import Node, Pipeline

from benchwright.responses.calibration import fit_temperatures
from benchwright.responses.choose_filter_models import choose_filter_models
from benchwright.responses.import_answers import import_answers
from benchwright.responses.model_descriptions import describe_models
from benchwright.responses.response_matrices import build_draw_matrices, build_response_matrices

_ANSWERS = ["live_responses", "imported_responses", "wide_matrices", "calibration", "items"]
_MATRICES = ["response_matrix", "choices_only_matrix", "responses", "answer_coverage"]


def create_pipeline(draws: str | None = None) -> Pipeline:
    """The responses stage.

    Args:
        draws: the name of a `Draws` table whose answers become matrices of their own.
    """
    drawn = [draws] if draws else []
    nodes = [
        Node(
            import_answers,
            ["response_files", "items", "calibration_items", *drawn],
            ["imported_responses", "wide_matrices", "import_report"],
            name="import_answers",
        ),
        Node(
            fit_temperatures,
            {
                "live_responses": "live_responses",
                "imported_responses": "imported_responses",
                "calibration_items": "calibration_items",
                "parameters": "params:responses",
            },
            "calibration",
            name="fit_temperatures",
        ),
        Node(
            build_response_matrices, [*_ANSWERS, *drawn], _MATRICES, name="build_response_matrices"
        ),
        Node(
            describe_models,
            ["response_matrix", "params:models"],
            "models_table",
            name="describe_models",
        ),
        Node(
            choose_filter_models,
            ["params:filter_models", "response_matrix", "models_table"],
            "chosen_filter_models",
            name="choose_filter_models",
        ),
    ]
    if drawn:
        made = [*_ANSWERS, *drawn]
        nodes.append(Node(build_draw_matrices, made, "draw_matrices", name="build_draw_matrices"))
    return Pipeline(nodes)
