"""Bootstrap intervals of rank agreement: over items, by whole clusters, and over models.

Two uncertainties are separate. Over items: other questions of the same kind, the models fixed.
Over models: other models of the same kind, the questions fixed. Draws come from the generator in a
fixed order and do not depend on memory or workers.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.statistics import rank_agreement
from benchwright.statistics.rank_agreement import FEWEST_MODELS, Float
from benchwright.statistics.subset_scores import subset_scores

_BLOCK_BYTES = 1 << 27
# With more undefined resamples than this share, the interval says so.
_MANY_MISSING = 0.05
_NO_DRAWS = "no resamples were asked for"
_CORRELATIONS = {
    "kendall_tau_b": rank_agreement.kendall_tau_b_rows,
    "spearman": rank_agreement.spearman_rows,
    "pearson": rank_agreement.pearson_rows,
}
_LEVEL = 0.95
TAILS = ((1 - _LEVEL) / 2, 1 - (1 - _LEVEL) / 2)
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
    clusters: NDArray[np.integer], draws: int, generator: np.random.Generator
) -> Iterator[NDArray[np.int16]]:
    """Yield blocks (b, n) of `draws` counts of how often each item is drawn, by whole clusters.

    Equal numbers in `clusters` (n,) are one cluster. The number of items in a resample varies where
    clusters vary in size.
    """
    names, cluster = np.unique(clusters, return_inverse=True)
    groups = len(names)
    step = max(1, _BLOCK_BYTES // (16 * max(groups, 1)))
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        drawn = generator.integers(0, max(groups, 1), (rows, groups))
        drawn += groups * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * groups).reshape(rows, groups)
        yield np.take(counts.astype(np.int16), cluster, axis=1)


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
    m = len(correct)
    full, kept = subset_scores(correct, np.stack([np.ones_like(kept_mask), kept_mask]))
    drawn_models = generator.integers(0, max(m, 1), (draws, m))
    full_items, kept_items = np.empty((2, draws, m))
    start = 0
    for counts in resample_blocks(clusters, draws, generator) if m else ():
        rows = slice(start, start := start + len(counts))
        full_items[rows] = subset_scores(correct, counts)
        kept_items[rows] = subset_scores(correct, counts * kept_mask)
    shift = rank_agreement.rank_shift(full, kept)[0]
    groups = len(np.unique(clusters[kept_mask]))
    few = f"the kept items form {groups} cluster{'s' * (groups != 1)}; resampling needs 2"
    out = RankIntervals({}, {})
    for name, metric, of_rows, bounds in (
        *(
            (name, getattr(rank_agreement, name)(full, kept), rows, (-1.0, 1.0))
            for name, rows in _CORRELATIONS.items()
        ),
        ("mean_rank_shift", shift, rank_agreement.mean_rank_shift_rows, (0.0, np.inf)),
    ):
        reason = "" if kept_mask.any() else "no item is kept"
        reason = reason or metric.reason or ("" if draws else _NO_DRAWS)
        by_items = by_models = Interval(np.nan, np.nan, 0, reason)
        if not reason:
            by_models = percentile_interval(of_rows(full[drawn_models], kept[drawn_models]))
            by_items = by_items._replace(reason=few)
            if groups > 1:
                by_items = normal_interval(metric[0], of_rows(full_items, kept_items), bounds)
        out.over_items[name], out.over_models[name] = noted(by_items), noted(by_models)
    return out


def order_interval(
    scores: Float,
    better: NDArray[np.bool_],
    families: Sequence[str],
    draws: int,
    generator: np.random.Generator | None,
) -> Interval:
    """Bound the share of pairs `better` (m, m) in the same order in `scores` (m,), over families.

    Whole families are resampled, since models of one family change places together. NaN for fewer
    than three families.
    """
    names, family = np.unique(np.array(families, dtype=str), return_inverse=True)
    f = len(names)
    if f < FEWEST_MODELS or not better.any() or generator is None:
        return Interval(np.nan, np.nan, 0)
    drawn = generator.integers(0, f, (draws, f)) + f * np.arange(draws)[:, None]
    weights = np.bincount(drawn.ravel(), minlength=draws * f).reshape(draws, f)[:, family]
    weights = weights.astype(np.float64)
    in_order = better * (np.sign(scores[:, None] - scores) + 1) / 2
    pairs, kept = ((weights @ of) * weights for of in (better.astype(np.float64), in_order))
    with np.errstate(invalid="ignore"):
        return percentile_interval(kept.sum(axis=1) / pairs.sum(axis=1))


def _known(values: ArrayLike) -> tuple[Float, str]:
    drawn = np.asarray(values, dtype=np.float64).ravel()
    known: Float = drawn[~np.isnan(drawn)]
    missing = len(drawn) - len(known)
    if not len(known):
        return known, "no resample has this metric" if len(drawn) else _NO_DRAWS
    if missing > _MANY_MISSING * len(drawn):
        return known, f"{missing} of {len(drawn)} resamples do not have this metric"
    return known, ""


def noted(interval: Interval) -> Interval:
    """Add a caveat to an interval of width 0: equal resamples do not imply certainty."""
    if interval.reason or interval.low < interval.high or np.isnan(interval.low):
        return interval
    return interval._replace(reason="all resamples agree; the true uncertainty is larger")
