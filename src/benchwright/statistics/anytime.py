"""Tests of two models that stay valid however often one looks: e-processes on paired differences.

Differences `d` (…, n) are answers of the second model minus those of the first, in [−1, 1], in a
random order of the items. Two processes are returned, as logarithms, after each item: evidence that
the second model is not worse (its mean difference over all items is above −margin), and that it is
worse (below). Under a hypothesis its process is a non-negative supermartingale that begins at 1, so
it ever reaches 1/α with probability at most α (Ville's inequality).
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.statistics.rank_agreement import Float

Decision = Literal["not worse", "worse", "undecided"]

PRIOR = 1.0
"""Both parameters of the beta distribution of the share of discordant items that are better."""

# Bets are multiples of the one that suits a difference of a margin; the process is their mean.
_BETS = (0.5, 1.0, 2.0, 4.0)
# The greatest share of the capital that one item can lose.
_LARGEST_LOSS = 0.75
# Second moment of a difference before any is seen, and the number of items that it counts as.
_MOMENT, _MOMENT_ITEMS = 0.25, 5
_ROUNDING = 1e-9


class Evidence(NamedTuple):
    """Logarithms (…, n) of the two e-processes after each item."""

    not_worse: Float
    worse: Float


class Stopped(NamedTuple):
    """The first decision, and the number of items that it took (all of them if undecided)."""

    decision: Decision
    items: int


def evidence(d: NDArray[np.floating], margin: float, total: int) -> Evidence:
    """Return the e-processes of a margin in [0, 1] for the first n of `total` items.

    With margin 0 both are `coin_evidence`, and `d` has signs only; else `betting_evidence`. Where
    the items left cannot save a hypothesis, its evidence is infinite: with all items the decision
    is exact.
    """
    found = betting_evidence(d, margin, total) if margin else coin_evidence(d)
    lacking = -margin * total - np.cumsum(d, axis=-1, dtype=np.float64)
    least = -(total - np.arange(d.shape[-1]) - 1) - _ROUNDING * total
    known = [np.logical_or.accumulate(sign * lacking < least, axis=-1) for sign in (1, -1)]
    return Evidence(*(np.where(sure, np.inf, e) for sure, e in zip(known, found, strict=True)))


def coin_evidence(d: NDArray[np.floating], prior: float = PRIOR) -> Evidence:
    """Return the evidence that of discordant items more, or fewer, than half are better.

    e = 2^(W + L) · B(a + W, a + L)/B(a, a) with W items better, L worse and a = `prior`. It speaks
    for the side that leads; the probability that either process ever reaches 1/α is at most α.
    """
    better, worse = d > 0, d < 0
    wins, losses = np.cumsum(better, axis=-1), np.cumsum(worse, axis=-1)
    leading = np.where(better, wins, losses) - 1  # on the side of this item, before it
    factor = 2 * (prior + leading) / (2 * prior + wins + losses - 1)
    log_e = np.cumsum(np.log(np.where(better | worse, factor, 1.0)), axis=-1)
    level = np.minimum(log_e, 0.0)
    return Evidence(np.where(wins > losses, log_e, level), np.where(losses > wins, log_e, level))


def betting_evidence(d: NDArray[np.floating], margin: float, total: int) -> Evidence:
    """Return the capital of bets against a mean difference of at most, and at least, −margin.

    Betting martingales without replacement (Waudby-Smith & Ramdas 2020, arXiv:2006.04347 and
    2010.09686): before item t the hypothesis expects μ_t = (−margin · N − Σ d)/(N − t + 1), and the
    capital is multiplied by 1 ± λ_t (d_t − μ_t). λ_t is margin over the mean square of earlier
    differences, times each of four factors.
    """
    n = d.shape[-1]
    sums = np.cumsum(d, axis=-1, dtype=np.float64)
    seen = np.arange(n)
    expected = (-margin * total - (sums - d)) / (total - seen)
    squares = np.cumsum(d * d, axis=-1, dtype=np.float64) - d * d
    bet = margin * (_MOMENT_ITEMS + seen) / (_MOMENT * _MOMENT_ITEMS + squares)
    out = []
    for sign in (1.0, -1.0):
        largest = _LARGEST_LOSS / np.maximum(1 + sign * expected, _ROUNDING)
        gain = sign * (d - expected)
        logs = [
            np.cumsum(np.log(np.maximum(1 + np.minimum(scale * bet, largest) * gain, 1e-300)), -1)
            for scale in _BETS
        ]
        out.append(np.logaddexp.reduce(logs, axis=0) - np.log(len(_BETS)))
    return Evidence(*out)


def first_decision(found: Evidence, alpha: float) -> Stopped:
    """Return the decision where a process (n,) first reaches 1/α."""
    reached = [np.flatnonzero(process >= -np.log(alpha)) for process in found]
    first = [int(at[0]) if len(at) else len(found.worse) for at in reached]
    if min(first) == len(found.worse):
        return Stopped("undecided", len(found.worse))
    return Stopped("not worse" if first[0] < first[1] else "worse", min(first) + 1)
