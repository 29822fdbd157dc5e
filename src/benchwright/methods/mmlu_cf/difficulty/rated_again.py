"""Judges' ratings of the same questions before and after the contamination-free rules."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.statistics.clustered_mean import clustered_means, clustered_share

LEVEL = 0.95


def ratings_again(
    before: pd.DataFrame, after: pd.DataFrame, documents: "pd.Series[str]"
) -> dict[str, Any]:
    """How far the rules moved the ratings, over the questions that judges rated both times.

    Intervals (95%) are t intervals of the paired difference and Wilson's of the share, both over
    documents, since questions of one page stand or fall together.

    Args:
        before: an `ItemDifficulty` table.
        after: another, of the questions as they are in the benchmark; may have no rows.
        documents: the document of each question of `after`, by item id; null where not known.

    Returns:
        `n` pairs of `of` questions; `before` and `after`, the mean ratings 0–9; `shift`, after −
        before, with `low` and `high`; `same`, the share of equal levels, with `same_low` and
        `same_high`; the shares `harder` and `easier`; `reason`, why figures are absent (None).
    """
    ratings = [_judged(table) for table in (before, after)]
    ids = sorted(set(ratings[0].index) & set(ratings[1].index))
    told: dict[str, Any] = {"n": len(ids), "of": len(after)}
    figures = ("before", "after", "shift", "low", "high", "same", "same_low", "same_high")
    if not ids:
        reason = "no question was rated both before and after the rules"
        return {**told, **dict.fromkeys((*figures, "harder", "easier")), "reason": reason}
    old, new = (table.loc[ids] for table in ratings)
    pages = documents.reindex(ids).tolist()
    own = [
        page if isinstance(page, str) else f" {one}" for one, page in zip(ids, pages, strict=True)
    ]
    _, clusters = np.unique(own, return_inverse=True)
    difference = (new["difficulty"] - old["difficulty"]).to_numpy(np.float64)
    mean = clustered_means(difference[None, :], clusters, LEVEL)
    moved = (new["level"] - old["level"]).to_numpy(np.float64)
    same = clustered_share(moved == 0, clusters, LEVEL)
    values = (
        *(old["difficulty"].mean(), new["difficulty"].mean()),
        *(mean.mean[0], mean.low[0], mean.high[0], same.share, same.low, same.high),
    )
    told |= {name: _number(value) for name, value in zip(figures, values, strict=True)}
    shares = {"harder": _number((moved > 0).mean()), "easier": _number((moved < 0).mean())}
    return {**told, **shares, "reason": mean.reason or same.reason}


def _judged(table: pd.DataFrame) -> pd.DataFrame:
    own = table[table["source"].eq("judges")]
    return own.set_index("item_id")[["difficulty", "level"]]


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)
