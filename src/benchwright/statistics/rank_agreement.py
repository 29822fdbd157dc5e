"""Rank correlations and rank shifts between two sets of scores of the same models.

Functions named `…_rows` take many sets of scores, one a row: `x` (m,), (1, m) or (s, m) and `y`
(s, m); the others take two vectors (m,). Higher is better. Models whose score is missing (NaN) in
either are left out of that row. Undefined metrics are NaN, single ones with a reason.
"""

from collections.abc import Callable
from math import nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchwright.core.array_types import Floats
from benchwright.core.wording import count

FEWEST_MODELS = 3  # with two models every correlation is −1 or +1

RowMetric = Callable[[ArrayLike, ArrayLike], Floats]
"""A metric of each row of two sets of scores."""


def complete_rows(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Return `x` (1, m) or (s, m) and `y` (s, m) with NaN in the same places of every row.

    One row of `x` stays one row where nothing is missing.

    Raises:
        ValueError: the two do not hold the same models, or not the same number of rows.
    """
    a = np.atleast_2d(np.asarray(x, dtype=np.float64))
    b = np.atleast_2d(np.asarray(y, dtype=np.float64))
    if a.shape[1] != b.shape[1] or len(a) not in {1, len(b)}:
        raise ValueError(f"expected rows of equal length, got {a.shape} and {b.shape}")
    missing = np.isnan(a) | np.isnan(b)
    if not missing.any():
        return a, b
    return np.where(missing, nan, a), np.where(missing, nan, b)


def ranks_rows(scores: Floats) -> Floats:
    """Rank each row (s, m): 1 is the best, ties share their average, NaN stays NaN."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-scores, axis=1, nan_policy="omit"), dtype=np.float64)


def pearson_rows(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return Pearson's correlation (s,); NaN with fewer than three models or no spread."""
    a, b = complete_rows(x, y)
    if b.shape[1] < FEWEST_MODELS:
        return np.full(len(b), nan)
    with np.errstate(invalid="ignore"):
        r = (_standardised(a) * _standardised(b)).sum(axis=1)
    return np.clip(r, -1, 1)


def spearman_rows(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return Spearman's correlation (s,): Pearson's of the average ranks."""
    a, b = complete_rows(x, y)
    return pearson_rows(ranks_rows(a), ranks_rows(b))


def mean_rank_shift_rows(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return the mean |rank in x − rank in y| (s,); NaN with fewer than two models."""
    a, b = complete_rows(x, y)
    return row_means(np.abs(ranks_rows(a) - ranks_rows(b)), fewest=2)


def row_means(values: Floats, fewest: int = 1) -> Floats:
    """Return the mean of each row (s,) without NaN; NaN with fewer than `fewest` values."""
    known = ~np.isnan(values)
    n = known.sum(axis=1)
    total = np.where(known, values, 0).sum(axis=1)
    return np.where(n >= fewest, total / np.maximum(n, 1), nan)


def _standardised(values: Floats) -> Floats:
    """Rows centred to mean 0 and scaled to length 1, missing values 0; NaN where no correlation is.

    The first scaling keeps tiny spreads from 0/0.
    """
    known = ~np.isnan(values)
    n = known.sum(axis=1, keepdims=True)
    total = np.where(known, values, 0).sum(axis=1, keepdims=True)
    centred: Floats = np.where(known, values - total / np.maximum(n, 1), 0)
    low = np.min(values, axis=1, keepdims=True, initial=np.inf, where=known)
    high = np.max(values, axis=1, keepdims=True, initial=-np.inf, where=known)
    defined = (n >= FEWEST_MODELS) & (low < high)
    largest = np.abs(centred).max(axis=1, keepdims=True, initial=0)
    centred /= np.where(defined, largest, nan)
    return np.asarray(centred / np.linalg.norm(centred, axis=1, keepdims=True))


_MOST_BY_PAIRS = 800  # models up to which comparing all pairs is faster than sorting


def kendall_tau_b_rows(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return Kendall's tau-b (s,) of scores `x` (m,) or (s, m) with each row of `y` (s, m).

    (C − D) / √(Ux · Uy): concordant and discordant pairs of models, and the pairs that differ in x
    and in y. Models with NaN in a row are left out of that row. NaN where a row has fewer than
    three models or all of them tie in either.

    Raises:
        ValueError: the two do not hold the same models, or not the same number of rows.
    """
    a, b = complete_rows(x, y)
    tau_b = _tau_b_by_pairs if b.shape[1] <= _MOST_BY_PAIRS else _tau_b_by_sorting
    a = np.broadcast_to(a, b.shape)
    enough = (~np.isnan(b)).sum(axis=1) >= FEWEST_MODELS
    out = np.full(len(b), nan)
    for row in np.flatnonzero(enough):
        out[row] = tau_b(a[row], b[row])
    return out


def _tau_b_by_pairs(x: Floats, y: Floats) -> float:
    x_above = x[:, None] > x
    y_above = y[:, None] > y
    concordant = np.count_nonzero(x_above & y_above)
    discordant = np.count_nonzero(x_above & y_above.T)
    untied = np.count_nonzero(x_above) * np.count_nonzero(y_above)
    # The root of the product, not the product of roots: equal orders give exactly 1.
    return (concordant - discordant) / sqrt(untied) if untied else nan


def _tau_b_by_sorting(x: Floats, y: Floats) -> float:
    from scipy.stats import kendalltau

    known = ~np.isnan(y)
    return float(kendalltau(x[known], y[known], method="asymptotic").statistic)


class Coefficient(NamedTuple):
    """A metric over n models; `reason` says why `value` is NaN and is "" otherwise."""

    value: float
    n: int
    reason: str = ""


def ranks(scores: ArrayLike) -> Floats:
    """Rank scores (m,): 1 is the best, ties share their average, NaN stays NaN."""
    return ranks_rows(np.asarray(scores, dtype=np.float64)[None, :])[0]


def kendall_tau_b(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """Return Kendall's tau-b in [−1, 1] (Kendall 1945), as `kendall_tau_b_rows`."""
    return _correlation(kendall_tau_b_rows, x, y)


def pearson(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """Return Pearson's correlation of the scores, in [−1, 1]."""
    return _correlation(pearson_rows, x, y)


def spearman(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """Return Spearman's correlation, in [−1, 1]."""
    return _correlation(spearman_rows, x, y)


def mean_rank_shift(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """Return the mean |rank in x − rank in y|, in ranks."""
    return _rank_shift(np.mean, x, y)


def max_rank_shift(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """Return the largest |rank in x − rank in y|, in ranks."""
    return _rank_shift(np.max, x, y)


def _rank_shift(summary: Callable[[Floats], float], x: ArrayLike, y: ArrayLike) -> Coefficient:
    a, b = _complete(x, y)
    n = len(a)
    if n < 2:
        return Coefficient(nan, n, too_few(n, 2))
    shifts = np.abs(ranks(a) - ranks(b))
    return Coefficient(float(summary(shifts)), n)


def _correlation(correlation_rows: RowMetric, x: ArrayLike, y: ArrayLike) -> Coefficient:
    a, b = _complete(x, y)
    n = len(a)
    if n < FEWEST_MODELS:
        return Coefficient(nan, n, too_few(n, FEWEST_MODELS))
    if a.min() == a.max() or b.min() == b.max():
        reason = "all models have the same score, so there is no order to compare"
        return Coefficient(nan, n, reason)
    return Coefficient(float(correlation_rows(a, b)[0]), n)


def _complete(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Return the scores of the models that have both."""
    a, b = complete_rows(x, y)
    known = ~np.isnan(a[0])
    return a[0, known], b[0, known]


def too_few(n: int, needed: int) -> str:
    """Say that n models are fewer than needed."""
    return f"{count(n, 'model')}; at least {needed} are needed"


def williams_test(r_jk: float, r_jh: float, r_kh: float, n: int) -> Coefficient:
    """Return the two-sided p-value of equal correlations of j with k and of j with h (Williams).

    All three are Pearson's over the same n models: j could be a human rating, k and h accuracy on
    all and on the kept items. t has n − 3 degrees of freedom. NaN with a reason where a correlation
    is missing, with fewer than four models, and where k and h are the same variable up to scale.
    """
    from scipy.special import stdtr

    if n < 4:
        return Coefficient(nan, n, too_few(n, 4))
    if np.isnan([r_jk, r_jh, r_kh]).any():
        return Coefficient(nan, n, "a correlation is missing")
    if r_kh >= 1 - 1e-12:
        return Coefficient(nan, n, "the two scores compared are the same up to scale")
    determinant = max(1 - r_jk**2 - r_jh**2 - r_kh**2 + 2 * r_jk * r_jh * r_kh, 0.0)
    mean = (r_jk + r_jh) / 2
    spread = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r_kh) ** 3
    if spread <= 0:
        return Coefficient(nan, n, "the correlations are perfect")
    t = float((r_jk - r_jh) * np.sqrt((n - 1) * (1 + r_kh) / spread))
    p_value = 2 * float(stdtr(n - 3, -abs(t)))
    return Coefficient(p_value, n)
