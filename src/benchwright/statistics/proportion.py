"""Means and shares with their intervals, of independent items and of items that come in clusters.

Items of one passage or stem, and the draws of one item, are not independent and count as one draw
(Miller 2024, arXiv:2411.00640, section 2.2).
"""

from math import nan
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchwright.core.array_types import AnyFloats, Bools, Floats, Integers
from benchwright.statistics.paired_differences import clustered_se


class Bounded(NamedTuple):
    """A metric, its bounds, and why it or they are NaN."""

    value: float
    low: float
    high: float
    reason: str = ""


class MeanInterval(NamedTuple):
    """Means (r,), their standard errors and bounds; `reason` says why errors are NaN."""

    mean: Floats
    se: Floats
    low: Floats
    high: Floats
    reason: str = ""


def wilson_bounds(share: ArrayLike, n: ArrayLike, z: float) -> tuple[Floats, Floats]:
    """Return the bounds of Wilson's score interval of shares of `n` cases (Wilson 1927).

    `n` need not be whole; `z` is the normal quantile of the level.
    """
    p = np.asarray(share, dtype=np.float64)
    size = np.asarray(n, dtype=np.float64)
    centre = p + z * z / (2 * size)
    variance = p * (1 - p) / size + z * z / (4 * size**2)
    spread = z * np.sqrt(variance)
    scale = 1 + z * z / size
    return (centre - spread) / scale, (centre + spread) / scale


def wilson_interval(successes: int, n: int, level: float = 0.95) -> Bounded:
    """Return a share with Wilson's interval at `level` in (0, 1); NaN for n = 0."""
    if n == 0:
        return Bounded(nan, nan, nan, "nothing was counted")
    return _bounded_share(successes / n, n, NormalDist().inv_cdf((1 + level) / 2))


def _bounded_share(share: float, n: float, z: float) -> Bounded:
    low, high = wilson_bounds(share, n, z)
    # Without rounding the bounds at the ends are 0 and 1.
    return Bounded(share, float(low) if share else 0.0, float(high) if share < 1 else 1.0)


def share_with_bounds(name: str, successes: int, n: int) -> dict[str, float]:
    """Return a share and its 95% bounds as `name`, `name_low`, `name_high`; NaN for n = 0."""
    share = wilson_interval(successes, n)
    return {name: share.value, f"{name}_low": share.low, f"{name}_high": share.high}


def clustered_means(values: AnyFloats, clusters: Integers, level: float = 0.95) -> MeanInterval:
    """Return the means of rows (r, n) over items, ± t · the clustered standard error.

    Equal numbers in `clusters` (n,) are one cluster; t has one degree of freedom less than there
    are clusters. Values have no NaN; `level` is in (0, 1).
    """
    from scipy.special import stdtrit

    groups = len(np.unique(clusters))
    blank = np.full(len(values), nan)
    if not values.shape[1]:
        return MeanInterval(blank, blank, blank, blank, "there are no items")
    mean: Floats = values.mean(axis=1, dtype=np.float64)
    if groups < 2:
        return MeanInterval(mean, blank, blank, blank, "the items form one cluster; 2 are needed")
    error = clustered_se(values, clusters)
    reach = float(stdtrit(groups - 1, (1 + level) / 2)) * error
    return MeanInterval(mean, error, mean - reach, mean + reach)


def bounded_mean(values: AnyFloats, clusters: Integers) -> Bounded:
    """Return the mean of one row (n,) with its 95% bounds by `clustered_means`."""
    means = clustered_means(values[None, :], clusters)
    return Bounded(float(means.mean[0]), float(means.low[0]), float(means.high[0]), means.reason)


def clustered_share(hits: Bools, clusters: Integers) -> Bounded:
    """Return a share with Wilson's 95% interval at the effective number of cases.

    The number of cases is divided by the design effect, the variance with whole clusters over that
    of independent cases, where it is above 1 (Dean & Pagano 2015). Where all cases are equal, each
    cluster counts as one case.

    `hits` and `clusters` are (n,), equal numbers one cluster.
    """
    from scipy.special import ndtri

    if not len(hits):
        return Bounded(nan, nan, nan, "nothing was counted")
    share = float(np.mean(hits))
    effective = _effective_cases(hits, clusters, share)
    return _bounded_share(share, effective, float(ndtri(0.975)))


def _effective_cases(hits: Bools, clusters: Integers, share: float) -> float:
    n = len(hits)
    groups = len(np.unique(clusters))
    if groups == n:
        return float(n)
    binomial = share * (1 - share) / n
    if binomial == 0 or groups < 2:
        return float(groups)
    variance = float(clustered_se(hits[None, :].astype(np.float64), clusters)[0]) ** 2
    return n / max(variance / binomial, 1.0)
