"""How far apart two models must be for a subset of the items to order them as all items do.

Following Jung et al. 2025 (arXiv:2510.08730): pairs of models by the gap of their scores on all
items, and the share of pairs and subsets whose order the subset keeps; a tie in the subset counts
half. The least gap with a share of .8 is what a subset can tell apart. For random subsets of n of N
items the share is close to Φ(δ/√(σ²(1/n − 1/N))), with σ² the variance of the difference of two
models' answers to an item (`right_order`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.statistics.bootstrap import TAILS, model_resamples
from benchwright.statistics.paired_differences import paired_se
from benchwright.statistics.rank_agreement import Float
from benchwright.statistics.subset_scores import subset_scores

WANTED = 0.8
"""Share of pairs and subsets with the right order at the least gap."""
_WIDTH = 0.0025  # of a bin of gaps


class OrderCurve(NamedTuple):
    """Share of pairs of models in their right order, by gap; of g bins of gaps that have pairs.

    Attributes:
        gap: (g,) mean gap of each bin, in shares.
        pairs: (g,) number of pairs.
        right: (g,) share in the right order, never falling (isotonic regression), in [0, 1].
        low, high: (g,) middle 95% over resampled families of models; NaN without resamples.
        least: the least gap with the wanted share; infinite where no gap has it.
        least_low, least_high: its middle 95%, NaN without resamples.
    """

    gap: Float
    pairs: NDArray[np.int64]
    right: Float
    low: Float
    high: Float
    least: float
    least_low: float
    least_high: float

    def at(self, gaps: ArrayLike) -> Float:
        """Return the share at other gaps, by linear interpolation; NaN beyond the widest."""
        return np.interp(np.asarray(gaps, float), self.gap, self.right, right=np.nan)


def order_curve(
    whole: NDArray[np.floating],
    parts: NDArray[np.floating],
    families: ArrayLike | None = None,
    draws: int = 0,
    generator: np.random.Generator | None = None,
    wanted: float = WANTED,
) -> OrderCurve:
    """Measure the share of pairs of m models that subsets keep in order, by gap.

    Args:
        whole: scores (m,) on all items, or (s, m) with a row per subset, as of the items outside
            it; both as of `subset_scores`. With rows per subset there are no intervals.
        parts: scores (s, m) on s subsets; a missing score (NaN) is a tie.
        families: (m,) labels of models that are resampled together; None for each on its own.
        draws: resamples of the families.
        generator: of the resamples.
        wanted: share at the least gap, in (.5, 1).

    Pairs without a gap are left out; without any pair the arrays are empty.
    """
    whole, parts = np.asarray(whole, float), np.asarray(parts, float)
    if whole.ndim == 2:
        by_bin = np.sum(
            [_binned(*_pairs(a, b[None])[:2]) for a, b in zip(whole, parts, strict=True)], axis=0
        )
        return _fitted(by_bin, np.empty((0, *by_bin.shape)), wanted)
    gap, right, first, second = _pairs(np.asarray(whole, float), np.asarray(parts, float))
    labels = np.arange(len(whole)) if families is None else np.asarray(families)
    names, family = np.unique(labels, return_inverse=True)
    # Pairs of the same two families and bin have the same weight in every resample.
    shape = (max(len(names), 1), max(len(names), 1), round(1 / _WIDTH) + 1)
    of_bin = (gap / _WIDTH).astype(np.intp)
    keys = np.ravel_multi_index((family[first], family[second], of_bin), shape)
    cells, cell = np.unique(keys, return_inverse=True)
    sums = [np.bincount(cell, weights, len(cells)) for weights in (None, gap, right)]
    one, two, place = np.unravel_index(cells, shape)

    def weighed(times: NDArray[np.integer]) -> Float:
        weight = (times[one] * times[two]).astype(np.float64)
        return np.array([np.bincount(place, weight * own, shape[2]) for own in sums])

    resamples = np.empty((0, 3, shape[2]))
    if draws and generator is not None:
        drawn = model_resamples(len(names), draws, generator)
        resamples = np.array([weighed(np.bincount(row, minlength=len(names))) for row in drawn])
    return _fitted(weighed(np.ones(len(names), np.intp)), resamples, wanted)


def _pairs(whole: Float, parts: Float) -> tuple[Float, Float, NDArray[np.intp], NDArray[np.intp]]:
    """Return gap, share in the right order and both models of the pairs that have a gap."""
    order = np.argsort(whole, kind="stable")
    order = order[~np.isnan(whole[order])]
    m = len(order)
    above = np.zeros((m, m), np.int32)
    for scores in parts[:, order]:
        above += scores[:, None] > scores[None, :]
    lower, upper = np.triu_indices(m, 1)
    gap = whole[order[upper]] - whole[order[lower]]
    lead = above[upper, lower] - above[lower, upper]
    apart = gap > 0
    lower, upper = lower[apart], upper[apart]
    return gap[apart], (1 + lead[apart] / max(len(parts), 1)) / 2, order[lower], order[upper]


def _binned(gap: Float, right: Float) -> Float:
    """Return the numbers of pairs, sums of gaps and sums of shares by bin (3, bins) up to 1."""
    of_bin, bins = (gap / _WIDTH).astype(np.intp), round(1 / _WIDTH) + 1
    return np.array([np.bincount(of_bin, weights, bins) for weights in (None, gap, right)])


def _fitted(by_bin: Float, resamples: Float, wanted: float) -> OrderCurve:
    known = by_bin[0] > 0
    pairs, gaps, shares = by_bin[:, known]
    gap = gaps / pairs
    right = _isotonic(shares / pairs, pairs)
    low, high = np.full((2, len(gap)), np.nan)
    least_low = least_high = np.nan
    if len(resamples) and len(gap):
        curves, least = [], []
        for weight, own_gaps, own_shares in resamples[:, :, known]:
            there = weight > 0
            if there.sum() < 2:
                continue
            own = own_gaps[there] / weight[there]
            fit = _isotonic(own_shares[there] / weight[there], weight[there])
            curves.append(np.interp(gap, own, fit))
            least.append(_least(own, fit, wanted))
        if curves:
            low, high = np.quantile(curves, TAILS, axis=0)
            least_low, least_high = np.quantile(least, TAILS, method="nearest").tolist()
    pair_counts = np.rint(pairs).astype(np.int64)
    own_least = _least(gap, right, wanted)
    return OrderCurve(gap, pair_counts, right, low, high, own_least, least_low, least_high)


def _isotonic(shares: Float, weights: Float) -> Float:
    from scipy.optimize import isotonic_regression

    return isotonic_regression(shares, weights=weights).x if len(shares) else shares


def _least(gap: Float, right: Float, wanted: float) -> float:
    """Return the gap at which the curve reaches a share, between bins by interpolation."""
    reached = np.flatnonzero(right >= wanted)
    if not len(reached):
        return float("inf")
    at = int(reached[0])
    # At gap 0 the order is a coin's.
    before = (gap[at - 1], right[at - 1]) if at else (0.0, min(0.5, right[at]))
    rise = right[at] - before[1]
    step = (wanted - before[1]) / rise if rise > 0 else 1.0
    return float(before[0] + step * (gap[at] - before[0]))


def right_order(gap: ArrayLike, standard_error: ArrayLike) -> Float:
    """Return Φ(gap/standard error), the expected share in the right order.

    The standard error is that of the difference on the subset around the one on all items; a gap
    with an error of 0 is always right.
    """
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.asarray(gap, np.float64) / np.asarray(standard_error, np.float64)
    return np.asarray(ndtr(z))


def gap_told_apart(correct: NDArray[np.floating], of_items: int, wanted: float = WANTED) -> float:
    """Return the gap at which n items order two models as all `of_items` do, in a wanted share.

    Φ⁻¹(wanted) · √(σ²(1/n − 1/N)), in shares, with the median σ² of the half of the pairs of models
    that are closest. `correct` (m, n) are the answers to the n items, NaN where missing. NaN for
    fewer than two models or items; 0 with all items.
    """
    from scipy.special import ndtri

    m, n = correct.shape
    if m < 2 or n < 2:
        return float("nan")
    first, second = np.triu_indices(m, 1)
    errors = paired_se(correct, np.arange(n))[first, second].astype(np.float64)
    scores = subset_scores(correct, np.ones((1, n)))[0]
    gaps = np.abs(scores[first] - scores[second])
    closer = errors[gaps <= np.nanmedian(gaps)] if not np.isnan(gaps).all() else errors
    known = closer[~np.isnan(closer)]
    if not len(known):
        return float("nan")
    return float(ndtri(wanted) * np.median(known) * np.sqrt(max(1 - n / of_items, 0.0)))
