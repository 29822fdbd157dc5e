"""Ranks and correlations of many scorings of the same models at once, one scoring a row.

Every function takes scorings as rows: `x` (m,), (1, m) or (s, m) and `y` (s, m), higher is better.
A model whose score is missing (NaN) in either is left out of that row. Nothing here raises on data:
where a figure does not exist it is NaN.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]

FEWEST_MODELS = 3  # with two models every correlation is −1 or +1


def complete_rows(x: ArrayLike, y: ArrayLike) -> tuple[Float, Float]:
    """`x` (1, m) or (s, m) and `y` (s, m) with NaN in the same places of every row.

    One row of `x` stays one row where nothing is missing, so that what is computed from it is
    computed once.

    Raises:
        ValueError: the two do not hold the same models, or not the same number of rows.
    """
    a = np.atleast_2d(np.asarray(x, dtype=np.float64))
    b = np.atleast_2d(np.asarray(y, dtype=np.float64))
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1] or len(a) not in {1, len(b)}:
        raise ValueError(f"rows of one length are needed, got {a.shape} and {b.shape}")
    missing = np.isnan(a) | np.isnan(b)
    if not missing.any():
        return a, b
    return np.where(missing, np.nan, a), np.where(missing, np.nan, b)


def ranks_rows(scores: Float) -> Float:
    """Ranks (s, m) within each row: 1 is the best, ties share their average, NaN stays NaN."""
    s, m = scores.shape
    order = np.argsort(-scores, axis=1)
    ordered = np.take_along_axis(scores, order, axis=1)
    differs = ordered[:, 1:] != ordered[:, :-1]
    places = np.arange(m)
    starts, ends = np.zeros((s, m), dtype=np.intp), np.full((s, m), m - 1, dtype=np.intp)
    starts[:, 1:] = np.where(differs, places[1:], 0)
    ends[:, :-1] = np.where(differs, places[:-1], m - 1)
    np.maximum.accumulate(starts, axis=1, out=starts)
    backwards = ends[:, ::-1]
    np.minimum.accumulate(backwards, axis=1, out=backwards)
    average = (starts + ends) / 2 + 1
    average[np.isnan(ordered)] = np.nan
    out = np.empty((s, m))
    np.put_along_axis(out, order, average, axis=1)
    return out


def pearson_rows(x: ArrayLike, y: ArrayLike) -> Float:
    """Pearson's correlation (s,) in [−1, 1]; NaN with fewer than three models or no spread."""
    a, b = complete_rows(x, y)
    if b.shape[1] < FEWEST_MODELS:
        return np.full(len(b), np.nan)
    with np.errstate(invalid="ignore"):
        return np.clip((_standardised(a) * _standardised(b)).sum(axis=1), -1, 1)


def spearman_rows(x: ArrayLike, y: ArrayLike) -> Float:
    """Spearman's correlation (s,): Pearson's of the average ranks."""
    a, b = complete_rows(x, y)
    return pearson_rows(ranks_rows(a), ranks_rows(b))


def mean_rank_shift_rows(x: ArrayLike, y: ArrayLike) -> Float:
    """Mean |rank in x − rank in y| (s,), in ranks; NaN with fewer than two models."""
    a, b = complete_rows(x, y)
    return mean_shift_of_ranks(ranks_rows(a), ranks_rows(b))


def mean_shift_of_ranks(x: Float, y: Float) -> Float:
    """Mean |x − y| (s,) of ranks that are known already; NaN with fewer than two models."""
    return row_means(np.abs(x - y), fewest=2)


def row_means(values: Float, fewest: int = 1) -> Float:
    """Mean of what is not NaN in each row (s,); NaN where that is fewer than `fewest` values."""
    known = ~np.isnan(values)
    n = known.sum(axis=1)
    total = np.where(known, values, 0).sum(axis=1)
    return np.where(n >= fewest, total / np.maximum(n, 1), np.nan)


def _standardised(values: Float) -> Float:
    """Rows centred to mean 0 and scaled to length 1, missing values 0; NaN where no correlation is.

    The first scaling keeps tiny spreads from 0/0.
    """
    known = ~np.isnan(values)
    n = known.sum(axis=1, keepdims=True)
    filled = np.where(known, values, 0)
    centre = filled.sum(axis=1, keepdims=True) / np.maximum(n, 1)
    centred: Float = np.where(known, values - centre, 0)
    low = np.where(known, values, np.inf).min(axis=1, keepdims=True, initial=np.inf)
    high = np.where(known, values, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    defined = (n >= FEWEST_MODELS) & (low < high)
    largest = np.abs(centred).max(axis=1, keepdims=True, initial=0)
    centred /= np.where(defined, largest, np.nan)
    out: Float = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    return out
