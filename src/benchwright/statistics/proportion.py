"""Shares of counted items: intervals of one and the difference of two."""

from math import nan, sqrt
from statistics import NormalDist
from typing import NamedTuple


class ShareInterval(NamedTuple):
    """Bounds of a share in [0, 1]; `reason` says why they are NaN and is "" otherwise."""

    low: float
    high: float
    reason: str = ""


class ShareDifference(NamedTuple):
    """First share minus second, in [−1, 1], its bounds, and the p-value of no difference.

    `reason` says why all of them are NaN and is "" otherwise.
    """

    difference: float
    low: float
    high: float
    p_value: float
    reason: str = ""


def wilson_interval(successes: int, n: int, level: float = 0.95) -> ShareInterval:
    """Wilson's score interval of a share (Wilson 1927), which also holds for 0 and n successes.

    `level` is the coverage of the interval, in (0, 1); n = 0 gives NaN.

    Raises:
        ValueError: the counts or the level are impossible.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no share")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; a number between 0 and 1 is accepted")
    if n == 0:
        return ShareInterval(nan, nan, "nothing was counted")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    centre = share + z * z / (2 * n)
    spread = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if successes == 0 else (centre - spread) / scale
    high = 1.0 if successes == n else (centre + spread) / scale
    return ShareInterval(low, high)


def two_proportions(k1: int, n1: int, k2: int, n2: int, level: float = 0.95) -> ShareDifference:
    """k1/n1 − k2/n2 of two independent groups, with an interval and a test.

    The interval is Newcombe's, from the two Wilson intervals (Newcombe 1998, method 10); the
    p-value is of Fisher's exact test, two-sided. Both hold for small groups and shares of 0 and 1.

    An empty group gives NaN; `level` is the coverage of the interval, in (0, 1).

    Raises:
        ValueError: the counts or the level are impossible.
    """
    first, second = wilson_interval(k1, n1, level), wilson_interval(k2, n2, level)
    empty = [which for which, n in (("first", n1), ("second", n2)) if n == 0]
    if empty:
        groups = " and ".join(empty)
        reason = f"nothing was counted in the {groups} group{'s' if len(empty) > 1 else ''}"
        return ShareDifference(nan, nan, nan, nan, reason)
    from scipy.stats import fisher_exact

    p1, p2 = k1 / n1, k2 / n2
    difference = p1 - p2
    low = difference - sqrt((p1 - first.low) ** 2 + (second.high - p2) ** 2)
    high = difference + sqrt((first.high - p1) ** 2 + (p2 - second.low) ** 2)
    test = fisher_exact([[k1, n1 - k1], [k2, n2 - k2]])
    return ShareDifference(difference, low, high, float(test.pvalue))
