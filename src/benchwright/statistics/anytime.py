"""Tests of two models that stay valid however often one looks: e-processes on paired differences.

Differences `d` (…, n) are answers of the second model minus those of the first, in [−1, 1], in a
random order of the items. Two processes are returned, as logarithms, after each item: evidence that
the second model is not worse (its mean difference over all items is above −margin), and that it is
worse (below). Under a hypothesis its process is a non-negative supermartingale that begins at 1, so
it ever reaches 1/α with probability at most α (Ville's inequality).
"""

from typing import Literal, NamedTuple

import numpy as np

from benchwright.core.array_types import AnyFloats, Floats

Decision = Literal["not worse", "worse", "undecided"]

# Bets are multiples of the one that suits a difference of a margin; the process is their mean.
_BETS = (0.5, 1.0, 2.0, 4.0)
# The greatest share of the capital that one item can lose.
_LARGEST_LOSS = 0.75
_MOMENT = 0.25  # second moment of a difference before any is seen
_MOMENT_ITEMS = 5  # that it counts as
_ROUNDING = 1e-9


class Evidence(NamedTuple):
    """Logarithms (…, n) of the two e-processes after each item."""

    not_worse: Floats
    worse: Floats


class Stopped(NamedTuple):
    """The first decision, and the number of items that it took (all of them if undecided)."""

    decision: Decision
    items: int


def evidence(d: AnyFloats, margin: float, total: int) -> Evidence:
    """Return the e-processes of a margin in [0, 1] for the first n of `total` items.

    With margin 0 both are `coin_evidence`, and `d` has signs only; else `betting_evidence`. Where
    the items left cannot save a hypothesis, its evidence is infinite: with all items the decision
    is exact.
    """
    found = betting_evidence(d, margin, total) if margin else coin_evidence(d)
    lacking = -margin * total - np.cumsum(d, axis=-1, dtype=np.float64)
    left = total - 1 - np.arange(d.shape[-1])
    least = -left - _ROUNDING * total
    surely_not_worse = np.logical_or.accumulate(lacking < least, axis=-1)
    surely_worse = np.logical_or.accumulate(-lacking < least, axis=-1)
    return Evidence(
        not_worse=np.where(surely_not_worse, np.inf, found.not_worse),
        worse=np.where(surely_worse, np.inf, found.worse),
    )


def coin_evidence(d: AnyFloats) -> Evidence:
    """Return the evidence that of discordant items more, or fewer, than half are better.

    e = 2^(W + L) · B(1 + W, 1 + L) with W items better and L worse: the share of discordant items
    that are better has a uniform prior. It speaks for the side that leads; the probability that
    either process ever reaches 1/α is at most α.
    """
    better = d > 0
    worse = d < 0
    wins = np.cumsum(better, axis=-1)
    losses = np.cumsum(worse, axis=-1)
    leading = np.where(better, wins, losses)  # on the side of this item, with it
    factor = 2 * leading / (1 + wins + losses)
    log_e = np.cumsum(np.log(np.where(better | worse, factor, 1.0)), axis=-1)
    level = np.minimum(log_e, 0.0)
    return Evidence(np.where(wins > losses, log_e, level), np.where(losses > wins, log_e, level))


def betting_evidence(d: AnyFloats, margin: float, total: int) -> Evidence:
    """Return the capital of bets against a mean difference of at most, and at least, −margin.

    Betting martingales without replacement (Waudby-Smith & Ramdas 2020, arXiv:2006.04347 and
    2010.09686): before item t the hypothesis expects μ_t = (−margin · N − Σ d)/(N − t + 1), and the
    capital is multiplied by 1 ± λ_t (d_t − μ_t). λ_t is margin over the mean square of earlier
    differences, times each of four factors.
    """
    seen = np.arange(d.shape[-1])
    sums = np.cumsum(d, axis=-1, dtype=np.float64) - d  # before each item
    squares = np.cumsum(d * d, axis=-1, dtype=np.float64) - d * d
    expected = (-margin * total - sums) / (total - seen)
    bet = margin * (_MOMENT_ITEMS + seen) / (_MOMENT * _MOMENT_ITEMS + squares)
    return Evidence(
        not_worse=_log_capital(d, expected, bet), worse=_log_capital(-d, -expected, bet)
    )


def _log_capital(d: AnyFloats, expected: Floats, bet: Floats) -> Floats:
    """Logarithm of the mean capital of bets, multiples of `bet`, on d above what is expected."""
    largest = _LARGEST_LOSS / np.maximum(1 + expected, _ROUNDING)
    logs = []
    for scale in _BETS:
        growth = 1 + np.minimum(scale * bet, largest) * (d - expected)
        logs.append(np.cumsum(np.log(np.maximum(growth, 1e-300)), axis=-1))
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - np.log(len(_BETS)))


def first_decision(found: Evidence, alpha: float) -> Stopped:
    """Return the decision where a process (n,) first reaches 1/α."""
    not_worse = found.not_worse >= -np.log(alpha)
    worse = found.worse >= -np.log(alpha)
    reached = np.flatnonzero(not_worse | worse)
    if not len(reached):
        return Stopped("undecided", len(worse))
    first = int(reached[0])
    return Stopped("worse" if worse[first] else "not worse", first + 1)
