"""Intervals of the difference of two models that answer each item right or wrong.

Of n items, `better` are right by the second model alone and `worse` by the first alone; the
difference is (better − worse)/n. An interval has the differences D that two one-sided tests do not
reject. Both order outcomes by Tango's score statistic: the distance of the difference from D, in
standard errors with the share of worse items that is most likely at D (Tango 1998).
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchwright.core.array_types import Floats, Integers

INFINITE = 10**8
"""Number of items that stands for all items of a kind."""
_BISECTIONS = 50
_PARTS = 1_000  # of a standard error, to which bounds are found
_ROUNDING = 1e-9  # of statistics
_FARTHEST = 6.0  # standard deviations, and items, beyond which outcomes are left out


class _Score(NamedTuple):
    """Score statistics of outcomes, and the most likely shares of worse items."""

    value: Floats
    worse: Floats


def score_interval(better: float, worse: float, n: float, quantile: float) -> tuple[float, float]:
    """Return Tango's interval, at whose bounds the score statistic is ± `quantile`.

    Counts need not be whole; `n` is positive. Without changed items the interval still has a width.
    """

    def outside(difference: float) -> bool:
        return abs(float(_score(better, worse, n, difference).value)) > quantile

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


@lru_cache(maxsize=1 << 14)
def exact_interval(
    better: int, worse: int, n: int, total: int, level: float
) -> tuple[float, float]:
    """Return the interval of the difference on `total` items, n of which were drawn at random.

    A test adds the exact (multivariate hypergeometric) probabilities of the outcomes at least as
    far from D as the observed one, where as many items changed as is most likely (the estimated
    p-value of Lloyd 2008). `level` is in (0, 1).
    """
    risk = (1 - level) / 2
    low = _lowest(better, worse, n, total, risk)
    high = -_lowest(worse, better, n, total, risk)
    return low, high


def _lowest(better: int, worse: int, n: int, total: int, risk: float) -> float:
    """Return the smallest difference that the test against higher ones does not reject."""
    # In items of all: of these `rejected` is too low, and `kept` is not.
    kept = round((better - worse) / n * total)
    step = round((better + worse + 1) ** 0.5 / n * total) + 1
    rejected = kept - step
    while _upper_p(better, worse, n, total, rejected) > risk:
        kept = rejected
        rejected = rejected - step
    while kept - rejected > max(1, step // _PARTS):
        middle = (kept + rejected) // 2
        if _upper_p(better, worse, n, total, middle) > risk:
            kept = middle
        else:
            rejected = middle
    return (rejected + 1) / total


def _upper_p(better: int, worse: int, n: int, total: int, gap: int) -> float:
    """Return the probability of a statistic as high as the observed one.

    `gap` is the number of better items less that of worse ones among all.
    """
    if gap < -total:
        return 0.0
    difference = gap / total
    observed = _score(better, worse, n, difference)
    unseen = total - n
    fewest = max(worse, better - gap)
    most = (unseen + better + worse - gap) // 2
    if fewest > most:
        return 0.0  # the observed items are not among such ones
    all_worse = min(max(round(float(observed.worse) * total), fewest), most)
    all_better = all_worse + gap
    b = _likely(all_better, n, total)[:, None]
    c = _likely(all_worse, n, total)
    fewest_changed = b[0, 0] + c[0]
    unchanged = n - np.arange(fewest_changed, b[-1, 0] + c[-1] + 1)
    of_unchanged = _log_ways(total - all_better - all_worse, unchanged)
    log_ways = _log_ways(all_better, b) + _log_ways(all_worse, c)
    log_ways = log_ways + of_unchanged[b + c - fewest_changed]
    far = _score(b, c, n, difference).value >= observed.value - _ROUNDING
    return float(np.exp(log_ways[far] - _log_ways(total, np.array(n))).sum())


def _likely(kind: int, n: int, total: int) -> Integers:
    """Return how many of `kind` items may be among n of all, without the least likely numbers."""
    share = kind / total
    deviation = (n * share * (1 - share) * (total - n) / total) ** 0.5
    reach = _FARTHEST * (1 + deviation)
    fewest = max(0, n + kind - total, int(n * share - reach))
    most = min(n, kind, int(n * share + reach) + 1)
    return np.arange(fewest, most + 1)


def _log_ways(items: int, drawn: Integers) -> Floats:
    """Return the logarithm of the number of ways to draw some of `items`, −∞ if impossible."""
    from scipy.special import gammaln

    possible = (drawn >= 0) & (drawn <= items)
    number = np.where(possible, drawn, 0)
    ways = gammaln(items + 1) - gammaln(number + 1) - gammaln(items - number + 1)
    return np.where(possible, ways, -np.inf)


def _score(better: ArrayLike, worse: ArrayLike, n: float, difference: float) -> _Score:
    gained = np.asarray(better, dtype=np.float64)
    lost = np.asarray(worse, dtype=np.float64)
    linear = gained + lost - difference * (2 * n - gained + lost)
    root = linear**2 + 8 * n * lost * difference * (1 - difference)
    share = (linear + np.sqrt(np.maximum(root, 0.0))) / (4 * n)
    variance = np.maximum(2 * share + difference * (1 - difference), 0.0)
    distance = gained - lost - n * difference
    return _Score(distance / np.sqrt(np.maximum(n * variance, _ROUNDING**2)), share)
