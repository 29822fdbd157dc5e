"""Bootstrap intervals of rank agreement: over items, by whole clusters, and over models.

Two uncertainties are separate. Over items: other questions of the same kind, the models fixed.
Over models: other models of the same kind, the questions fixed. Draws come from the generator in a
fixed order and do not depend on memory or workers.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.core.array_types import AnyFloats, Bools, Floats, Integers, Places
from benchwright.core.wording import count
from benchwright.statistics.rank_agreement import (
    FEWEST_MODELS,
    Coefficient,
    RowMetric,
    kendall_tau_b,
    kendall_tau_b_rows,
    mean_rank_shift,
    mean_rank_shift_rows,
    pearson,
    pearson_rows,
    spearman,
    spearman_rows,
)
from benchwright.statistics.subset_scores import subset_scores

_BLOCK_BYTES = 1 << 27
# With more undefined resamples than this share, the interval says so.
_MANY_MISSING = 0.05
_NO_DRAWS = "no resamples were asked for"
TAILS = ((1 - 0.95) / 2, 0.975)
"""Quantiles of the bounds of the middle 95%."""


class Interval(NamedTuple):
    """A 95% interval from `draws` resamples; `reason` says why it is NaN, or holds a caveat."""

    low: float
    high: float
    draws: int
    reason: str = ""


class RankIntervals(NamedTuple):
    """Intervals by metric under two kinds of uncertainty: other items, and other models."""

    over_items: dict[str, Interval]
    over_models: dict[str, Interval]


def resample_blocks(
    clusters: Integers, draws: int, generator: np.random.Generator
) -> Iterator[NDArray[np.int16]]:
    """Yield blocks (b, n) of `draws` counts of how often each item is drawn, by whole clusters.

    Equal numbers in `clusters` (n,) are one cluster. The number of items in a resample varies where
    clusters vary in size.
    """
    names, cluster = np.unique(clusters, return_inverse=True)
    step = max(1, _BLOCK_BYTES // (16 * max(len(names), 1)))
    for start in range(0, draws, step):
        counts = _draw_groups(len(names), min(step, draws - start), generator)
        yield np.take(counts.astype(np.int16), cluster, axis=1)


def _draw_groups(groups: int, draws: int, generator: np.random.Generator) -> Places:
    """Count how often each group is drawn in resamples of the groups (draws, groups)."""
    drawn = generator.integers(0, max(groups, 1), (draws, groups))
    drawn += groups * np.arange(draws)[:, None]
    return np.bincount(drawn.ravel(), minlength=draws * groups).reshape(draws, groups)


def percentile_interval(values: ArrayLike) -> Interval:
    """Return the middle 95% of resampled values (draws,) (Efron 1979).

    Resamples without the metric (NaN) are left out; the reason counts them above 5%.
    """
    known, reason = _known(values)
    if not len(known):
        return Interval(nan, nan, 0, reason)
    low, high = np.quantile(known, TAILS)
    return Interval(float(low), float(high), len(known), reason)


def fisher_interval(r: float, n: int) -> Interval:
    """Return the 95% interval of Pearson's correlation over n models (Fisher 1921).

    It assumes models that vary normally. NaN with fewer than four models, and for r = ±1.
    """
    if n < 4 or not abs(r) < 1:
        return Interval(nan, nan, 0)
    from scipy.special import ndtri

    z = np.arctanh(r)
    half = ndtri(TAILS[1]) / np.sqrt(n - 3)
    return Interval(float(np.tanh(z - half)), float(np.tanh(z + half)), 0)


def normal_interval(
    value: float, values: ArrayLike, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> Interval:
    """Return `value` ± z · the standard deviation of resampled `values`, cut at `bounds`.

    For metrics whose resamples are biased: resampled items repeat, so two rankings of a resample
    agree less than those of the items themselves, and the percentile interval lies too low.
    The reason warns of an interval of width 0.
    """
    from scipy.special import ndtri

    known, reason = _known(values)
    if len(known) < 2 or np.isnan(value):
        return Interval(nan, nan, len(known), reason or "there is no metric to bound")
    reach = float(ndtri(TAILS[1])) * float(np.std(known, ddof=1))
    low = max(value - reach, bounds[0])
    high = min(value + reach, bounds[1])
    return _noted(Interval(low, high, len(known), reason))


class _Metric(NamedTuple):
    of: Callable[[ArrayLike, ArrayLike], Coefficient]
    of_rows: RowMetric
    bounds: tuple[float, float] = (-1.0, 1.0)


_METRICS = {
    "kendall_tau_b": _Metric(kendall_tau_b, kendall_tau_b_rows),
    "spearman": _Metric(spearman, spearman_rows),
    "pearson": _Metric(pearson, pearson_rows),
    "mean_rank_shift": _Metric(mean_rank_shift, mean_rank_shift_rows, (0.0, np.inf)),
}


def rank_agreement_intervals(
    correct: AnyFloats,
    kept_mask: Bools,
    clusters: Integers,
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
    m = len(correct)
    masks = np.stack([np.ones_like(kept_mask), kept_mask])
    full, kept = subset_scores(correct, masks)
    models = generator.integers(0, max(m, 1), (draws, m))
    before, after = _resampled_scores(correct, masks, resample_blocks(clusters, draws, generator))
    groups = len(np.unique(clusters[kept_mask]))
    few = f"the kept items form {count(groups, 'cluster')}; resampling needs 2"
    intervals = RankIntervals({}, {})
    for name, metric in _METRICS.items():
        value = metric.of(full, kept)
        reason = value.reason or ("" if draws else _NO_DRAWS)
        if not groups:
            reason = "no item is kept"
        over_items = over_models = Interval(nan, nan, 0, reason or few)
        if not reason:
            over_models = _noted(percentile_interval(metric.of_rows(full[models], kept[models])))
            if groups > 1:
                resampled = metric.of_rows(before, after)
                over_items = normal_interval(value.value, resampled, metric.bounds)
        intervals.over_items[name] = over_items
        intervals.over_models[name] = over_models
    return intervals


def _resampled_scores(correct: AnyFloats, masks: Bools, blocks: Iterable[Integers]) -> Floats:
    """Return the scores (2, draws, m) on resampled items, of which `masks` (2, n) are scored."""
    scores = [np.empty((2, 0, len(correct)))]
    for counts in blocks:
        both = [subset_scores(correct, counts * mask) for mask in masks]
        scores.append(np.stack(both))
    return np.concatenate(scores, axis=1)


def order_interval(
    scores: Floats,
    better: Bools,
    families: Sequence[str],
    draws: int,
    generator: np.random.Generator | None,
) -> Interval:
    """Bound the share of pairs `better` (m, m) in the same order in `scores` (m,), over families.

    Whole families are resampled, since models of one family change places together. NaN for fewer
    than three families.
    """
    names, family = np.unique(np.array(families, dtype=str), return_inverse=True)
    if len(names) < FEWEST_MODELS or not better.any() or generator is None:
        return Interval(nan, nan, 0)
    # Each model counts as often as its family is drawn, (draws, m).
    weights = _draw_groups(len(names), draws, generator)[:, family].astype(np.float64)
    in_order = better * (np.sign(scores[:, None] - scores) + 1) / 2
    kept = (weights @ in_order * weights).sum(axis=1)
    pairs = (weights @ better.astype(np.float64) * weights).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return percentile_interval(kept / pairs)


def _known(values: ArrayLike) -> tuple[Floats, str]:
    drawn = np.asarray(values, dtype=np.float64).ravel()
    known: Floats = drawn[~np.isnan(drawn)]
    missing = len(drawn) - len(known)
    if not len(known):
        return known, "no resample has this metric" if len(drawn) else _NO_DRAWS
    if missing > _MANY_MISSING * len(drawn):
        return known, f"{missing} of {len(drawn)} resamples do not have this metric"
    return known, ""


def _noted(interval: Interval) -> Interval:
    """Add a caveat to an interval of width 0: equal resamples do not imply certainty."""
    if interval.reason or interval.low < interval.high or np.isnan(interval.low):
        return interval
    return interval._replace(reason="all resamples agree; the true uncertainty is larger")
