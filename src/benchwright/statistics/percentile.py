"""Percentiles and p-values of a value among random draws, and correction of many tests."""

from math import nan

import numpy as np
from numpy.typing import ArrayLike

from benchwright.core.array_types import Floats

# Metrics closer than this are equal: scores are rounded to 12 decimals, and metrics in points
# are 100 times their differences.
_TOLERANCE = 1e-9


def percentile_among(value: float, draws: ArrayLike) -> float:
    """Return the share of `draws` (s,) below `value`, ties counted half, in percent.

    NaN draws do not count; NaN where `value` is NaN or no draw is left.
    """
    below, equal, total = _standing(value, draws)
    return 100 * (below + equal / 2) / total if total else nan


def two_sided_p(value: float, draws: ArrayLike) -> float:
    """Return the two-sided Monte Carlo p-value of `value` among `draws` (s,), in (0, 1].

    Twice the smaller of (1 + draws at or below) / (1 + s) and (1 + draws at or above) / (1 + s),
    at most 1 (Davison & Hinkley 1997, section 4.2): never 0, since the value itself is one of the
    draws under the hypothesis. NaN as in `percentile_among`.
    """
    below, equal, total = _standing(value, draws)
    if not total:
        return nan
    above = total - below - equal
    return min(1.0, 2 * (1 + equal + min(below, above)) / (1 + total))


def _standing(value: float, draws: ArrayLike) -> tuple[int, int, int]:
    """Count the draws below `value`, equal to it, and not NaN (all 0 if `value` is NaN)."""
    known: Floats = np.asarray(draws, dtype=np.float64)
    known = known[~np.isnan(known)]
    if np.isnan(value):
        return 0, 0, 0
    equal = (known == value) | (np.abs(known - value) <= _TOLERANCE)
    below = (known < value) & ~equal
    return int(below.sum()), int(equal.sum()), len(known)


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p-values (k,) by Holm's method, in the given order; NaN stay NaN and do not count.

    The i-th smallest of k is multiplied by k − i + 1, at least its predecessor's, at most 1.
    """
    p = np.asarray(p_values, dtype=np.float64)
    out = np.full(p.shape, nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    out[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1)
    return out
