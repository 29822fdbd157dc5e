"""Tests and intervals of the difference of two models that answered the same items.

Differences `d` (n,) are answers of the second model minus those of the first, in [−1, 1].
"""

from math import inf
from typing import NamedTuple

import numpy as np

from benchwright.core.array_types import AnyFloats, Integers
from benchwright.statistics.paired_intervals import INFINITE, exact_interval, score_interval
from benchwright.statistics.proportion import clustered_means

_FLIPS = 9_999
_BLOCK = 1_000  # flips in memory at once
_ROUNDING = 1e-12
_EQUAL = 1e-6  # standard error of differences that are equal, but for single precision
# Changed items, drawn or left, from which Tango's bounds of independent items miss in 5.3% for 5%.
_MANY = 200


class PairedDifference(NamedTuple):
    """Mean difference, its standard error (NaN below two clusters) and its bounds."""

    difference: float
    se: float
    low: float
    high: float


def mcnemar_mid_p(better: int, worse: int) -> float:
    """Return the two-sided mid-p-value of the exact McNemar test.

    Of better + worse discordant items, half are better under the hypothesis. The outcome itself
    counts half (Fagerland, Lydersen & Laake 2013); without discordant items the value is 1.
    """
    from scipy.special import bdtr

    n = better + worse
    if not n:
        return 1.0
    fewer = min(better, worse)
    # P(X < fewer) + P(X <= fewer) for X binomial with n draws and p = 1/2
    below = bdtr(fewer - 1, n, 0.5) if fewer else 0.0
    return min(1.0, float(below + bdtr(fewer, n, 0.5)))


def sign_flip_p(d: AnyFloats, clusters: Integers, seed: int = 0) -> float:
    """Return the two-sided p-value of no difference by flipping the signs of whole clusters.

    Under the hypothesis the sum of each cluster is as likely with the other sign. It is the share
    of 9,999 random flips, and of the differences themselves, whose sum is at least as far from 0
    (Phipson & Smyth 2010); 1 where all differences are 0.

    Args:
        d: differences (n,), on any scale.
        clusters: (n,) equal numbers are one cluster.
        seed: of the flips.
    """
    sums = np.bincount(np.unique(clusters, return_inverse=True)[1], weights=d)
    sums = sums[sums != 0]
    observed = abs(float(sums.sum())) * (1 - _ROUNDING)
    generator = np.random.default_rng(seed)
    extreme = 0
    for start in range(0, _FLIPS, _BLOCK):
        count = min(_BLOCK, _FLIPS - start)
        positive = generator.integers(0, 2, size=(count, len(sums)), dtype=np.int8)
        flipped = 2 * (positive @ sums) - sums.sum()
        extreme += int((np.abs(flipped) >= observed).sum())
    return (1 + extreme) / (1 + _FLIPS)


def paired_difference(
    d: AnyFloats, clusters: Integers, level: float = 0.95, total: float = inf
) -> PairedDifference:
    """Return the mean of `d` (n,), n > 0, with its interval for all items.

    Independent answers of 0 and 1 get an exact interval, or Tango's where over 200 items changed,
    drawn and not drawn. Clustered ones get Tango's with n divided by the design effect, where
    it is above 1, and quantiles of t with one degree of freedom less than there are clusters.
    Fractional answers get ± t · the clustered standard error. Where all differences are equal, each
    cluster counts as one item.

    Args:
        d: differences.
        clusters: (n,) equal numbers are one cluster.
        level: of the interval.
        total: number of items from which these were drawn at random, by default infinitely many
            of this kind.
    """
    from scipy.special import stdtrit

    n = len(d)
    means = clustered_means(d[None, :], clusters, level)
    mean = float(means.mean[0])
    se = float(means.se[0])
    if n >= total:
        return PairedDifference(mean, se, mean, mean)
    whole = bool(np.isin(d, (-1, 0, 1)).all())
    if se > _EQUAL and not whole:
        unseen = (1 - n / total) ** 0.5
        low = mean - (mean - float(means.low[0])) * unseen
        high = mean + (float(means.high[0]) - mean) * unseen
        return PairedDifference(mean, se, max(low, -1.0), min(high, 1.0))
    better = float(np.maximum(d, 0).sum())
    worse = float(np.maximum(-d, 0).sum())
    groups = len(np.unique(clusters))
    changed = (better + worse) * min(1.0, total / n - 1)
    if whole and groups == n and changed <= _MANY:
        bounds = exact_interval(int(better), int(worse), n, int(min(total, INFINITE)), level)
        return PairedDifference(mean, se, *bounds)
    effective = float(groups)
    if se > _EQUAL:
        independent = float(d.var(ddof=1)) / n
        effective = n / max(se**2 / independent, 1.0)
    effective *= (1 - 1 / total) / (1 - n / total)
    quantile = float(stdtrit(max(groups - 1, 1), (1 + level) / 2))
    scale = effective / n
    bounds = score_interval(better * scale, worse * scale, effective, quantile)
    return PairedDifference(mean, se, *bounds)
