"""Responses: import, calibrate, build matrices, describe models, choose filter models."""

from collections.abc import Callable
from typing import Any

from kedro.pipeline import Node, Pipeline

from benchwright.evidence.suspect_items import rank_suspect_items
from benchwright.responses.calibration import fit_temperatures
from benchwright.responses.choose_filter_models import choose_filter_models
from benchwright.responses.import_responses import import_responses
from benchwright.responses.model_descriptions import describe_models
from benchwright.responses.response_matrices import (
    build_perturbed_matrices,
    build_response_matrices,
)

_RESPONSES = ["live_responses", "imported_responses", "wide_matrices", "calibration", "items"]
_MATRICES = ["response_matrix", "choices_only_matrix", "responses", "answer_coverage"]


def create_pipeline(perturbed_items: str | None = None) -> Pipeline:
    """Create the responses stage; a `PerturbedItems` table gets separate matrices."""
    perturbed = [perturbed_items] if perturbed_items else []
    recorded = {name: name for name in ("response_files", "items", "calibration_items")}
    recorded |= {name: f"params:{name}" for name in ("filter_models", "models", "scoring")}
    recorded |= {"perturbed_items": perturbed_items} if perturbed_items else {}
    fitted = {
        **{name: name for name in ("live_responses", "imported_responses", "calibration_items")},
        "parameters": "params:responses",
    }
    matrices = {name: name for name in _RESPONSES} | {"parameters": "params:responses"}
    matrices |= {"perturbed_items": perturbed_items} if perturbed_items else {}
    nodes: list[tuple[Callable[..., Any], Any, Any]] = [
        (
            import_responses,
            recorded,
            ["imported_responses", "wide_matrices", "import_report"],
        ),
        (fit_temperatures, fitted, "calibration"),
        (build_response_matrices, matrices, _MATRICES),
        (describe_models, ["response_matrix", "params:models"], "models_table"),
        (
            choose_filter_models,
            ["params:filter_models", "response_matrix", "models_table"],
            "chosen_filter_models",
        ),
    ]
    if perturbed:
        nodes.append((build_perturbed_matrices, [*_RESPONSES, *perturbed], "perturbed_matrices"))
    else:
        suspects = ["response_matrix", "items", "models_table"]
        nodes.append((rank_suspect_items, suspects, "suspect_items"))
    return Pipeline([Node(function, *ends, name=function.__name__) for function, *ends in nodes])
