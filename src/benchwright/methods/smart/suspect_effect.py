"""How far ranks of models would move if the suspect items are wrong."""

import math
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.seeding import stage_generator
from benchwright.evidence.panel import Panel, panel_responses
from benchwright.methods.smart.review import SUSPECT_ITEMS, judgements
from benchwright.params.evaluation import EvaluationParams
from benchwright.statistics.random_subsets import subset_blocks
from benchwright.statistics.rank_agreement import Float, kendall_tau_b_rows, ranks_rows
from benchwright.statistics.subset_scores import subset_scores
from benchwright.tables.evidence import SuspectEffect

SHARE = 0.05
"""Share of the items that count as wrong, from the top of the ranking, without a review."""


def measure_suspect_effect(
    response_matrix: ResponseMatrix,
    items: pd.DataFrame,
    panel: Panel,
    suspect_items: pd.DataFrame,
    review_sheet_filled: pd.DataFrame,
    evaluation: EvaluationParams,
    seed: int,
) -> pd.DataFrame:
    """Compare the ranking on all items with rankings that leave out or correct suspect items.

    The items are those that the review found wrong, else the top 5% of the ranking. `rekeyed`
    takes the most chosen wrong option for right, if the choices of all models are known; an
    unreadable choice stays wrong. Beside it as many random items are removed.

    Returns:
        A `SuspectEffect` table, empty with fewer than two models or without items to change.
    """
    judged = judgements(review_sheet_filled)
    confirmed = {
        item
        for (rule, item), verdict in judged.items()
        if (rule, verdict) == (SUSPECT_ITEMS, "agree")
    }
    top = suspect_items["item_id"].head(math.ceil(SHARE * len(suspect_items)))
    models = list(panel.models)
    answers = panel_responses(response_matrix, items, panel, models)
    changed = answers.among(confirmed or set(top))
    n, size = len(changed), int(changed.sum())
    if len(models) < 2 or not 0 < size < n:
        return SuspectEffect.empty()
    prediction = response_matrix.select_models(models).select_items(answers.item_ids).prediction
    option = suspect_items.set_index("item_id")["alternative"].reindex(list(answers.item_ids))
    alternative = option.fillna(-1).to_numpy(dtype=np.int64)
    keyed = changed & (alternative >= 0) & (prediction >= 0).any(axis=1).all()
    rekeyed = np.where(keyed, prediction == alternative, answers.correct)
    everything = np.ones((1, n))
    full = subset_scores(answers.correct, everything)
    compared = {"removed": subset_scores(answers.correct, ~changed[None, :])}
    if keyed.any():
        compared["rekeyed"] = subset_scores(rekeyed, everything)
    if evaluation.random_subsets:
        generator = stage_generator(seed, "suspect_effect")
        blocks = subset_blocks(n, n - size, evaluation.random_subsets, generator)
        compared["random"] = np.concatenate([subset_scores(answers.correct, m) for m in blocks])
    return SuspectEffect.from_rows(
        [
            (
                name,
                int(keyed.sum()) if name == "rekeyed" else size,
                bool(confirmed),
                *_summary(full, scores),
            )
            for name, scores in compared.items()
        ]
    )


def _summary(full: Float, scores: Float) -> tuple[Any, ...]:
    """Return tau-b and the largest change of a rank, each with the middle 95% of many rows."""
    tau = kendall_tau_b_rows(full, scores)
    shift = np.abs(ranks_rows(scores) - ranks_rows(full)).max(axis=1)
    cells: list[float] = []
    for values in (tau, shift):
        known = values[np.isfinite(values)]
        several = len(values) > 1 and len(known)
        low, high = np.quantile(known, [0.025, 0.975]) if several else (np.nan, np.nan)
        cells += [float(known.mean()) if len(known) else np.nan, float(low), float(high)]
    return tuple(cells)
