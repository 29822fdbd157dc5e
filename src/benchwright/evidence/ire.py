"""Difficulty and discrimination of items, and IRE, the baseline that filters items by them.

IRE (SMART, section 4.4, Tables 4 and 5, after Rodriguez et al. 2021, *Evaluation Examples Are Not
Equally Informative*) fits a two-parameter item response model to the responses and drops the items
below a percentile of difficulty or of discrimination. SMART states the percentile (25), but not
whether one or both must be low; both would drop at most 25%, and Table 5 has 28 to 31%.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import Panel
from benchwright.statistics.item_response import ItemResponse, fit_2pl
from benchwright.statistics.rank_agreement import too_few
from benchwright.tables.evidence import ItemParameters

FEWEST_MODELS = 3  # below this nothing is fitted
FEWEST_FOR_RANKS = 50  # with these, 3 in 4 items dropped in simulations are the right ones
_DECIMALS = 6  # items with the same answers have the same estimates up to rounding


_PERCENTILE = 25.0  # items below it in difficulty or discrimination are dropped
FEWEST_TO_FIT = 10
"""With fewer models that are not held out, IRE is fitted on all models."""


def ire_kept(response: ItemResponse) -> NDArray[np.bool_]:
    """Mark (n,) the items that IRE keeps.

    An item is dropped when its difficulty is below the 25th percentile of difficulties, or its
    discrimination below that of discriminations. Ties with a cut, and items without responses, are
    kept.
    """
    estimates = np.round([response.difficulty, response.discrimination], _DECIMALS)
    cuts = np.nanpercentile(estimates, _PERCENTILE, axis=1)
    return np.asarray(~(estimates < cuts[:, None]).any(axis=0))


def estimate_item_parameters(
    response_matrix: ResponseMatrix, panel: Panel
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Fit a two-parameter logistic model and select the items that IRE would keep.

    It is fitted on the models that are not held out, so that held-out models can judge it. With
    fewer than ten of them it is fitted on all models, and results of IRE are in-sample. Returns a
    row per item, and facts about the fit. The table is empty with fewer than three models, or if no
    item separates them; `reason` says why, or that the fit is weak.
    """
    held_out = panel.select("held_out")
    chose = [model for model in panel.models if model not in held_out]
    in_sample = len(chose) < FEWEST_TO_FIT or len(chose) == len(panel.models)
    models = list(panel.models) if in_sample else chose
    about: dict[str, Any] = {"fitted_on": len(models), "in_sample": in_sample}
    if len(models) < FEWEST_MODELS or not panel.item_ids:
        few = too_few(len(models), FEWEST_MODELS)
        return ItemParameters.empty(), {**about, "share_removed": None, "reason": few}
    matrix = response_matrix.select_models(models).select_items(panel.item_ids)
    fit = fit_2pl(matrix.correct.astype(np.float64))
    if np.isnan(fit.difficulty).all():
        return ItemParameters.empty(), {**about, "share_removed": None, "reason": fit.reason}
    kept = ire_kept(fit)
    table = pd.DataFrame(
        {
            "item_id": list(panel.item_ids),
            "difficulty": fit.difficulty,
            "discrimination": fit.discrimination,
            "kept_by_ire": kept,
        }
    )
    weak = f"weak fit: {len(models)} models, {FEWEST_FOR_RANKS} are needed to rank items"
    notes = [weak if len(models) < FEWEST_FOR_RANKS else "", fit.reason]
    about |= {
        "percentile": _PERCENTILE,
        "converged": bool(fit.converged),
        "iterations": int(fit.iterations),
        "share_removed": float(1 - kept.mean()),
        "reason": "; ".join(filter(None, notes)),
    }
    return table, about
