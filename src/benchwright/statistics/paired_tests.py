"""Tests and intervals of the difference of two models that answered the same items.

Differences `d` (n,) are answers of the second model minus those of the first, in [−1, 1].
"""

from typing import NamedTuple

import numpy as np

from benchwright.core.array_types import AnyFloats, Integers
from benchwright.statistics.proportion import clustered_means

_BISECTIONS = 60
_FLIPS = 9_999
_BLOCK = 1_000  # flips in memory at once
_ROUNDING = 1e-12
_EQUAL = 1e-6  # standard error of differences that are equal, but for single precision


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


def paired_score_interval(
    better: float, worse: float, n: float, level: float = 0.95
) -> tuple[float, float]:
    """Return Tango's score interval of (better − worse)/n (Tango 1998).

    The bounds are the differences at which the score statistic of the multinomial model, with the
    maximum-likelihood share of worse items at this difference, is at its quantile. Counts need not
    be whole; `n` is positive. Without discordant items the interval still has a width.
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))

    def outside(difference: float) -> bool:
        b = better + worse - difference * (2 * n - better + worse)
        root = b * b + 8 * n * worse * difference * (1 - difference)
        share = (b + max(root, 0.0) ** 0.5) / (4 * n)
        variance = max(2 * share + difference * (1 - difference), 0.0)
        return (better - worse - n * difference) ** 2 > z * z * n * variance

    def bound(outer: float) -> float:
        if not outside(outer):
            return outer
        inner = (better - worse) / n
        for _ in range(_BISECTIONS):
            middle = (inner + outer) / 2
            if outside(middle):
                outer = middle
            else:
                inner = middle
        return inner

    return bound(-1.0), bound(1.0)


def paired_difference(d: AnyFloats, clusters: Integers, level: float = 0.95) -> PairedDifference:
    """Return the mean of `d` (n,), n > 0, with the interval for items of this kind.

    Answers of 0 and 1 get Tango's interval with n divided by the design effect of the clusters,
    where it is above 1; fractional ones ± t · the clustered standard error. Where all differences
    are equal, each cluster counts as one item. `clusters` (n,): equal numbers are one cluster.
    """
    means = clustered_means(d[None, :], clusters, level)
    mean = float(means.mean[0])
    se = float(means.se[0])
    if se > _EQUAL and not np.isin(d, (-1, 0, 1)).all():
        low = max(float(means.low[0]), -1.0)
        high = min(float(means.high[0]), 1.0)
        return PairedDifference(mean, se, low, high)
    n = len(d)
    effective: float = len(np.unique(clusters))
    if se > _EQUAL:
        independent = float(d.var(ddof=1)) / n
        effective = n / max(se**2 / independent, 1.0)
    scale = effective / n
    better = float(np.maximum(d, 0).sum()) * scale
    worse = float(np.maximum(-d, 0).sum()) * scale
    low, high = paired_score_interval(better, worse, effective, level)
    return PairedDifference(mean, se, low, high)
