"""Krippendorff's alpha: how far several raters agree, beyond chance, with missing ratings allowed.

alpha = 1 − D_o / D_e. D_o is the disagreement seen within units, D_e that of ratings paired at
random over all units (Krippendorff, Content Analysis, 4th ed. 2019, chapter 12; "Computing
Krippendorff's Alpha-Reliability", 2011). 1 is perfect, 0 what chance gives, below 0 worse than
chance.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.statistics.bootstrap import Interval, percentile_interval

Float = NDArray[np.float64]
Scale = Literal["nominal", "ordinal", "interval"]


class Alpha(NamedTuple):
    """Agreement over `units` that two or more raters rated; `reason` says why `value` is NaN."""

    value: float
    units: int
    reason: str = ""


def krippendorff_alpha(ratings: ArrayLike, scale: Scale) -> Alpha:
    """Return Krippendorff's alpha of raters × units.

    Args:
        ratings: (raters, units), NaN where a rater did not rate. Units with one
            rating are left out.
        scale: the weight of a difference between two ratings. `nominal`: 1. `interval`: its square.
            `ordinal`: the square of the number of ratings between the two, half of each end.

    Raises:
        ValueError: `ratings` is not a matrix.
    """
    counted = _counted(ratings)
    reason = _why_none(counted)
    if reason:
        return Alpha(np.nan, len(counted.coincidences), reason)
    total = counted.coincidences.sum(axis=0)
    return Alpha(_alpha(total, counted.values, scale), len(counted.coincidences))


def krippendorff_interval(
    ratings: ArrayLike, scale: Scale, draws: int, generator: np.random.Generator
) -> Interval:
    """Return the percentile interval of alpha over resampled units, the raters fixed.

    Resamples in which all ratings are equal have no alpha and are left out.

    `ratings` and `scale` are as for `krippendorff_alpha`.
    """
    counted = _counted(ratings)
    reason = _why_none(counted)
    units, k = counted.coincidences.shape[:2]
    if units < 2 and not reason:
        reason = "one unit has two ratings; 2 are needed for an interval"
    if reason:
        return Interval(np.nan, np.nan, 0, reason)
    flat = counted.coincidences.reshape(units, k * k)
    values = np.full(draws, np.nan)
    for draw in range(draws):
        counts = np.bincount(generator.integers(0, units, units), minlength=units)
        values[draw] = _alpha((counts @ flat).reshape(k, k), counted.values, scale)
    return percentile_interval(values)


class _Counted(NamedTuple):
    """The k different ratings, and each unit's coincidences (u, k, k) of ordered pairs."""

    values: Float
    coincidences: Float


def _counted(ratings: ArrayLike) -> _Counted:
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"expected raters × units, got {table.ndim} dimensions")
    known = ~np.isnan(table)
    paired = known.sum(axis=0) >= 2
    table, known = table[:, paired], known[:, paired]
    values = np.unique(table[known])
    counts = (
        np.stack([(table == value).sum(axis=0) for value in values], axis=1, dtype=np.float64)
        if len(values)
        else np.zeros((0, 0))
    )
    pairs = counts[:, :, None] * counts[:, None, :]
    places = np.arange(len(values))
    pairs[:, places, places] -= counts
    raters = counts.sum(axis=1)
    return _Counted(values, pairs / np.maximum(raters - 1, 1)[:, None, None])


def _why_none(counted: _Counted) -> str:
    if not len(counted.coincidences):
        return "no unit has ratings of two raters"
    if len(counted.values) < 2:
        return "all ratings are equal: there is nothing to agree on"
    return ""


def _alpha(coincidences: Float, values: Float, scale: Scale) -> float:
    """Alpha of summed coincidences (k, k); NaN where only one rating occurs."""
    margins = coincidences.sum(axis=1)
    distance = _distance(margins, values, scale)
    expected = float(margins @ distance @ margins)
    if expected <= 0:
        return np.nan
    return 1 - (margins.sum() - 1) * float((coincidences * distance).sum()) / expected


def _distance(margins: Float, values: Float, scale: Scale) -> Float:
    if scale == "nominal":
        return 1 - np.eye(len(values))
    # Ratings up to each value, with half of those equal to it: the positions on the ordinal scale.
    place = values if scale == "interval" else np.cumsum(margins) - margins / 2
    return np.asarray((place[:, None] - place[None, :]) ** 2)
