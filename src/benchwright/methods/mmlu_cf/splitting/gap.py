"""The gap between the halves, and whether the public one looks leaked (MMLU-CF, section 4.5)."""

from collections.abc import Mapping, Sequence
from math import isnan, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.statistics.percentile import holm
from benchwright.statistics.proportion import ShareDifference, two_proportions, wilson_interval
from benchwright.tables.mmlu_cf import HalfGap

SIZE_GROUPS = ("api", "large", "medium", "small", "mini", "unknown")
"""API, above 50, 13–50, 6–12 and at most 5 thousand million parameters (Table 1)."""


class HalfScore(NamedTuple):
    """A model on one half: answered items, accuracy 0–1, its standard error over clusters.

    `se` None: items are independent and right or wrong, so that n and accuracy say all.
    """

    n: int
    accuracy: float
    se: float | None = None


class ScoredHalves(NamedTuple):
    """One model, asked in one way, on both halves; `field` "" is all of them."""

    model: str
    style: str
    shots: int
    validation: HalfScore
    test: HalfScore
    field: str = ""


class GapShare(NamedTuple):
    """The share of models whose |Δ| is below a bound; bounds and shares 0–1.

    Attributes:
        below: the bound.
        share: of the models; low, high its Wilson interval, as if models were independent.
        expected: what sampling error alone would give, were both halves equally hard.
        n: models.
    """

    below: float
    share: float
    low: float
    high: float
    expected: float
    n: int
    reason: str = ""


def size_group(size_b: float | None, *, api: bool = False) -> str:
    """The group of a model by its parameters in 10⁹ (Table 1); those between go up."""
    if api:
        return "api"
    if size_b is None or isnan(size_b):
        return "unknown"
    for name, above in (("large", 50), ("medium", 12), ("small", 5)):
        if size_b > above:
            return name
    return "mini"


def half_gaps(
    scores: Sequence[ScoredHalves],
    groups: Mapping[str, str],
    level: float = 0.95,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """A `HalfGap` table: Δ of each model with its interval, and the monitor's word.

    The halves are different items, so their errors add: Newcombe's interval and Fisher's test of
    two proportions, or, with a clustered error on either side, the normal ones. `suspicious`:
    validation is above test, and so far that it holds after Holm's correction over all models at
    two-sided `alpha`; the chance of any false alarm is then at most `alpha`/2. Fields are corrected
    over models and fields.

    Args:
        scores: in any order; of the same key once.
        groups: size group by model; "unknown" where it has none.
        level: coverage of the intervals.
        alpha: of the test.
    """
    ordered = sorted(scores, key=lambda one: (one.model, one.style, one.shots, one.field))
    found = [_difference(one, level) for one in ordered]
    adjusted = np.full(len(found), nan)
    for whole in (True, False):
        own = [i for i, one in enumerate(ordered) if (one.field == "") == whole]
        adjusted[own] = holm([found[i].p_value for i in own])
    rows: list[tuple[Any, ...]] = [
        (
            *one[:3],
            groups.get(one.model, "unknown"),
            one.validation.n,
            one.test.n,
            one.validation.accuracy,
            one.test.accuracy,
            *gap[:3],
            bool(gap.difference < 0 and p <= alpha),
            one.field,
            gap.p_value,
            p,
            gap.reason,
        )
        for one, gap, p in zip(ordered, found, adjusted.tolist(), strict=True)
    ]
    return HalfGap.from_rows(rows)


def _difference(one: ScoredHalves, level: float) -> ShareDifference:
    test, validation = one.test, one.validation
    counted = [score.se is None for score in (test, validation)]
    if all(counted) or not test.n or not validation.n:
        hits = (round(s.accuracy * s.n) if s.n else 0 for s in (test, validation))
        return two_proportions(next(hits), test.n, next(hits), validation.n, level)
    error = sqrt(sum(_se(score) ** 2 for score in (test, validation)))
    delta = test.accuracy - validation.accuracy
    if isnan(error):
        reason = "the items of a half form one cluster; 2 are needed"
        return ShareDifference(delta, nan, nan, nan, reason)
    if error == 0:
        return ShareDifference(delta, nan, nan, nan, "the answers of both halves do not vary")
    from scipy.special import ndtr, ndtri

    reach = float(ndtri((1 + level) / 2)) * error
    p_value = 2 * float(ndtr(-abs(delta) / error))
    return ShareDifference(delta, delta - reach, delta + reach, p_value)


def _se(score: HalfScore) -> float:
    if score.se is not None:
        return score.se
    return sqrt(score.accuracy * (1 - score.accuracy) / score.n)


def gap_shares(
    gaps: pd.DataFrame, bounds: Sequence[float] = (0.005, 0.01), level: float = 0.95
) -> list[GapShare]:
    """Shares of the models with |Δ| below each bound (the paper: 60% below 0.5, 96% below 1 point).

    `expected` is what independent halves of equal difficulty give by sampling alone: at 10,000 +
    10,000 items and 60% accuracy 53% and 85%. Matched halves vary less.

    Args:
        gaps: a `HalfGap` table; rows of single fields are passed over.
        bounds: of |Δ|, shares.
        level: coverage of the intervals.
    """
    own = gaps[gaps["field"].eq("") & gaps["delta"].notna()]
    size = own["delta"].abs().to_numpy(np.float64)
    if not len(size):
        return [GapShare(bound, *(nan,) * 4, 0, "no model has both halves") for bound in bounds]
    out = []
    for bound in bounds:
        # Δ is a difference of two decimals: 0.005 as it is written must not count as below.
        hits = int((size < bound - 1e-12).sum())
        interval = wilson_interval(hits, len(size), level)
        expected = float(np.mean([_below(bound, *row) for row in _halves(own)]))
        out.append(GapShare(bound, hits / len(size), *interval[:2], expected, len(size)))
    return out


def _halves(gaps: pd.DataFrame) -> list[tuple[float, int, float, int]]:
    columns = ("validation", "n_validation", "test", "n_test")
    return list(zip(*(gaps[name] for name in columns), strict=True))


def _below(bound: float, validation: float, n_validation: int, test: float, n_test: int) -> float:
    """The chance that two halves of these sizes differ by less, at their common accuracy."""
    from scipy.special import ndtr

    whole = n_validation + n_test
    p = (validation * n_validation + test * n_test) / whole
    error = sqrt(p * (1 - p) * (1 / n_validation + 1 / n_test))
    return 1.0 if error == 0 else float(2 * ndtr(bound / error) - 1)
