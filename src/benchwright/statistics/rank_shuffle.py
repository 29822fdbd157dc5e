"""Whether altering the items changes the order of models by more than chance.

Answers are (m, n) for m models and n items in [0, 1], without gaps; those to d copies of altered
items (d, m, n). Equal numbers in `clusters` (n,) are one cluster. An item's copies are resampled
with it, so intervals over items cover which options a copy took.
"""

from itertools import combinations
from math import nan
from typing import NamedTuple

import numpy as np

from benchwright.core.array_types import Floats, Integers
from benchwright.statistics import bootstrap
from benchwright.statistics.percentile import percentile_among
from benchwright.statistics.proportion import Bounded
from benchwright.statistics.rank_agreement import (
    Coefficient,
    kendall_tau_b,
    kendall_tau_b_rows,
    mean_rank_shift,
    mean_rank_shift_rows,
    ranks,
    ranks_rows,
    spearman,
    spearman_rows,
)
from benchwright.statistics.subset_scores import full_scores, subset_scores


class RankShuffle(NamedTuple):
    """How far the order of m models moves from the original items to the copies."""

    kendall_tau_b: Bounded  # of the original scores and the mean over copies; interval over items
    spearman: Bounded  # the same by Spearman's correlation
    mean_rank_shift: Bounded  # mean absolute change of rank, in ranks
    tau_b_between_copies: Bounded  # mean over pairs of copies: their common order
    # of the original scores and those on resampled original items, the mean and the middle of the
    # resamples: how far the order moves if only the choice of items changes.
    tau_b_resampled: Bounded
    percentile: float  # where `kendall_tau_b` stands among these, 0–100
    ranks: Floats  # (m, 6) rank before with its bounds, rank after with its bounds


def rank_shuffle(
    original: Floats,
    perturbed: Floats,
    clusters: Integers,
    bootstrap_samples: int,
    generator: np.random.Generator,
) -> RankShuffle:
    """Compare the ranking on the original items with those on their altered copies.

    `original` is (m, n), `perturbed` (d, m, n), `clusters` (n,). Items are resampled
    `bootstrap_samples` times; 0 gives no intervals.
    """
    d, m, n = perturbed.shape
    before = full_scores(original)
    copies = perturbed.reshape(d * m, n)
    each = full_scores(copies).reshape(d, m)
    after = np.round(each.mean(axis=0), 12)
    blocks = bootstrap.resample_blocks(clusters, bootstrap_samples, generator)
    counts = np.concatenate([np.zeros((0, n), np.int16), *blocks])
    before_items = subset_scores(original, counts)  # (s, m)
    each_items = subset_scores(copies, counts).reshape(len(counts), d, m)
    after_items = np.round(each_items.mean(axis=1), 12)

    tau = kendall_tau_b(before, after)
    again = kendall_tau_b_rows(before, before_items)
    taus = kendall_tau_b_rows(before_items, after_items)
    rhos = spearman_rows(before_items, after_items)
    shifts = mean_rank_shift_rows(before_items, after_items)
    return RankShuffle(
        kendall_tau_b=_around(tau, taus),
        spearman=_around(spearman(before, after), rhos),
        mean_rank_shift=_around(mean_rank_shift(before, after), shifts, bounds=(0, np.inf)),
        tau_b_between_copies=_between_copies(each, each_items),
        tau_b_resampled=_resampled(tau, again),
        percentile=percentile_among(tau.value, again),
        ranks=np.column_stack([*_ranks(before, before_items), *_ranks(after, after_items)]),
    )


def _around(
    metric: Coefficient, resampled: Floats, bounds: tuple[float, float] = (-1, 1)
) -> Bounded:
    if metric.reason:
        return Bounded(nan, nan, nan, metric.reason)
    interval = bootstrap.normal_interval(metric.value, resampled, bounds)
    return Bounded(metric.value, interval.low, interval.high, interval.reason)


def _between_copies(each: Floats, each_items: Floats) -> Bounded:
    pairs = list(combinations(range(len(each)), 2))
    if not pairs:
        return Bounded(nan, nan, nan, f"{len(each)} copy; at least 2 are needed")
    coefficients = [kendall_tau_b(each[i], each[j]) for i, j in pairs]
    known = [found for found in coefficients if not found.reason] or coefficients[:1]
    mean = known[0]._replace(value=float(np.mean([found.value for found in known])))
    resampled = [kendall_tau_b_rows(each_items[:, i], each_items[:, j]) for i, j in pairs]
    return _around(mean, np.mean(resampled, axis=0))


def _resampled(tau: Coefficient, again: Floats) -> Bounded:
    if tau.reason:
        return Bounded(nan, nan, nan, tau.reason)
    interval = bootstrap.percentile_interval(again)
    known = again[~np.isnan(again)]
    value = float(known.mean()) if len(known) else nan
    return Bounded(value, interval.low, interval.high, interval.reason)


def _ranks(scores: Floats, resampled: Floats) -> tuple[Floats, Floats, Floats]:
    if not resampled.size:
        blank = np.full(len(scores), nan)
        return ranks(scores), blank, blank
    resampled_ranks = ranks_rows(resampled)
    # Bounds are observed ranks, rounded outwards, and not interpolated.
    low = np.quantile(resampled_ranks, bootstrap.TAILS[0], axis=0, method="lower")
    high = np.quantile(resampled_ranks, bootstrap.TAILS[1], axis=0, method="higher")
    return ranks(scores), low, high
