"""The gap between the halves, and whether the public one looks leaked (MMLU-CF, section 4.5)."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.core.errors import InputError
from benchwright.datasets.half_scores import GroupResult, HalfResult, SealedIdentity
from benchwright.methods.mmlu_cf.sealing.seal import OTHER
from benchwright.params.mmlu_cf import HalfGapParams
from benchwright.params.scoring import ModelsParams
from benchwright.runs.tracking import known_metrics
from benchwright.statistics.percentile import holm
from benchwright.statistics.proportion import wilson_interval
from benchwright.tables.mmlu_cf import HalfGap, HalfGapShares

logger = logging.getLogger(__name__)

SIZE_GROUPS = ("api", "large", "medium", "small", "mini", "unknown")
"""API, above 50, 13–50, 6–12 and at most 5 billion parameters (Table 1)."""
LEVEL = 0.95
"""Coverage of the intervals."""
ALPHA = 0.05
"""Level of the two-sided test, over all configurations."""
BOUNDS = (0.005, 0.01)
"""Bounds of |Δ| below which configurations are counted; in the paper 60% and 96% are below."""
_HALVES = ("validation", "test")


class ScoredHalves(NamedTuple):
    """A configuration on both halves; `field` "" is all fields."""

    model: str
    style: str
    shots: int
    validation: GroupResult
    test: GroupResult
    field: str = ""


def half_gaps(
    scores: Sequence[ScoredHalves],
    groups: Mapping[str, str],
    alpha: float = 0.05,
    originals: Mapping[str, tuple[float, float]] | None = None,
) -> pd.DataFrame:
    """Compute Δ of each model with its interval, as a `HalfGap` table.

    The halves hold different items, so their errors add up; interval and test are normal. A model
    is `suspicious` if validation is above test and the difference holds after Holm's correction
    over all models (and fields) at two-sided `alpha`; the chance of any false alarm is then at most
    `alpha`/2. A model without a group is "unknown". `originals` are accuracy and items on the
    original benchmark by configuration, or by model where a log does not say how it asked.
    """
    ordered = sorted(scores, key=lambda score: (*score[:3], score.field))
    gaps = [_gap(score.validation, score.test) for score in ordered]
    p_values = np.array([gap.p_value for gap in gaps])
    of_fields = np.array([score.field != "" for score in ordered], dtype=np.bool_)
    adjusted = np.full(len(gaps), nan)
    for family in (of_fields, ~of_fields):
        adjusted[family] = holm(p_values[family])
    rows = []
    for score, gap, p in zip(ordered, gaps, adjusted.tolist(), strict=True):
        accuracy, n = _original(score, originals or {})
        row: dict[str, Any] = score._asdict() | gap._asdict()
        row |= {
            "size_group": groups.get(score.model, "unknown"),
            "n_validation": score.validation.n,
            "n_test": score.test.n,
            "validation": score.validation.accuracy,
            "test": score.test.accuracy,
            "suspicious": bool(gap.delta < 0 and p <= alpha),
            "p_holm": p,
            "original": accuracy,
            "n_original": n,
        }
        rows.append(row)
    return HalfGap.from_rows(rows)


def _original(
    score: ScoredHalves, originals: Mapping[str, tuple[float, float]]
) -> tuple[float, float]:
    """Return accuracy and items on the original benchmark, NaN if unknown."""
    if score.field:
        return nan, nan
    by_model = originals.get(score.model, (nan, nan))
    return originals.get(configuration_name(score.model, score.style, score.shots), by_model)


class _Gap(NamedTuple):
    """Δ, test minus validation, its bounds, and the p-value of no difference, or why not."""

    delta: float
    low: float = nan
    high: float = nan
    p_value: float = nan
    reason: str = ""


def _gap(validation: GroupResult, test: GroupResult) -> _Gap:
    if validation.accuracy is None or test.accuracy is None:
        return _Gap(nan, reason="no accuracy")
    delta = test.accuracy - validation.accuracy
    if validation.se is None or test.se is None:
        return _Gap(delta, reason="the items of a half form one cluster; 2 are needed")
    error = sqrt(test.se**2 + validation.se**2)
    if error == 0:
        return _Gap(delta, reason="the answers of both halves do not vary")
    from scipy.special import ndtr, ndtri

    reach = float(ndtri((1 + LEVEL) / 2)) * error
    p_value = 2 * float(ndtr(-abs(delta) / error))
    return _Gap(delta, delta - reach, delta + reach, p_value)


def count_small_gaps(half_gap: pd.DataFrame) -> pd.DataFrame:
    """Count the configurations with |Δ| below each of `BOUNDS`, as a `HalfGapShares` table.

    All styles and shots come first, then each; in each all sizes, then each. `expected` is what
    independent halves of equal difficulty give by sampling alone. Matched halves vary less.
    """
    whole = half_gap[half_gap["field"].eq("")]
    rows: list[tuple[Any, ...]] = []
    ways = sorted(set(zip(whole["style"], whole["shots"], strict=True)))
    for style, shots in [("", -1), *ways]:
        asked = whole
        if style:
            asked = whole[whole["style"].eq(style) & whole["shots"].eq(shots)]
        for group in ("", *SIZE_GROUPS):
            of_size = asked[asked["size_group"].eq(group)] if group else asked
            if len(of_size):
                way = (str(style), int(shots), group)
                rows += [(*way, bound, *_share_below(of_size, bound)) for bound in BOUNDS]
    return HalfGapShares.from_rows(rows)


def _share_below(gaps: pd.DataFrame, bound: float) -> tuple[float, ...]:
    """Return the number of gaps, the share below the bound, its interval and the expected share."""
    from scipy.special import ndtr

    # Δ is a difference of two decimals: exactly 0.005 must not count as below 0.005.
    hits = int((gaps["delta"].abs() < bound - 1e-12).sum())
    n = gaps["n_validation"]
    m = gaps["n_test"]
    pooled = (gaps["validation"] * n + gaps["test"] * m) / (n + m)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    below = np.where(error > 0, 2 * ndtr(bound / error.where(error > 0, 1)) - 1, 1)
    share, low, high, _ = wilson_interval(hits, len(gaps), LEVEL)
    return len(gaps), share, low, high, float(np.mean(below))


class ComparedHalves(NamedTuple):
    """The benchmark of the halves, and notes on the results."""

    benchmark: SealedIdentity
    notes: tuple[str, ...]


def pair_halves(
    results: Mapping[str, HalfResult], sealed: str | None = None
) -> tuple[list[ScoredHalves], ComparedHalves]:
    """Pair the halves by model, style and shots, within one sealing of one benchmark.

    Only fields that both halves report separately are paired. `results` are by file. `sealed` is
    the benchmark's name or the first digits of the SHA-256 of its `test.sealed`; None if there are
    results of one benchmark only. Notes name the configurations that lack a half or an accuracy.

    Raises:
        InputError: there are results of no or of several benchmarks, a half of a configuration
            occurs twice, or no configuration has both halves.
    """
    benchmark = _choose({half.benchmark for half in results.values()}, sealed)
    own = {file: half for file, half in results.items() if half.benchmark == benchmark}
    files: dict[tuple[str, str, int], dict[str, str]] = {}
    for file, half in own.items():
        key = (half.model, half.style, half.shots)
        first = files.setdefault(key, {}).setdefault(half.half, file)
        if first != file:
            raise InputError(
                f"half_gap: {first} and {file} are both of {configuration_name(*key)} on the "
                f"{half.half} half; remove one"
            )
    scores: list[ScoredHalves] = []
    notes: list[str] = []
    for key, by_half in sorted(files.items()):
        halves = [results[by_half[half]] for half in _HALVES if half in by_half]
        if reasons := _reasons(halves):
            notes.append(f"{configuration_name(*key)}: {'; '.join(reasons)}")
            continue
        public, closed = halves
        scores.append(ScoredHalves(*key, public.all, closed.all))
        for field in sorted(public.fields.keys() & closed.fields.keys() - {OTHER}):
            parts = (public.fields[field], closed.fields[field])
            scores.append(ScoredHalves(*key, *parts, field=field))
    if not scores:
        raise InputError(f"half_gap: no model has results of both halves ({'; '.join(notes)})")
    return scores, ComparedHalves(benchmark, tuple(notes))


def _reasons(halves: Sequence[HalfResult]) -> list[str]:
    """Say which half a configuration lacks, or the accuracy of which."""
    present = [half.half for half in halves]
    lacking = [half for half in _HALVES if half not in present]
    if lacking:
        return [f"no results of the {half} half" for half in lacking]
    withheld = [half for half in halves if half.all.accuracy is None]
    return [f"{half.half}: {half.reason or 'no accuracy'}" for half in withheld]


def model_groups(names: Iterable[str], models: ModelsParams) -> dict[str, str]:
    """Return the size group of each model (Table 1); a server of unknown size is an API.

    A size between two groups counts as the larger. Models that conf does not list are `unknown`.
    """
    bounds = {"large": 50, "medium": 12, "small": 5, "mini": 0}
    groups = {}
    for name in names:
        model = models.models.get(name)
        groups[name] = "unknown"
        if model is None:
            continue
        if model.endpoint is not None:
            groups[name] = "api"
        if (size := model.size_b) is not None:
            groups[name] = next(group for group, above in bounds.items() if size > above)
    return groups


def _choose(benchmarks: set[SealedIdentity], sealed: str | None) -> SealedIdentity:
    chosen = [
        identity
        for identity in benchmarks
        if sealed is None or identity.name == sealed or identity.test.startswith(sealed)
    ]
    if len(chosen) == 1:
        return chosen[0]
    listed = ", ".join(sorted(f"{b.name} ({b.test[:12]})" for b in benchmarks)) or "none"
    asked = "" if sealed is None else f" for half_gap.sealed={sealed}"
    raise InputError(
        f"half_gap: results of {len(chosen)} sealed benchmarks{asked}; there are {listed}: "
        "choose one by name or by these digits (--params half_gap.sealed=…)"
    )


def compare_halves(
    half_scores: Mapping[str, HalfResult],
    original_scores: pd.DataFrame,
    settings: HalfGapParams,
    models: ModelsParams,
) -> tuple[pd.DataFrame, ComparedHalves]:
    """Pair the results of both halves and flag models for which the public one looks leaked.

    `original_scores` are `Scores` of `settings.original`, without rows if it is None. Return a
    `HalfGap` table, and the benchmark with notes on what could not be compared.

    Raises:
        InputError: no model has both halves, results are of several benchmarks, or the original
            benchmark has no saved scores.
    """
    if settings.original is not None and original_scores.empty:
        benchmark, variant, *_ = settings.original.split("/")
        raise InputError(
            f"half_gap.original: no saved scores of {settings.original}; run kedro run --pipeline "
            f"smart --params benchmark={benchmark},variant={variant}"
        )
    scores, compared = pair_halves(half_scores, settings.sealed)
    groups = model_groups(sorted({score.model for score in scores}), models)
    known = original_scores[["model", "accuracy_full", "n_full"]].itertuples(index=False)
    originals = {str(name): (float(share), float(n)) for name, share, n in known}
    gaps = half_gaps(scores, groups, ALPHA, originals)
    notes = list(compared.notes)
    unknown = [name for name, group in groups.items() if group == "unknown"]
    if unknown:
        notes.append(f"unknown size (conf: models.models.<name>.size_b): {', '.join(unknown)}")
    for note in notes:
        logger.warning("half_gap: %s", note)
    return gaps, ComparedHalves(compared.benchmark, tuple(notes))


def collect_gap_metrics(half_gap: pd.DataFrame) -> dict[str, float]:
    """Collect alarms and the mean of Δ, for MLflow."""
    whole = half_gap[half_gap["field"].eq("")]
    return known_metrics(
        {
            "configurations": len(whole),
            "alarms": whole["suspicious"].sum(),
            "alarms_in_fields": half_gap.loc[half_gap["field"].ne(""), "suspicious"].sum(),
            "mean_delta": whole["delta"].mean(),
        }
    )
