"""Answers: import, calibrate, build matrices, describe the models, choose those that filter."""

from kedro.pipeline import Node, Pipeline, node

from benchwright.responses.calibration import fit_temperatures
from benchwright.responses.choose_filter_models import choose_filter_models
from benchwright.responses.draw_matrices import build_draw_matrices
from benchwright.responses.import_answers import import_answers
from benchwright.responses.model_descriptions import describe_models
from benchwright.responses.response_matrices import build_response_matrices


def create_pipeline(draws: str | None = None) -> Pipeline:
    """The responses stage.

    Args:
        draws: the name of a `Draws` table whose answers become matrices of their own.
    """
    return Pipeline(
        [
            node(
                import_answers,
                inputs=[
                    "response_files",
                    "items",
                    "calibration_items",
                    *([draws] if draws else []),
                ],
                outputs=["imported_responses", "wide_matrices", "import_report"],
                name="import_answers",
            ),
            node(
                fit_temperatures,
                inputs=[
                    "live_responses",
                    "imported_responses",
                    "calibration_items",
                    "params:responses",
                ],
                outputs="calibration",
                name="fit_temperatures",
            ),
            node(
                build_response_matrices,
                inputs=[
                    "live_responses",
                    "imported_responses",
                    "wide_matrices",
                    "calibration",
                    "items",
                    *([draws] if draws else []),
                ],
                outputs=[
                    "response_matrix",
                    "choices_only_matrix",
                    "responses",
                    "answer_coverage",
                ],
                name="build_response_matrices",
            ),
            node(
                describe_models,
                inputs=["response_matrix", "params:models"],
                outputs="models_table",
                name="describe_models",
            ),
            node(
                choose_filter_models,
                inputs=["params:filter_models", "response_matrix", "models_table"],
                outputs="chosen_filter_models",
                name="choose_filter_models",
            ),
            *(_of_draws(draws) if draws else []),
        ]
    )


def _of_draws(draws: str) -> list[Node]:
    return [
        node(
            build_draw_matrices,
            inputs=[
                "live_responses",
                "imported_responses",
                "wide_matrices",
                "calibration",
                "items",
                draws,
            ],
            outputs="draw_matrices",
            name="build_draw_matrices",
        )
    ]
