"""Sample sizes at which to look at an interval, and the level that stopping at a width needs.

At each size of a fixed schedule one looks at an interval and stops at the first that is narrow
enough. Intervals that cover in 95% of draws of a fixed size then cover less often, so the level of
each look is raised until the coverage at stopping is right for every true score (Frey 2010, The
American Statistician 64, "Fixed-width sequential confidence intervals for a proportion", here
without replacement). An α that is divided among the looks would ask twice as many items.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.statistics.proportion import wilson_bounds

Float = NDArray[np.float64]

_FIRST = 20  # the fewest items at which one may stop
_FIRST_SHARE = 0.1  # of the size that suffices for every score
_GROWTH = 1.25  # of the size from look to look
_LAST_SHARE = 0.9  # of the benchmark; beyond it, all items are asked
# Coverage rises with the sample; narrower intervals get the level of this width, which is fast.
_NARROWEST = 0.1
_SCORES = 100  # true scores at which coverage is computed, from 0 to 1
_SHARES = (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)  # of α, to try
_ROUNDING = 1e-9


class Looks(NamedTuple):
    """Increasing numbers of items (K,), and the level of the interval at each of them."""

    sizes: tuple[int, ...]
    level: float


def looks_at_widths(width: float, n: int, level: float = 0.95, at_most: int | None = None) -> Looks:
    """Return the looks at which one may stop at an interval of `width`.

    With this schedule and level, the Wilson interval of a plain mean of right answers covers the
    true score with probability `level` at least, whatever it is; this is computed exactly.

    Args:
        width: greatest width of the interval, high − low, in (0, 1).
        n: number of items of the benchmark.
        level: of the interval where one stops, in (0, 1).
        at_most: number of items at which one stops in any case; default n.
    """
    last = n if at_most is None else min(at_most, n)
    alike = schedule(max(width, _NARROWEST), n, level, last)
    for share in _SHARES:
        found = 1 - (1 - level) * share
        if coverage(alike, n, max(width, _NARROWEST), found)[1].min() >= level:
            break
    return Looks(schedule(width, n, level, last), found)


def schedule(width: float, n: int, level: float, last: int) -> tuple[int, ...]:
    """Return sizes that grow by a quarter, up to `last`; one suffices for a score of ½."""
    from scipy.special import ndtri

    z = float(ndtri(1 - (1 - level) / 3))  # with a margin for the level of the looks
    enough = 1 / (width**2 / z**2 + 1 / n)
    sizes = []
    size = max(_FIRST, _FIRST_SHARE * enough)
    while size < last:
        sizes.append(int(np.ceil(size)))
        size *= _GROWTH
    return (*(size for size in sizes if size < min(last, _LAST_SHARE * n)), last)


def coverage(sizes: tuple[int, ...], n: int, width: float, level: float) -> tuple[Float, Float]:
    """Return true scores, and the probability that the interval where one stops covers each.

    Of the first m items s are right; whether an earlier look stopped depends on s through
    hypergeometric probabilities only, and not on the true score.
    """
    from scipy.special import ndtri

    right = np.unique(np.round(np.linspace(0, 1, _SCORES + 1) * n))
    score: Float = right / n
    covered: Float = np.zeros(len(right))
    z = float(ndtri((1 + level) / 2))
    going = np.ones(1)  # probability of having gone on, by the number right at the look before
    before = 0
    for size in sizes:
        some = np.arange(size + 1.0)
        on = np.flatnonzero(going)
        if not len(on):
            break
        reached = _hypergeometric(on.astype(np.float64), some[:, None], size, before) @ going[on]
        if size < n:
            low, high = wilson_bounds(some / size, size * (n - 1) / (n - size), z)
        else:
            low = high = some / n
        stops = np.full(size + 1, size == sizes[-1]) | (high - low <= width)
        at = np.flatnonzero(stops)
        chance = reached[at, None] * _hypergeometric(some[at, None], right, n, size)
        inside = (low[at, None] <= score + _ROUNDING) & (score <= high[at, None] + _ROUNDING)
        covered += (chance * inside).sum(axis=0)
        going, before = reached * ~stops, size
    return score, covered


def _hypergeometric(
    found: NDArray[Any], right: NDArray[Any], n: int, drawn: int
) -> NDArray[np.float64]:
    """Return the probability of `found` right items among `drawn` of n, `right` of which are."""
    possible = (found <= right) & (drawn - found <= n - right)
    inside = np.where(possible, found, np.minimum(right, drawn))
    lost = np.where(possible, drawn - found, 0)
    log = _log_choose(right, inside) + _log_choose(n - right, np.minimum(lost, n - right))
    return np.where(possible, np.exp(log - _log_choose(n, drawn)), 0.0)


def _log_choose(total: ArrayLike, chosen: ArrayLike) -> NDArray[Any]:
    from scipy.special import gammaln

    total, chosen = np.asarray(total), np.asarray(chosen)
    log = gammaln(total + 1) - gammaln(chosen + 1) - gammaln(total - chosen + 1)
    return np.asarray(log)
