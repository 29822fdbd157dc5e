"""Is the ranking of models the same on the kept items? (SMART, Table 3.)"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.params.evaluation import RatingsParams
from benchwright.pipelines.evaluation.ratings import Ratings, rating_of, read_ratings
from benchwright.statistics.rank_agreement import (
    Coefficient,
    kendall_tau_b,
    pearson,
    rank_shift,
    spearman,
)
from benchwright.tables import RankAgreementTable

GROUPS = {"all": "models", "filter": "filter models", "held_out": "held-out models"}


class _Row(NamedTuple):
    metric: str
    value: float
    n_models: int
    n_items: int
    reason: str


def compare_ranks(
    scores: pd.DataFrame, user_ratings: pd.DataFrame, ratings: RatingsParams
) -> pd.DataFrame:
    """Compare the ranking on all items with the ranking on the kept items.

    Kendall's tau-b comes first because it handles ties; then Spearman, Pearson, rank shifts, and
    Pearson's correlation with human ratings before and after, over the rated models. Given for
    all models, for those that chose the items and for those held out; a figure that cannot be
    given is empty and says why.
    """
    known = read_ratings(user_ratings, ratings)
    rows: list[tuple[Any, ...]] = []
    for group in GROUPS:
        part = scores if group == "all" else scores[scores["role"] == group]
        rows += [(group, *row) for row in _explained(part, group, known)]
    return RankAgreementTable.from_rows(rows)


def _explained(part: pd.DataFrame, group: str, ratings: Ratings) -> Iterator[_Row]:
    """The group's rows, with the cause named where there is nothing to compare at all."""
    for row in _compare(part, ratings):
        if part.empty:
            yield row._replace(reason=f"no {GROUPS[group]}")
        elif not part["n_kept"].max():
            yield row._replace(value=np.nan, reason="none of the panel's items was kept")
        else:
            yield row


def _compare(part: pd.DataFrame, ratings: Ratings) -> Iterator[_Row]:
    full = part["accuracy_full"].to_numpy(dtype=np.float64)
    kept = part["accuracy_kept"].to_numpy(dtype=np.float64)
    n_full = int(part["n_full"].max()) if len(part) else 0
    n_kept = int(part["n_kept"].max()) if len(part) else 0

    for metric, coefficient in (
        ("kendall_tau_b", kendall_tau_b(full, kept)),
        ("spearman", spearman(full, kept)),
        ("pearson", pearson(full, kept)),
    ):
        yield _Row(metric, coefficient.value, coefficient.n, n_full, coefficient.reason)
    shift = rank_shift(full, kept)
    yield _Row("mean_rank_shift", shift.mean, shift.n, n_full, shift.reason)
    yield _Row("max_rank_shift", shift.largest, shift.n, n_full, shift.reason)

    rated = np.array([rating_of(str(model), ratings) for model in part["model"]], dtype=np.float64)
    for metric, accuracies, n_items in (
        ("arena_pearson_full", full, n_full),
        ("arena_pearson_kept", kept, n_kept),
    ):
        seen = pearson(accuracies, rated)
        yield _Row(metric, seen.value, seen.n, n_items, _rated_reason(seen))


def _rated_reason(seen: Coefficient) -> str:
    return seen.reason.replace("model", "rated model", 1)
