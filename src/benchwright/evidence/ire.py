"""Difficulty and discrimination of items, and IRE, the baseline that filters items by them.

IRE (SMART, section 4.4, Tables 4 and 5, after Rodriguez et al. 2021, *Evaluation Examples Are Not
Equally Informative*) fits a two-parameter item response model to the responses and drops the items
below a percentile of difficulty or of discrimination. SMART states the percentile (25), but not
whether one or both must be low; both would drop at most 25%, and Table 5 has 28 to 31%.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import Panel
from benchwright.statistics.item_response import ItemResponse, fit_2pl
from benchwright.tables.evidence import ItemParameters

FEWEST_MODELS = 3  # below this nothing is fitted
FEWEST_FOR_RANKS = 50  # with these, 3 in 4 items dropped in simulations are the right ones
_DECIMALS = 6  # items with the same answers have the same estimates up to rounding


_PERCENTILE = 25.0  # items below it in difficulty or discrimination are dropped
FEWEST_TO_FIT = 10
"""With fewer models that are not held out, IRE is fitted on all models."""


class IreSelection(NamedTuple):
    """The selection of IRE among n items."""

    kept: NDArray[np.bool_]  # (n,) True for kept items
    difficulty_cut: float  # items below it are dropped; NaN where nothing was fitted
    discrimination_cut: float  # likewise
    response: ItemResponse | None  # the fitted model, None where nothing was fitted
    reason: str = ""  # why all items are kept or why the fit is weak, or ""


def ire_kept(correct: NDArray[np.floating]) -> IreSelection:
    """Select the items that IRE keeps by answers (m, n) in [0, 1], NaN for missing answers.

    An item is dropped when its difficulty is below the 25th percentile of difficulties, or its
    discrimination below that of discriminations. Ties with a cut, and items without responses, are
    kept. With fewer than three models, or if no item separates models, all items are kept and
    `reason` says why.
    """
    response = fit_2pl(correct)
    models = int((~np.isnan(correct)).any(axis=1).sum())
    if models < FEWEST_MODELS or np.isnan(response.difficulty).all():
        plural = "" if models == 1 else "s"
        reason = f"{models} model{plural} with answers; at least {FEWEST_MODELS} are needed"
        reason = reason if models < FEWEST_MODELS else response.reason
        return IreSelection(np.ones(correct.shape[1], dtype=bool), np.nan, np.nan, None, reason)
    estimates = np.round([response.difficulty, response.discrimination], _DECIMALS)
    cuts = np.nanpercentile(estimates, _PERCENTILE, axis=1)
    kept = ~(estimates < cuts[:, None]).any(axis=0)
    weak = f"weak fit: {models} models, {FEWEST_FOR_RANKS} are needed to rank items"
    notes = [weak if models < FEWEST_FOR_RANKS else "", response.reason]
    reason = "; ".join(filter(None, notes))
    return IreSelection(kept, float(cuts[0]), float(cuts[1]), response, reason)


def estimate_item_parameters(
    response_matrix: ResponseMatrix, panel: Panel
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Fit a two-parameter logistic model and select the items that IRE would keep.

    It is fitted on the models that are not held out, so that held-out models can judge it. With
    fewer than ten of them it is fitted on all models, and results of IRE are in-sample. Returns a
    row per item, and facts about the fit. The table is empty if there is nothing to fit.
    """
    chose = [m for m, role in zip(panel.models, panel.roles, strict=True) if role != "held_out"]
    in_sample = len(chose) < FEWEST_TO_FIT or len(chose) == len(panel.models)
    models = list(panel.models) if in_sample else chose
    about: dict[str, Any] = {"fitted_on": len(models), "in_sample": in_sample}
    if not models or not panel.item_ids:
        return ItemParameters.empty(), {**about, "share_removed": None, "reason": "no panel"}
    matrix = response_matrix.select_models(models).select_items(panel.item_ids)
    selection = ire_kept(matrix.correct.astype(np.float64))
    fit = selection.response
    if fit is None:
        return ItemParameters.empty(), {**about, "share_removed": None, "reason": selection.reason}
    table = pd.DataFrame(
        {
            "item_id": list(panel.item_ids),
            "difficulty": fit.difficulty,
            "discrimination": fit.discrimination,
            "kept_by_ire": selection.kept,
        }
    )
    about |= {
        "percentile": _PERCENTILE,
        "difficulty_cut": selection.difficulty_cut,
        "discrimination_cut": selection.discrimination_cut,
        "converged": bool(fit.converged),
        "iterations": int(fit.iterations),
        "share_removed": float(1 - selection.kept.mean()),
        "reason": selection.reason,
    }
    return table, about
