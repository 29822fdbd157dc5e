"""Accuracy before and after, of models, pairs of models and subjects (SMART, Tables 2, 9–12)."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import Panel, panel_responses
from benchwright.statistics.paired_differences import clustered_se
from benchwright.statistics.rank_agreement import ranks
from benchwright.tables.evidence import Agreement, Scores, SubjectShares

_AGREEMENT_MODELS = 30  # of which all pairs are compared


def score_models(
    response_matrix: ResponseMatrix, items: pd.DataFrame, kept_items: pd.DataFrame, panel: Panel
) -> pd.DataFrame:
    """Score every panel model on the panel's items and on those of them that were kept.

    Both scores use only items that all panel models answered, so ranks are comparable. Standard
    errors are over items, clustered by passage or stem. The best model comes first.
    """
    if not panel.models:
        return Scores.empty()
    responses = panel_responses(response_matrix, items, panel, list(panel.models))
    kept = responses.among(set(kept_items["item_id"]))
    table = pd.DataFrame(
        {
            "model": panel.models,
            "role": panel.roles,
            **_columns("full", responses.correct, responses.clusters),
            **_columns("kept", responses.correct[:, kept], responses.clusters[kept]),
        }
    )
    order = np.lexsort((table["model"].to_numpy(dtype=object), table["rank_full"].to_numpy()))
    return table.iloc[order].reset_index(drop=True)


def _columns(
    on: str, correct: NDArray[np.float64], clusters: NDArray[np.intp]
) -> dict[str, NDArray[np.generic]]:
    answered = ~np.isnan(correct)
    n = answered.sum(axis=1).astype(np.int64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(answered, correct, 0).sum(axis=1) / n
    return {
        f"n_{on}": n,
        f"accuracy_{on}": mean,
        f"se_{on}": clustered_se(correct, clusters),
        f"rank_{on}": ranks(mean),
    }


def compare_responses(
    response_matrix: ResponseMatrix,
    kept_items: pd.DataFrame,
    scores: pd.DataFrame,
    panel: Panel,
) -> pd.DataFrame:
    """Measure the agreement between models before and after filtering.

    The table compares chosen options if all models have them for at least half of the items,
    otherwise correctness; all pairs have the same kind, so that they are comparable. Pairs are in
    order of the ranking. Many models are thinned to a selection spread over the ranking.
    """
    ranked = [str(model) for model in scores["model"]]
    models = spread(ranked, _AGREEMENT_MODELS)
    if len(models) < 2:
        return Agreement.empty()
    kept = set(kept_items["item_id"])
    matrix = response_matrix.select_models(models)
    full = matrix.select_items(panel.item_ids)
    part = matrix.select_items([item for item in panel.item_ids if item in kept])
    known = (full.prediction >= 0).sum(axis=1)
    kind = "prediction" if (2 * known >= max(len(panel.item_ids), 1)).all() else "correctness"
    before, n_before = _pairs(full, kind)
    after, n_after = _pairs(part, kind)
    rows = [
        (models[a], models[b], kind, n_before[a, b], before[a, b], n_after[a, b], after[a, b])
        for a, b in zip(*np.triu_indices(len(models), k=1), strict=True)
    ]
    return Agreement.from_rows(rows)


def spread(ranked: list[str], most: int) -> list[str]:
    """Return at most `most` of the ranked names, evenly spaced, with the first and last."""
    if len(ranked) <= most:
        return ranked
    chosen = np.linspace(0, len(ranked) - 1, most).round().astype(int)
    return [ranked[i] for i in chosen]


def _pairs(matrix: ResponseMatrix, kind: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the share (m, m) of items on which two models agree, or NaN, and the items counted.

    Two models agree if they choose the same option or, for `correctness`, if both have at least
    half of the points or neither has. Unknown options and missing answers are not counted.
    """
    if kind == "prediction":
        known = matrix.prediction >= 0
        kinds = [matrix.prediction == option for option in np.unique(matrix.prediction[known])]
    else:
        known = matrix.answered()
        right = np.nan_to_num(matrix.correct) >= 0.5
        kinds = [right, known & ~right]
    both = _items_shared(known)
    same = sum((_items_shared(marked) for marked in kinds), np.zeros_like(both))
    with np.errstate(invalid="ignore", divide="ignore"):
        return same / both, both


def _items_shared(marked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the numbers (m, m) of items that are marked for both of two models."""
    # Counts are exact in float64, and a float matrix product is a BLAS call.
    values = marked.astype(np.float64)
    return np.rint(values @ values.T).astype(np.int64)


def count_subjects(items: pd.DataFrame, kept_items: pd.DataFrame) -> pd.DataFrame:
    """Count the items of each subject before and after, the largest share removed first."""
    full = items["subject"].value_counts()
    kept = kept_items["subject"].value_counts().reindex(full.index, fill_value=0)
    removed = 1 - kept / full
    table = SubjectShares.from_rows(zip(full.index, full, kept, removed, strict=True))
    return table.sort_values(
        ["share_removed", "subject"], ascending=[False, True], ignore_index=True
    )
