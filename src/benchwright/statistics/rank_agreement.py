"""Do two scorings put the same models in the same order? Rank correlations and rank shifts.

All functions take two vectors of scores of the same m models, higher is better, and leave out
models whose score is missing (NaN) in either. Where a figure cannot be given it is NaN and says
why; nothing here raises on data.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.statistics.correlation_rows import FEWEST_MODELS, pearson_rows, ranks_rows
from benchwright.statistics.kendall import kendall_tau_b_rows

__all__ = [
    "FEWEST_MODELS",
    "Coefficient",
    "RankShift",
    "kendall_tau_b",
    "pearson",
    "rank_shift",
    "ranks",
    "spearman",
]


class Coefficient(NamedTuple):
    """A figure over n models; `reason` says why `value` is NaN and is "" otherwise."""

    value: float
    n: int
    reason: str = ""


class RankShift(NamedTuple):
    """Mean and largest absolute change of rank over n models, in ranks."""

    mean: float
    largest: float
    n: int
    reason: str = ""


def ranks(scores: ArrayLike) -> NDArray[np.float64]:
    """Ranks of scores (m,): 1 is the best, ties share their average, NaN stays NaN."""
    return ranks_rows(np.asarray(scores, dtype=np.float64)[None, :])[0]


def kendall_tau_b(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """Kendall's tau-b in [−1, 1]: tau with ties, (C − D) / √((P − Tx)(P − Ty)).

    C and D are the concordant and discordant pairs of P = m(m−1)/2; Tx and Ty the pairs tied in
    x and in y (Kendall 1945). O(m log m).
    """
    a, b, reason = _paired(x, y)
    if reason:
        return Coefficient(np.nan, len(a), reason)
    return Coefficient(float(kendall_tau_b_rows(a, b[None, :])[0]), len(a))


def pearson(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """Pearson's correlation of the scores themselves, in [−1, 1]."""
    a, b, reason = _paired(x, y)
    if reason:
        return Coefficient(np.nan, len(a), reason)
    return Coefficient(float(pearson_rows(a, b[None, :])[0]), len(a))


def spearman(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """Spearman's correlation: Pearson's of the average ranks, in [−1, 1]."""
    a, b, reason = _paired(x, y)
    if reason:
        return Coefficient(np.nan, len(a), reason)
    return pearson(ranks(a), ranks(b))


def rank_shift(x: ArrayLike, y: ArrayLike) -> RankShift:
    """How far models move between two rankings: mean and largest |rank in x − rank in y|."""
    a, b = _complete(x, y)
    if len(a) < 2:
        return RankShift(np.nan, np.nan, len(a), _too_few(len(a), 2))
    shift = np.abs(ranks(a) - ranks(b))
    return RankShift(float(shift.mean()), float(shift.max()), len(a))


def _complete(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"two vectors of one length are needed, got {a.shape} and {b.shape}")
    known = ~(np.isnan(a) | np.isnan(b))
    return a[known], b[known]


def _paired(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    """The complete pairs, and why no correlation of them exists ("" where it does)."""
    a, b = _complete(x, y)
    if len(a) < FEWEST_MODELS:
        return a, b, _too_few(len(a), FEWEST_MODELS)
    if a.min() == a.max() or b.min() == b.max():
        return a, b, "all models have the same score, so there is no order to compare"
    return a, b, ""


def _too_few(n: int, needed: int) -> str:
    return f"{n} model{'' if n == 1 else 's'}; at least {needed} are needed"
