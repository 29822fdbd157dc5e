"""Means and shares of items that come in clusters, with their intervals.

Items of one passage or stem, and the draws of one item, stand or fall together, so they count as
one draw (Miller 2024, arXiv:2411.00640, section 2.2).
"""

from math import nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.statistics.paired_differences import clustered_se
from benchwright.statistics.rank_agreement import Float


class MeanInterval(NamedTuple):
    """Means (r,), their standard errors and bounds; `reason` says why errors are NaN."""

    mean: Float
    se: Float
    low: Float
    high: Float
    reason: str = ""


class ClusteredShare(NamedTuple):
    """A share in [0, 1] of n cases with its bounds; `reason` says why they are NaN."""

    share: float
    n: int
    low: float
    high: float
    reason: str = ""


class Bounded(NamedTuple):
    """A figure, its bounds, and why it or they are NaN."""

    value: float
    low: float
    high: float
    reason: str = ""


def clustered_means(
    values: NDArray[np.floating], clusters: NDArray[np.integer], level: float = 0.95
) -> MeanInterval:
    """Means of rows (r, n) over items, ± t · the clustered standard error.

    Equal numbers in `clusters` (n,) are one cluster; t has as many degrees of freedom as there are
    clusters, less one. Values may be in any unit, without NaN; `level` is in (0, 1).
    """
    from scipy.special import stdtrit

    groups = len(np.unique(clusters))
    if not values.shape[1]:
        blank = np.full(len(values), np.nan)
        return MeanInterval(blank, blank, blank, blank, "there are no items")
    mean: Float = values.mean(axis=1, dtype=np.float64)
    if groups < 2:
        blank = np.full(len(values), np.nan)
        return MeanInterval(mean, blank, blank, blank, "the items form one cluster; 2 are needed")
    error = clustered_se(values, clusters)
    reach = float(stdtrit(groups - 1, (1 + level) / 2)) * error
    return MeanInterval(mean, error, mean - reach, mean + reach)


def bounded_mean(values: NDArray[np.floating], clusters: NDArray[np.integer]) -> Bounded:
    """The mean of one row (n,) with its 95% bounds, as `clustered_means` gives them."""
    found = clustered_means(values[None, :], clusters)
    return Bounded(float(found.mean[0]), float(found.low[0]), float(found.high[0]), found.reason)


def clustered_share(
    hits: NDArray[np.bool_], clusters: NDArray[np.integer], level: float = 0.95
) -> ClusteredShare:
    """A share with Wilson's interval at the effective number of cases (Wilson 1927).

    The number of cases is divided by the design effect, the variance of the share with whole
    clusters over that of independent cases, where it is above 1 (Dean & Pagano 2015).
    Cases of which each is its own cluster give Wilson's interval. All or none in many clusters show
    no variance; then each cluster counts as one case.

    `hits` and `clusters` are (n,), equal numbers one cluster; `level` is in (0, 1).
    """
    from scipy.special import ndtri

    n = len(hits)
    if not n:
        return ClusteredShare(nan, 0, nan, nan, "nothing was counted")
    share = float(np.mean(hits))
    effective = _effective_cases(hits, clusters, share)
    z = float(ndtri((1 + level) / 2))
    centre = share + z * z / (2 * effective)
    spread = z * sqrt(share * (1 - share) / effective + z * z / (4 * effective**2))
    scale = 1 + z * z / effective
    low = 0.0 if share == 0 else (centre - spread) / scale
    high = 1.0 if share == 1 else (centre + spread) / scale
    return ClusteredShare(share, n, low, high)


def _effective_cases(hits: NDArray[np.bool_], clusters: NDArray[np.integer], share: float) -> float:
    n = len(hits)
    groups = len(np.unique(clusters))
    if groups == n:
        return float(n)
    binomial = share * (1 - share) / n
    if binomial == 0 or groups < 2:
        return float(groups)
    variance = float(clustered_se(hits[None, :].astype(np.float64), clusters)[0]) ** 2
    return n / max(variance / binomial, 1.0)
