"""Standard errors of accuracies and of differences between models, with clustered items.

Items about one passage or stem are dependent and count as one draw (Miller 2024, arXiv:2411.00640,
sections 2.2 and 4). Answers `correct` are (m, n) in [0, 1], NaN = no answer; equal numbers in
`clusters` (n,) are one cluster.

A model's accuracy is over the items that it answered. With R the sum of a model's deviations from
its mean in a cluster and n its answered items, the variance of the mean is G/(G − 1) · Σ (R/n)²
over G clusters; that of a difference is the same of R_a/n_a − R_b/n_b. The factor G/(G − 1), which
Miller leaves out, makes it exactly s²/n where every item is its own cluster.
"""

from collections.abc import Iterator
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.core.array_types import AnyFloats, Bools, Floats, Integers
from benchwright.statistics.row_blocks import row_blocks
from benchwright.statistics.subset_scores import full_scores

_BLOCK_BYTES = 1 << 26
# Smaller differences, as a share of the two variances, are rounding errors.
_ROUNDING = 1e-12


class _Influence(NamedTuple):
    """What each cluster adds to each accuracy (m, g), and clusters with an answer (m,)."""

    values: Floats
    clusters: NDArray[np.int64]


def clustered_se(correct: AnyFloats, clusters: Integers) -> Floats:
    """Return the standard error (m,) of each accuracy; NaN below two answered clusters."""
    influence = _influence(correct, clusters)
    squares = (influence.values**2).sum(axis=1)
    return np.sqrt(_factor(influence.clusters) * squares)


def paired_se(correct: AnyFloats, clusters: Integers) -> NDArray[np.float32]:
    """Return the standard errors (m, m) of the differences in accuracy; 0 on the diagonal.

    NaN where a model has answers in fewer than two clusters; exactly 0 for equal answers.
    """
    out = np.empty((len(correct), len(correct)), dtype=np.float32)
    for rows, errors in _paired_blocks(_influence(correct, clusters)):
        out[rows] = errors
    return out


def clearly_better(correct: AnyFloats, clusters: Integers) -> Bools:
    """Mark the pairs (m, m) whose first model is significantly better than the second.

    Two-sided at 5%, by the paired, clustered t with G − 1 degrees of freedom, without correction
    over pairs.
    """
    from scipy.special import stdtrit

    m = len(correct)
    influence = _influence(correct, clusters)
    scores = full_scores(correct)
    critical = stdtrit(np.maximum(influence.clusters - 1, 1), 0.975)
    better = np.zeros((m, m), dtype=np.bool_)
    for rows, errors in _paired_blocks(influence):
        bound = np.maximum(critical[rows, None], critical) * errors
        with np.errstate(invalid="ignore"):
            better[rows] = scores[rows, None] - scores > bound
    return better


def order_kept(scores: Floats, better: Bools) -> Floats:
    """Return the share (s,) of the pairs `better` (m, m) in the same order in `scores` (s, m).

    Ties count half; models without a score are left out. NaN without pairs.
    """
    shares = np.full(len(scores), nan)
    for number, row in enumerate(scores):
        known = ~np.isnan(row)
        pairs = better & known & known[:, None]
        if pairs.any():
            above = np.count_nonzero(pairs & (row[:, None] > row))
            tied = np.count_nonzero(pairs & (row[:, None] == row))
            shares[number] = (above + tied / 2) / np.count_nonzero(pairs)
    return shares


def minimum_detectable_difference(se: ArrayLike, alpha: float = 0.05, power: float = 0.8) -> Floats:
    """Return the smallest difference detected with probability `power` at two-sided `alpha`.

    (z₁₋α/₂ + z_power) · se, in the unit and shape of `se` (Miller 2024, section 5).
    """
    from scipy.special import ndtri

    z = float(ndtri(1 - alpha / 2) + ndtri(power))
    return np.asarray(se, dtype=np.float64) * z


def median_mdd(correct: AnyFloats, clusters: Integers) -> float:
    """Return the median minimum detectable difference over pairs (α = .05, power .8), or NaN."""
    models = np.arange(len(correct))
    errors = []
    for rows, block in _paired_blocks(_influence(correct, clusters)):
        errors.append(block[models > models[rows, None]])
    known = np.concatenate(errors)
    known = known[~np.isnan(known)]
    if not len(known):
        return nan
    return float(minimum_detectable_difference(np.median(known)))


def _influence(correct: AnyFloats, clusters: Integers) -> _Influence:
    m, n = correct.shape
    _, cluster, counts = np.unique(clusters, return_inverse=True, return_counts=True)
    order = np.argsort(cluster, kind="stable")
    starts = np.cumsum(counts) - counts
    values = np.empty((m, len(counts)))
    answered_clusters = np.empty(m, dtype=np.int64)
    for rows in row_blocks(m, 24 * n, _BLOCK_BYTES):
        responses = correct[rows][:, order].astype(np.float64)
        answered = ~np.isnan(responses)
        items = np.maximum(answered.sum(axis=1, keepdims=True), 1)
        responses[~answered] = 0
        mean = responses.sum(axis=1, keepdims=True) / items
        deviations = np.where(answered, responses - mean, 0) / items
        values[rows] = np.add.reduceat(deviations, starts, axis=1)
        answered_clusters[rows] = np.logical_or.reduceat(answered, starts, axis=1).sum(axis=1)
    return _Influence(values, answered_clusters)


def _factor(clusters: NDArray[np.int64]) -> Floats:
    """G/(G − 1), NaN below two clusters."""
    g = np.where(clusters >= 2, clusters, nan)
    return g / (g - 1)


def _paired_blocks(influence: _Influence) -> Iterator[tuple[slice, Floats]]:
    """Rows and their standard errors (r, m) of differences."""
    values = influence.values
    m = len(values)
    squares = (values**2).sum(axis=1)
    for rows in row_blocks(m, 24 * m, _BLOCK_BYTES):
        both = squares[rows, None] + squares
        variance = both - 2 * (values[rows] @ values.T)
        variance[variance <= _ROUNDING * both] = 0
        # Of two models, the one with answers in fewer clusters sets the factor.
        fewer = np.minimum(influence.clusters[rows, None], influence.clusters)
        yield rows, np.sqrt(variance * _factor(fewer))
