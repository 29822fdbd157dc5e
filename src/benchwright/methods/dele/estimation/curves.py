"""A fitted two-parameter model, ready to measure abilities from subsets of its items."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from benchwright.statistics.item_response import ItemResponse, probability

Float = NDArray[np.float64]

_REACH = 6.0
_FEWEST_NODES = 241
_BLOCK = 1 << 21


class Expected(NamedTuple):
    """What the model expects of the items outside a subset.

    Attributes:
        mean: (r,) mean answer to them, 0–1: the posterior mean of the test's curve.
        se: (r,) its standard error if the model is true: of the ability and of the answers.
    """

    mean: Float
    se: Float


class ItemCurves(NamedTuple):
    """σ(aθ + d) of n items on an even grid of abilities.

    Attributes:
        slope: (n,) a; 0 where unknown.
        intercept: (n,) d.
        known: (n,) items that some model answered.
        nodes: (q,) abilities from −6 to 6.
        total: (2, q) sums over known items of P and of P(1 − P).
        reason: "" or why there is no model.
    """

    slope: Float
    intercept: Float
    known: NDArray[np.bool_]
    nodes: Float
    total: Float
    reason: str = ""

    @classmethod
    def of(cls, fit: ItemResponse) -> Self:
        """Sums over items taken by blocks, once for all subsets.

        Items with equal answers have equal curves, and few models answer thousands of items in few
        ways: equal ones are taken once.
        """
        known = ~np.isnan(fit.discrimination)
        a = np.where(known, fit.discrimination, 0)
        d = np.where(known, -fit.discrimination * fit.difficulty, 0)
        nodes = np.linspace(-_REACH, _REACH, max(fit.nodes, _FEWEST_NODES))
        total = np.zeros((2, len(nodes)))
        different, count = np.unique(
            np.stack([a[known], d[known]], axis=1), axis=0, return_counts=True
        )
        step = max(1, _BLOCK // len(nodes))
        for start in range(0, len(different), step):
            part = slice(start, start + step)
            total += _sums(different[part, 0], different[part, 1], nodes, count[part])
        return cls(a, d, known, nodes, total, "" if known.any() else fit.reason)

    def expected(self, places: NDArray[np.intp], answers: Float) -> Expected:
        """Of the items outside `places` (k,), for models with these answers (r, k), none missing.

        The ability's posterior is taken on the grid with the training models' N(0, 1) as prior;
        a fraction counts as that part of a right answer. Items that no training model answered
        are taken to be like the others.
        """
        inside = places[self.known[places]]
        rest = int(self.known.sum()) - len(inside)
        if self.reason or not rest:
            blank = np.full(len(answers), np.nan)
            return Expected(blank, blank)
        weight = self._posterior(inside, answers[:, self.known[places]])
        seen = _sums(self.slope[inside], self.intercept[inside], self.nodes)
        curve, spread = (self.total - seen) / rest
        mean = weight @ curve
        doubt = np.maximum(weight @ curve**2 - mean**2, 0) + weight @ spread / rest
        return Expected(mean, np.sqrt(np.maximum(doubt, 0)))

    def _posterior(self, places: NDArray[np.intp], answers: Float) -> Float:
        """(r, q): Σ r·(aθ + d) needs two products per model; Σ log(1 + e^(aθ + d)) is shared."""
        a, d = self.slope[places], self.intercept[places]
        shared = -0.5 * self.nodes**2
        shared -= np.logaddexp(0, a[:, None] * self.nodes + d[:, None]).sum(axis=0)
        log = (answers @ a)[:, None] * self.nodes + (answers @ d)[:, None] + shared
        weight = np.exp(log - log.max(axis=1, keepdims=True))
        out: Float = weight / weight.sum(axis=1, keepdims=True)
        return out


def _sums(a: Float, d: Float, nodes: Float, count: NDArray[np.integer] | None = None) -> Float:
    """(2, q) sums of P and of P(1 − P) over items (n,), each `count` (n,) times."""
    if not len(a):
        return np.zeros((2, len(nodes)))
    slope = np.maximum(a, 1e-12)
    p = probability(nodes, slope, -d / slope)
    times = np.ones(len(a)) if count is None else count
    return np.stack([p @ times, (p * (1 - p)) @ times])
