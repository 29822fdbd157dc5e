"""Krippendorff's alpha: how far several raters agree, beyond chance, with missing ratings allowed.

alpha = 1 − D_o / D_e. D_o is the disagreement seen within units, D_e that of ratings paired at
random over all units (Krippendorff, Content Analysis, 4th ed. 2019, chapter 12; "Computing
Krippendorff's Alpha-Reliability", 2011). 1 is perfect, 0 what chance gives, below 0 worse than
chance.
"""

from math import nan
from typing import Literal, NamedTuple

import numpy as np

from benchwright.core.array_types import AnyFloats, Floats
from benchwright.statistics.bootstrap import percentile_interval

Scale = Literal["nominal", "ordinal", "interval"]


class Alpha(NamedTuple):
    """Agreement over `units` that two or more raters rated, with its 95% interval.

    `reason` says why the value or its bounds are NaN, or holds a caveat.
    """

    value: float
    low: float
    high: float
    units: int
    reason: str = ""


def krippendorff_alpha(
    ratings: AnyFloats, scale: Scale, draws: int, generator: np.random.Generator
) -> Alpha:
    """Return Krippendorff's alpha of raters × units.

    The interval is the percentile one over `draws` resamples of the units, the raters fixed;
    resamples in which all ratings are equal have no alpha and are left out.

    Args:
        ratings: (raters, units), NaN where a rater did not rate. Units with one
            rating are left out.
        scale: the weight of a difference between two ratings. `nominal`: 1. `interval`: its square.
            `ordinal`: the square of the number of ratings between the two, half of each end.
        draws: number of resamples.
        generator: draws them.
    """
    rated = ratings[:, (~np.isnan(ratings)).sum(axis=0) >= 2]
    values = np.unique(rated[~np.isnan(rated)])
    units = rated.shape[1]
    blank = Alpha(nan, nan, nan, units)
    if not units:
        return blank._replace(reason="no unit has ratings of two raters")
    k = len(values)
    if k < 2:
        return blank._replace(reason="all ratings are equal: there is nothing to agree on")
    flat = _coincidences(rated, values).reshape(units, k * k)
    value = _alpha(flat.sum(axis=0).reshape(k, k), values, scale)
    if units < 2:
        reason = "one unit has two ratings; 2 are needed for an interval"
        return blank._replace(value=value, reason=reason)
    resampled = np.empty(draws)
    for draw in range(draws):
        times = np.bincount(generator.integers(0, units, units), minlength=units)
        resampled[draw] = _alpha((times @ flat).reshape(k, k), values, scale)
    interval = percentile_interval(resampled)
    return Alpha(value, interval.low, interval.high, units, interval.reason)


def _coincidences(rated: AnyFloats, values: AnyFloats) -> Floats:
    """Return how often two of k `values` meet as ordered ratings of each unit (units, k, k)."""
    counts = (rated.T[:, :, None] == values).sum(axis=1).astype(np.float64)  # (units, k)
    others = counts[:, None, :] - np.eye(len(values))  # without the rating itself
    pairs = counts[:, :, None] * others
    return np.asarray(pairs / (counts.sum(axis=1) - 1)[:, None, None])


def _alpha(coincidences: Floats, values: Floats, scale: Scale) -> float:
    """Alpha of summed coincidences (k, k); NaN where only one rating occurs."""
    margins = coincidences.sum(axis=1)
    distance = _distance(margins, values, scale)
    expected = float(margins @ distance @ margins)
    if expected <= 0:
        return nan
    return 1 - (margins.sum() - 1) * float((coincidences * distance).sum()) / expected


def _distance(margins: Floats, values: Floats, scale: Scale) -> Floats:
    if scale == "nominal":
        return 1 - np.eye(len(values))
    place = values
    if scale == "ordinal":  # ratings up to each value, with half of those equal to it
        place = np.cumsum(margins) - margins / 2
    return np.asarray((place[:, None] - place) ** 2)
