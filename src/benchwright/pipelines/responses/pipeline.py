"""Answers: import, calibrate, build matrices, describe the models, choose those that filter."""

from kedro.pipeline import Pipeline, node

from benchwright.pipelines.responses.calibration import fit_temperatures
from benchwright.pipelines.responses.choose_filter_models import choose_filter_models
from benchwright.pipelines.responses.import_answers import import_answers
from benchwright.pipelines.responses.model_descriptions import describe_models
from benchwright.pipelines.responses.response_matrices import build_response_matrices


def create_pipeline() -> Pipeline:
    """The responses stage."""
    return Pipeline(
        [
            node(
                import_answers,
                inputs=["response_files", "items", "calibration_items"],
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
        ]
    )
