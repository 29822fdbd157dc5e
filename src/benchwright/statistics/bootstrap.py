"""Bootstrap intervals of rank agreement: over items, by whole clusters, and over models.

Two uncertainties are separate. Over items: other questions of the same kind, the models fixed.
Over models: other models of the same kind, the questions fixed. Draws come from the generator in a
fixed order and do not depend on memory or workers.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.statistics import rank_agreement
from benchwright.statistics.rank_agreement import Coefficient, Float
from benchwright.statistics.subset_scores import subset_scores

_BLOCK_BYTES = 1 << 27
# With more undefined resamples than this share, the interval says so.
_MANY_MISSING = 0.05
_CORRELATION = (-1.0, 1.0)
_SHIFT = (0.0, np.inf)
_LEVEL = 0.95
TAILS = ((1 - _LEVEL) / 2, 1 - (1 - _LEVEL) / 2)
"""Quantiles of the bounds of the middle 95%."""


class Interval(NamedTuple):
    """A 95% interval from `draws` resamples; `reason` says why it is NaN, or holds a caveat."""

    low: float
    high: float
    draws: int
    reason: str = ""


class MetricIntervals(NamedTuple):
    """Intervals of the metrics that compare scores on all items with those on the kept ones."""

    kendall_tau_b: Interval
    spearman: Interval
    pearson: Interval
    mean_rank_shift: Interval


class RankIntervals(NamedTuple):
    """The same metrics under two kinds of uncertainty: other items, and other models."""

    over_items: MetricIntervals
    over_models: MetricIntervals


def cluster_resamples(
    clusters: NDArray[np.integer], draws: int, generator: np.random.Generator
) -> NDArray[np.int16]:
    """Count how often each item is drawn (draws, n) when clusters are resampled.

    Equal numbers in `clusters` (n,) are one cluster. The number of items in a resample varies where
    clusters vary in size.
    """
    out = np.zeros((draws, len(clusters)), dtype=np.int16)
    start = 0
    for block in resample_blocks(clusters, draws, generator):
        out[start : start + len(block)] = block
        start += len(block)
    return out


def resample_blocks(
    clusters: NDArray[np.integer], draws: int, generator: np.random.Generator
) -> Iterator[NDArray[np.int16]]:
    """Yield the rows of `cluster_resamples` in blocks of bounded memory."""
    _, cluster = np.unique(clusters, return_inverse=True)
    groups = int(cluster.max()) + 1 if len(cluster) else 0
    step = max(1, _BLOCK_BYTES // (16 * groups)) if groups else max(draws, 1)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        if groups == 0:
            yield np.zeros((rows, 0), dtype=np.int16)
            continue
        drawn = generator.integers(0, groups, (rows, groups))
        drawn += groups * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * groups).reshape(rows, groups)
        yield np.take(counts.astype(np.int16), cluster, axis=1)


def model_resamples(m: int, draws: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Resample the row numbers of m models with replacement (draws, m)."""
    if m == 0:
        return np.empty((draws, 0), dtype=np.intp)
    return generator.integers(0, m, (draws, m), dtype=np.intp)


def percentile_interval(values: ArrayLike) -> Interval:
    """Return the middle 95% of resampled values (draws,) (Efron 1979).

    Resamples without the metric (NaN) are left out; the reason counts them above 5%.
    """
    known, reason = _known(values)
    if not len(known):
        return Interval(np.nan, np.nan, 0, reason)
    low, high = np.quantile(known, TAILS)
    return Interval(float(low), float(high), len(known), reason)


def fisher_interval(r: float, n: int) -> Interval:
    """Return the 95% interval of Pearson's correlation over n models (Fisher 1921).

    It assumes models that vary normally. NaN with fewer than four models, and for r = ±1.
    """
    if n < 4 or not abs(r) < 1:
        return Interval(np.nan, np.nan, 0)
    from scipy.special import ndtri

    half = ndtri(TAILS[1]) / np.sqrt(n - 3)
    low, high = np.tanh([np.arctanh(r) - half, np.arctanh(r) + half])
    return Interval(float(low), float(high), 0)


def normal_interval(
    value: float, values: ArrayLike, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> Interval:
    """Return `value` ± z · the standard deviation of resampled `values`, cut at `bounds`.

    For metrics whose resamples are biased: resampled items repeat, so two rankings of a resample
    agree less than those of the items themselves, and the percentile interval lies too low.
    """
    from scipy.special import ndtri

    known, reason = _known(values)
    if len(known) < 2 or np.isnan(value):
        return Interval(np.nan, np.nan, len(known), reason or "there is no metric to bound")
    reach = float(ndtri((1 + _LEVEL) / 2)) * float(np.std(known, ddof=1))
    low, high = max(value - reach, bounds[0]), min(value + reach, bounds[1])
    return Interval(low, high, len(known), reason)


def rank_agreement_intervals(
    correct: NDArray[np.floating],
    kept_mask: NDArray[np.bool_],
    clusters: NDArray[np.integer],
    draws: int,
    generator: np.random.Generator,
) -> RankIntervals:
    """Bound tau-b, Spearman, Pearson and mean rank shift between all and the kept items.

    Over items, clusters are resampled and both scores are computed from the same resample; the
    interval is the normal one, since percentiles lie too low there. Over models, scores stay and
    models are resampled; the interval is the percentile one. A model drawn twice ties with itself
    in both rankings, so such pairs drop out of tau-b. Intervals of missing metrics are NaN.

    `correct` is (m, n) in [0, 1], NaN for missing answers; `kept_mask` and `clusters` are (n,).
    """
    n = correct.shape[1]
    both = np.stack([np.ones(n, dtype=np.bool_), np.asarray(kept_mask, dtype=np.bool_)])
    full, kept = subset_scores(correct, both)
    over_models = model_resamples(len(correct), draws, generator)
    full_items, kept_items = np.empty((2, draws, len(correct)))
    start = 0
    for counts in resample_blocks(clusters, draws, generator) if len(correct) else ():
        rows = slice(start, start + len(counts))
        full_items[rows] = subset_scores(correct, counts)
        kept_items[rows] = subset_scores(correct, counts * both[1])
        start = rows.stop
    full_models, kept_models = full[over_models], kept[over_models]
    none_kept = "" if both[1].any() else "no item is kept"
    few_clusters = _why_no_items(both[1], clusters)
    over_both: tuple[list[Interval], list[Interval]] = ([], [])
    shift = rank_agreement.rank_shift(full, kept)
    for metric, of_rows, bounds in (
        (rank_agreement.kendall_tau_b(full, kept), rank_agreement.kendall_tau_b_rows, _CORRELATION),
        (rank_agreement.spearman(full, kept), rank_agreement.spearman_rows, _CORRELATION),
        (rank_agreement.pearson(full, kept), rank_agreement.pearson_rows, _CORRELATION),
        (
            Coefficient(shift.mean, shift.n, shift.reason),
            rank_agreement.mean_rank_shift_rows,
            _SHIFT,
        ),
    ):
        reason = none_kept or metric.reason or _why_none(draws)
        missing = Interval(np.nan, np.nan, 0, reason)
        by_items = by_models = missing
        if not reason:
            by_models = percentile_interval(_in_blocks(of_rows, full_models, kept_models))
            drawn = _in_blocks(of_rows, full_items, kept_items)
            by_items = normal_interval(metric.value, drawn, bounds)
        if few_clusters and not missing.reason:
            by_items = missing._replace(reason=few_clusters)
        over_both[0].append(noted(by_items))
        over_both[1].append(noted(by_models))
    return RankIntervals(MetricIntervals(*over_both[0]), MetricIntervals(*over_both[1]))


def _in_blocks(rows: Callable[[ArrayLike, ArrayLike], Float], x: Float, y: Float) -> Float:
    step = max(1, _BLOCK_BYTES // (128 * max(x.shape[1], 1)))
    parts = [rows(x[i : i + step], y[i : i + step]) for i in range(0, len(x), step)]
    return np.concatenate(parts)


def _known(values: ArrayLike) -> tuple[Float, str]:
    drawn = np.asarray(values, dtype=np.float64).ravel()
    known: Float = drawn[~np.isnan(drawn)]
    missing = len(drawn) - len(known)
    if not len(known):
        return known, "no resample has this metric" if len(drawn) else _why_none(0)
    if missing > _MANY_MISSING * len(drawn):
        return known, f"{missing} of {len(drawn)} resamples do not have this metric"
    return known, ""


def noted(interval: Interval) -> Interval:
    """Add a caveat to an interval of width 0: equal resamples do not imply certainty."""
    if interval.reason or interval.low < interval.high or np.isnan(interval.low):
        return interval
    return interval._replace(reason="all resamples agree; the true uncertainty is larger")


def _why_none(draws: int) -> str:
    return "" if draws > 0 else "no resamples were asked for"


def _why_no_items(kept: NDArray[np.bool_], clusters: NDArray[np.integer]) -> str:
    groups = len(np.unique(np.asarray(clusters)[kept]))
    if groups >= 2:
        return ""
    return f"the kept items form {groups} cluster{'' if groups == 1 else 's'}; resampling needs 2"
