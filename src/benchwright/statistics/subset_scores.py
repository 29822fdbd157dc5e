"""Scores of all models on many subsets of the items, compared with those on all items.

Answers are (m, n) in [0, 1], NaN = no answer. A score is the mean over a model's answered items.
Subsets are processed in blocks, so memory does not grow with their number. Functions named `…_rows`
compare many sets of scores, one a row: `a` (1, m) or (s, m), `b` (s, m); NaN in either is left out.
"""

from collections.abc import Iterator
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.core.array_types import AnyFloats, Bools, Floats, Places
from benchwright.statistics.rank_agreement import (
    complete_rows,
    kendall_tau_b_rows,
    pearson_rows,
    ranks_rows,
    row_means,
)
from benchwright.statistics.row_blocks import row_blocks


def wasserstein_rows(a: Floats, b: Floats) -> Floats:
    """Return the Wasserstein-1 distance (s,): the mean distance of the sorted scores."""
    first, second = complete_rows(a, b)
    distances = np.sort(second, axis=1) - np.sort(first, axis=1)
    return row_means(np.abs(distances))


def spread_top_rows(scores: Floats, top: int) -> Floats:
    """Return the range of the `top` highest scores of each row (s,); NaN below two models.

    The best models, at least two, are those of the row, as on a leaderboard of these items.
    """
    if scores.shape[1] < 2:
        return np.full(len(scores), nan)
    n = np.count_nonzero(~np.isnan(scores), axis=1)
    descending = -np.sort(-scores, axis=1)  # NaN last
    last = np.maximum(np.minimum(n, top) - 1, 0)
    lowest = np.take_along_axis(descending, last[:, None], axis=1)[:, 0]
    return np.where(n >= 2, descending[:, 0] - lowest, nan)


def signal_to_noise_rows(scores: Floats, standard_errors: Floats) -> Floats:
    """Return the spread of m models over the noise of one model's score (s,), ≥ 0.

    The standard deviation of each row of scores (s, m) over models (m − 1 in the denominator),
    divided by the root mean square of their standard errors (s, m). It grows with √n. The noise of
    Heineman et al. 2025 (arXiv:2508.13144) is between training checkpoints, so their metrics are
    not comparable. NaN with fewer than two models or without standard errors.
    """
    values, errors = complete_rows(scores, standard_errors)
    n = np.count_nonzero(~np.isnan(values), axis=1)
    deviations = values - row_means(values)[:, None]
    variance = row_means(deviations**2, fewest=2) * n / np.maximum(n - 1, 1)
    signal = np.sqrt(variance)
    noise = np.sqrt(row_means(errors**2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return signal / noise


_BLOCK_BYTES = 1 << 27
# Finer differences than this are rounding of the sums, and would break ties at random.
_DECIMALS = 12
POINTS = 100.0


class SubsetMetrics(NamedTuple):
    """Metrics (s,) of s subsets; NaN where a subset has none."""

    kendall_tau_b: Floats  # rank agreement of the subset with all items, in [−1, 1]
    spearman: Floats  # the same by Spearman's correlation
    # tau-b with the items outside the subset, without the agreement of a part with its whole.
    tau_b_complement: Floats
    mean_rank_shift: Floats  # mean absolute change of rank against all items, in ranks
    signed_shift: Floats  # mean accuracy on the subset minus that on all items, in points (0–100)
    wasserstein: Floats  # distance of the two distributions of accuracy, in points
    # range of accuracy of the best models of the subset's own ranking, in points.
    spread_top: Floats
    signal_to_noise: Floats  # spread of accuracy over models divided by the noise of one model's


class _Sums(NamedTuple):
    """Sums over the weighted answered items: weights (s, m) or (s, 1), scores, squares (s, m)."""

    weight: Floats
    score: Floats
    square: Floats


def subset_scores(
    correct: AnyFloats,
    weights: NDArray[np.generic],
    models: Places | None = None,
) -> Floats:
    """Return the weighted means (s, m) of answers `correct` (m, n) under weights (s, n) ≥ 0.

    NaN where a model answered no weighted item. Scores are rounded to 12 decimals, so that equal
    answers give equal scores. `models` are the places of those to score; None scores all.
    """
    places = np.arange(len(correct)) if models is None else models
    out = np.empty((len(weights), len(places)))
    for rows in _blocks(weights, len(places)):
        part = weights[rows].astype(np.float64, copy=False)
        out[rows] = _means(_sums(correct, part, places))
    return out


def full_scores(correct: AnyFloats) -> Floats:
    """Return the scores (m,) on all items, as `subset_scores`."""
    return subset_scores(correct, np.ones((1, correct.shape[1])))[0]


def subset_metrics(correct: AnyFloats, masks: Bools, top: int = 20) -> SubsetMetrics:
    """Compare each subset `masks` (s, n) of the items with all items, by m models.

    `top`: best models whose range is the spread. The complement of a subset of all items is empty
    and its metric NaN; so are all metrics of an empty subset. The noise in signal-to-noise takes
    items as independent.
    """
    everyone = np.arange(len(correct))
    whole = _sums(correct, np.ones((1, correct.shape[1])), everyone)
    full = _means(whole)
    blocks = []
    for rows in _blocks(masks, len(correct)):
        part = _sums(correct, masks[rows].astype(np.float64), everyone)
        blocks.append(_metrics(full, whole, part, top))
    return SubsetMetrics(*map(np.concatenate, zip(*blocks, strict=True)))


def full_metrics(correct: AnyFloats, top: int = 20) -> SubsetMetrics:
    """Return spread and signal-to-noise of all items, each (1,); the other metrics are NaN."""
    whole = _sums(correct, np.ones((1, correct.shape[1])), np.arange(len(correct)))
    missing = dict.fromkeys(SubsetMetrics._fields, np.full(1, nan))
    return SubsetMetrics(**missing | _spread_metrics(whole, top))


def _metrics(full: Floats, whole: _Sums, part: _Sums, top: int) -> SubsetMetrics:
    scores = _means(part)
    rest = _means(_Sums(*map(np.subtract, whole, part)))
    first, second = complete_rows(full, scores)
    full_ranks = ranks_rows(first)
    part_ranks = ranks_rows(second)
    return SubsetMetrics(
        kendall_tau_b=kendall_tau_b_rows(full, scores),
        spearman=pearson_rows(full_ranks, part_ranks),
        tau_b_complement=kendall_tau_b_rows(rest, scores),
        mean_rank_shift=row_means(np.abs(full_ranks - part_ranks), fewest=2),
        signed_shift=POINTS * row_means(second - first),
        wasserstein=POINTS * wasserstein_rows(full, scores),
        **_spread_metrics(part, top),
    )


def _spread_metrics(sums: _Sums, top: int) -> dict[str, Floats]:
    scores = _means(sums)
    return {
        "spread_top": POINTS * spread_top_rows(scores, top),
        "signal_to_noise": signal_to_noise_rows(scores, _standard_errors(sums)),
    }


def _sums(correct: AnyFloats, weights: Floats, models: Places) -> _Sums:
    """Sum under `weights` (s, n), in blocks of models to avoid a copy of all answers."""
    m = len(models)
    n = correct.shape[1]
    weight, score, square = np.empty((3, len(weights), m))
    totals = weights.sum(axis=1, keepdims=True)
    for block in row_blocks(m, 24 * n, _BLOCK_BYTES):
        responses = correct[models[block]].astype(np.float64)
        missing = np.isnan(responses)
        weight[:, block] = totals
        if missing.any():
            responses[missing] = 0
            weight[:, block] -= weights @ missing.T.astype(np.float64)
        score[:, block] = weights @ responses.T
        # Answers that are right or wrong are their own squares.
        plain = np.isin(responses, (0, 1)).all()
        square[:, block] = score[:, block] if plain else weights @ (responses**2).T
    return _Sums(weight, score, square)


def _means(sums: _Sums) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(sums.weight > 0, sums.score / sums.weight, nan)
    return np.round(means, _DECIMALS)


def _standard_errors(sums: _Sums) -> Floats:
    """s/√k of each score (s, m) over k items; NaN below two items."""
    k = np.where(sums.weight >= 2, sums.weight, nan)
    variance = np.clip(sums.square - sums.score**2 / k, 0, None) / (k - 1)
    return np.sqrt(variance / k)


def _blocks(weights: NDArray[np.generic], models: int) -> Iterator[slice]:
    """Rows of `weights` (s, n) whose weights and scores fit into a block."""
    return row_blocks(len(weights), 8 * max(weights.shape[1], 10 * models), _BLOCK_BYTES)
