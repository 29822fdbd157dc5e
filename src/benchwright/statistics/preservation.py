"""How well scores on subsets keep ranks and scores of the whole benchmark (DELE, section 3.1)."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.statistics.correlation_rows import (
    Float,
    complete_rows,
    pearson_rows,
    ranks_rows,
    row_means,
)
from benchwright.statistics.kendall import kendall_tau_b_rows
from benchwright.statistics.score_spread import signed_shift_rows, wasserstein_rows
from benchwright.statistics.subset_scores import subset_scores

_BLOCK_BYTES = 1 << 24  # of the scores of one block of subsets
_THREADS = 2


class Preservation(NamedTuple):
    """Figures of s subsets beside the whole, each (s,), over m models; NaN where there is none.

    Attributes:
        spearman: Pearson's correlation of average ranks, the paper's rank preservation.
        pearson: of the scores.
        wasserstein: distance of the two distributions of scores, in shares.
        mean_absolute_error: of a model's score, in shares.
        bias: mean of subset − whole, in shares: negative where the subset is harder.
        tau_b: Kendall's, or NaN where it was not asked for.
    """

    spearman: Float
    pearson: Float
    wasserstein: Float
    mean_absolute_error: Float
    bias: Float
    tau_b: Float


def preservation(
    correct: NDArray[np.floating],
    weights: NDArray[np.floating],
    *,
    tau: bool = True,
    whole: NDArray[np.floating] | None = None,
) -> Preservation:
    """Compare the scores under each row of `weights` (s, n) with those on all n items.

    Memory stays at some hundred MiB beside the answers, whatever s is.

    Args:
        correct: answers (m, n) in [0, 1]; NaN is left out of a model's scores.
        weights: of the items, ≥ 0; a row of equal weights is a plain subset.
        tau: also compute tau-b, which takes longer than everything else together.
        whole: (n,) weights of the items in the benchmark's own score; all equal where None.

    Raises:
        ValueError: the two do not hold the same items.
    """
    all_items = np.ones(correct.shape[1]) if whole is None else whole
    full = subset_scores(correct, all_items[None, :])
    counted = _counts_are_scores(correct)
    step = max(1, _BLOCK_BYTES // (8 * max(len(correct), 1)))
    parts = [weights[start : start + step] for start in range(0, len(weights), step)]

    def figures(part: NDArray[np.floating]) -> Preservation:
        return _block(full, subset_scores(correct, part), part, counted, tau)

    # NumPy lets go of the interpreter in sorts and sums; blocks do not depend on each other.
    with ThreadPoolExecutor(_THREADS) as threads:
        blocks = list(threads.map(figures, parts))
    if not blocks:
        return Preservation(*(np.empty(0) for _ in Preservation._fields))
    return Preservation(*(np.concatenate(figure) for figure in zip(*blocks, strict=True)))


def _block(
    full: Float, scores: Float, weights: NDArray[np.floating], counted: bool, tau: bool
) -> Preservation:
    whole, parts = complete_rows(full, scores)
    return Preservation(
        spearman=pearson_rows(ranks_rows(whole), _ranks(parts, weights, counted)),
        pearson=pearson_rows(whole, parts),
        wasserstein=wasserstein_rows(whole, parts),
        mean_absolute_error=row_means(np.abs(parts - whole)),
        bias=signed_shift_rows(whole, parts),
        tau_b=kendall_tau_b_rows(whole, parts) if tau else np.full(len(parts), np.nan),
    )


def _counts_are_scores(correct: NDArray[np.floating]) -> bool:
    """Whether every answer is there, and right or wrong."""
    return bool(((correct == 0) | (correct == 1)).all())


def _ranks(scores: Float, weights: NDArray[np.floating], counted: bool) -> Float:
    """Average ranks of each row, best first; by counting where the scores are numbers of hits."""
    plain = counted & (weights.max(axis=1, initial=0) > 0)
    plain &= ((weights == 0) | (weights == weights.max(axis=1, keepdims=True))).all(axis=1)
    if not plain.all():
        out = np.empty_like(scores)
        out[~plain] = ranks_rows(scores[~plain])
        if plain.any():
            out[plain] = _counted_ranks(scores[plain], weights[plain])
        return out
    return _counted_ranks(scores, weights)


def _counted_ranks(scores: Float, weights: NDArray[np.floating]) -> Float:
    """Ranks of scores that are hits / size: one look at a histogram instead of a sort."""
    sizes = np.count_nonzero(weights, axis=1)
    hits = np.rint(scores * sizes[:, None]).astype(np.intp)
    width = int(sizes.max()) + 1
    rows = np.arange(len(hits))[:, None] * width
    hits += rows
    histogram = np.bincount(hits.ravel(), minlength=len(hits) * width).reshape(len(hits), width)
    better = scores.shape[1] - histogram.cumsum(axis=1)
    ranks = better + (histogram + 1) / 2
    return np.take(ranks.ravel(), hits)
