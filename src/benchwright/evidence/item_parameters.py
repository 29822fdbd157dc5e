"""Difficulty and discrimination of items, and the baseline IRE (SMART, section 4.4)."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import Panel
from benchwright.params.evaluation import EvaluationParams
from benchwright.statistics.ire import ire_kept
from benchwright.tables.evidence import ItemParameters

FEWEST_TO_FIT = 10
"""With fewer models that are not held out, the model is fitted on all of them."""


def estimate_item_parameters(
    response_matrix: ResponseMatrix, panel: Panel, evaluation: EvaluationParams
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Fit a two-parameter logistic model and select the items that IRE would keep.

    It is fitted on the models that are not held out, so that those can judge it; with fewer than
    ten of them on all models, and IRE is then judged in-sample. Gives a row per item, and what
    the fit rests on. Empty where `ire_percentile` is None or there is nothing to fit.
    """
    chose = [m for m, role in zip(panel.models, panel.roles, strict=True) if role != "held_out"]
    in_sample = len(chose) < FEWEST_TO_FIT or len(chose) == len(panel.models)
    models = list(panel.models) if in_sample else chose
    about: dict[str, Any] = {"fitted_on": len(models), "in_sample": in_sample}
    if evaluation.ire_percentile is None or not models or not panel.item_ids:
        why = "off" if evaluation.ire_percentile is None else "no panel"
        return ItemParameters.empty(), {**about, "share_removed": None, "reason": why}
    matrix = response_matrix.select_models(models).select_items(panel.item_ids)
    selection = ire_kept(matrix.correct.astype(np.float64), evaluation.ire_percentile)
    fit = selection.response
    if fit is None:
        return ItemParameters.empty(), {**about, "share_removed": None, "reason": selection.reason}
    table = pd.DataFrame(
        {
            "item_id": list(panel.item_ids),
            "difficulty": fit.difficulty,
            "difficulty_se": fit.difficulty_se,
            "discrimination": fit.discrimination,
            "discrimination_se": fit.discrimination_se,
            "kept_by_ire": selection.kept,
        }
    )
    about |= {
        "percentile": evaluation.ire_percentile,
        "difficulty_cut": _number(selection.difficulty_cut),
        "discrimination_cut": _number(selection.discrimination_cut),
        "converged": bool(fit.converged),
        "iterations": int(fit.iterations),
        "share_removed": float(1 - selection.kept.mean()),
        "reason": selection.reason,
    }
    return pd.DataFrame(ItemParameters.validate(table)), about


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
