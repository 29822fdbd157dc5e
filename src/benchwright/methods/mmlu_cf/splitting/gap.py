"""The gap between the halves, and whether the public one looks leaked (MMLU-CF, section 4.5)."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from math import isnan, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.core.errors import InputError
from benchwright.datasets.half_scores import GroupResult, HalfResult, SealedIdentity
from benchwright.methods.mmlu_cf.sealing.seal import OTHER
from benchwright.params.mmlu_cf import HalfGapParams
from benchwright.params.scoring import ModelsParams
from benchwright.statistics.percentile import holm
from benchwright.statistics.proportion import ShareDifference, wilson_interval
from benchwright.tables.mmlu_cf import HalfGap, HalfGapShares
from benchwright.tracking import known_metrics

logger = logging.getLogger(__name__)

SIZE_GROUPS = ("api", "large", "medium", "small", "mini", "unknown")
"""API, above 50, 13–50, 6–12 and at most 5 billion parameters (Table 1)."""
_HALVES = ("validation", "test")


class HalfScore(NamedTuple):
    """A model on one half: answered items, accuracy 0–1, its standard error over clusters."""

    n: int
    accuracy: float
    se: float


class ScoredHalves(NamedTuple):
    """A configuration on both halves; `field` "" is all fields."""

    model: str
    style: str
    shots: int
    validation: HalfScore
    test: HalfScore
    field: str = ""


class GapShare(NamedTuple):
    """The share of models whose |Δ| is below a bound; all values but `n` are 0–1.

    `low` and `high` are Wilson's interval, as if models were independent. `expected` is the share
    by sampling error alone, if both halves were equally hard.
    """

    below: float
    share: float
    low: float
    high: float
    expected: float
    n: int
    reason: str = ""


def size_group(size_b: float | None, *, api: bool = False) -> str:
    """Return the size group of a model with so many 10⁹ parameters (Table 1).

    A size between two groups counts as the larger.
    """
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
    originals: Mapping[str, tuple[float, float]] | None = None,
) -> pd.DataFrame:
    """Compute Δ of each model with its interval, as a `HalfGap` table.

    The halves hold different items, so their errors add up; interval and test are normal. A model
    is `suspicious` if validation is above test and the difference holds after Holm's correction
    over all models at two-sided `alpha`; the chance of any false alarm is then at most `alpha`/2.
    Fields are corrected over models and fields. Each key occurs once in `scores`; a model without a
    group is "unknown". `originals` are accuracy and items on the original benchmark by
    configuration, or by model where a log does not say how it asked.
    """
    ordered = sorted(scores, key=lambda score: (*score[:3], score.field))
    gaps = [_difference(score.validation, score.test, level) for score in ordered]
    adjusted = np.full(len(gaps), nan)
    for whole in (True, False):
        family = [i for i, score in enumerate(ordered) if (score.field == "") == whole]
        adjusted[family] = holm([gaps[i].p_value for i in family])
    rows: list[tuple[Any, ...]] = [
        (
            *score[:3],
            groups.get(score.model, "unknown"),
            *(score.validation.n, score.test.n),
            *(score.validation.accuracy, score.test.accuracy),
            *gap[:3],
            bool(gap.difference < 0 and p <= alpha),
            *(score.field, gap.p_value, p, gap.reason),
            *_original(score, originals or {}),
        )
        for score, gap, p in zip(ordered, gaps, adjusted.tolist(), strict=True)
    ]
    return HalfGap.from_rows(rows)


def _original(
    score: ScoredHalves, originals: Mapping[str, tuple[float, float]]
) -> tuple[float, float]:
    if score.field:
        return nan, nan
    named = (configuration_name(*score[:3]), score.model)
    return next((originals[name] for name in named if name in originals), (nan, nan))


def _difference(validation: HalfScore, test: HalfScore, level: float) -> ShareDifference:
    error = sqrt(test.se**2 + validation.se**2)
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


def gap_shares(
    gaps: pd.DataFrame, bounds: Sequence[float] = (0.005, 0.01), level: float = 0.95
) -> list[GapShare]:
    """Compute the shares of models with |Δ| below each bound (in the paper: 60% and 96%).

    `expected` is what independent halves of equal difficulty give by sampling alone: 53% and 85% at
    10,000 + 10,000 items and 60% accuracy. Matched halves vary less. Rows of single fields are
    ignored.
    """
    known = gaps[gaps["field"].eq("") & gaps["delta"].notna()]
    size = known["delta"].abs().to_numpy(np.float64)
    if not len(size):
        return [GapShare(bound, *(nan,) * 4, 0, "no model has both halves") for bound in bounds]
    names = ("validation", "n_validation", "test", "n_test")
    halves = list(zip(*(known[name] for name in names), strict=True))
    out = []
    for bound in bounds:
        # Δ is a difference of two decimals: exactly 0.005 must not count as below 0.005.
        hits = int((size < bound - 1e-12).sum())
        interval = wilson_interval(hits, len(size), level)
        expected = float(np.mean([_below(bound, *row) for row in halves]))
        out.append(GapShare(bound, hits / len(size), *interval[:2], expected, len(size)))
    return out


def _below(bound: float, validation: float, n_validation: int, test: float, n_test: int) -> float:
    """Return the probability that two halves of these sizes differ by less, at equal accuracy."""
    from scipy.special import ndtr

    whole = n_validation + n_test
    p = (validation * n_validation + test * n_test) / whole
    error = sqrt(p * (1 - p) * (1 / n_validation + 1 / n_test))
    return 1.0 if error == 0 else float(2 * ndtr(bound / error) - 1)


class PairedHalves(NamedTuple):
    """The configurations that have both halves, and notes on the others.

    `scores` are for all items and by field, in order. `excluded` has a sentence on each
    configuration that lacks a half or an accuracy. `versions` are those of the package; with
    several, differences may come from them.
    """

    benchmark: SealedIdentity
    scores: tuple[ScoredHalves, ...]
    excluded: tuple[str, ...]
    versions: tuple[str, ...]


def pair_halves(results: Mapping[str, HalfResult], sealed: str | None = None) -> PairedHalves:
    """Pair the halves by model, style and shots, within one sealing of one benchmark.

    Only fields that both halves report separately are paired: "other fields" may be different
    fields in each half. `results` are by file. `sealed` is the benchmark's name or the first digits
    of the SHA-256 of its `test.sealed`; None if there are results of one benchmark only.

    Raises:
        InputError: there are results of no or of several benchmarks, a half of a configuration
            occurs twice, or no configuration has both halves.
    """
    benchmark = _choose({half.benchmark for half in results.values()}, sealed)
    files: dict[tuple[str, str, int], dict[str, str]] = {}
    for file, half in results.items():
        if half.benchmark != benchmark:
            continue
        key = (half.model, half.style, half.shots)
        first = files.setdefault(key, {}).setdefault(half.half, file)
        if first != file:
            raise InputError(
                f"half_gap: {first} and {file} are both of {configuration_name(*key)} on the "
                f"{half.half} half; remove one"
            )
    scores: list[ScoredHalves] = []
    excluded: list[str] = []
    for key, by_half in sorted(files.items()):
        if reason := _reason_to_exclude(by_half, results):
            excluded.append(f"{configuration_name(*key)}: {reason}")
        else:
            scores += _scored(*(results[by_half[half]] for half in _HALVES))
    if not scores:
        raise InputError(f"half_gap: no model has results of both halves ({'; '.join(excluded)})")
    versions = {half.version for half in results.values() if half.benchmark == benchmark}
    return PairedHalves(benchmark, tuple(scores), tuple(excluded), tuple(sorted(versions)))


def model_groups(names: Iterable[str], models: ModelsParams) -> dict[str, str]:
    """Return the size group of each model; a server of unknown size is an API.

    Models that conf does not list are `unknown`.
    """
    groups = {}
    for name in names:
        model = models.models.get(name)
        size = None if model is None else model.size_b
        api = model is not None and model.endpoint is not None and size is None
        groups[name] = size_group(size, api=api)
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


def _reason_to_exclude(by_half: Mapping[str, str], results: Mapping[str, HalfResult]) -> str:
    missing = [half for half in _HALVES if half not in by_half]
    if missing:
        return f"no results of the {missing[0]} half"
    halves = (results[by_half[half]] for half in _HALVES)
    return "; ".join(
        f"{half.half}: {half.reason or 'no accuracy'}"
        for half in halves
        if half.all.accuracy is None
    )


def _scored(validation: HalfResult, test: HalfResult) -> list[ScoredHalves]:
    key = (test.model, test.style, test.shots)
    rows = [ScoredHalves(*key, _score(validation.all), _score(test.all))]
    for field in sorted(validation.fields.keys() & test.fields.keys() - {OTHER}):
        first, second = validation.fields[field], test.fields[field]
        rows.append(ScoredHalves(*key, _score(first), _score(second), field))
    return rows


def _score(group: GroupResult) -> HalfScore:
    accuracy, se = (nan if value is None else value for value in (group.accuracy, group.se))
    return HalfScore(group.n, accuracy, se)


class ComparedHalves(NamedTuple):
    """The benchmark of the halves, and notes on the results."""

    benchmark: SealedIdentity
    notes: tuple[str, ...]


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
    paired = pair_halves(half_scores, settings.sealed)
    groups = model_groups(sorted({score.model for score in paired.scores}), models)
    columns = ("model", "accuracy_full", "n_full")
    known = zip(*(original_scores[name] for name in columns), strict=True)
    originals = {str(name): (float(share), float(n)) for name, share, n in known}
    gaps = half_gaps(paired.scores, groups, settings.level, settings.alpha, originals)
    notes = list(paired.excluded)
    whole = gaps[gaps["field"].eq("")]
    alone = whole[whole["original"].isna()] if settings.original else whole[:0]
    if len(alone):
        keys = zip(alone["model"], alone["style"], alone["shots"], strict=True)
        names = ", ".join(configuration_name(*key) for key in keys)
        notes.append(f"{settings.original} has no accuracy of {names}; score it there too")
    unknown = [name for name, group in groups.items() if group == "unknown"]
    if unknown:
        notes.append(f"unknown size (conf: models.models.<name>.size_b): {', '.join(unknown)}")
    if len(paired.versions) > 1:
        notes.append(
            f"results are by versions {', '.join(paired.versions)}: a difference may be theirs"
        )
    for note in notes:
        logger.warning("half_gap: %s", note)
    return gaps, ComparedHalves(paired.benchmark, tuple(notes))


def count_small_gaps(half_gap: pd.DataFrame, settings: HalfGapParams) -> pd.DataFrame:
    """Count the configurations with |Δ| below each bound, as a `HalfGapShares` table.

    All styles and shots come first, then each; in each all sizes, then each.
    """
    whole = half_gap[half_gap["field"].eq("")]
    rows: list[tuple[Any, ...]] = []
    for style, shots in [("", -1), *sorted(set(zip(whole["style"], whole["shots"], strict=True)))]:
        one_way = whole["style"].eq(style) & whole["shots"].eq(shots)
        asked = whole if style == "" else whole[one_way]
        for group in ("", *SIZE_GROUPS):
            of_size = asked if group == "" else asked[asked["size_group"].eq(group)]
            if group and of_size.empty:
                continue
            rows += [
                (str(style), int(shots), group, share.below, share.n, *share[1:5], share.reason)
                for share in gap_shares(of_size, settings.bounds, settings.level)
            ]
    return HalfGapShares.from_rows(rows)


def collect_gap_metrics(half_gap: pd.DataFrame, half_gap_shares: pd.DataFrame) -> dict[str, float]:
    """Collect Δ and corrected p of each configuration, alarms, and shares of small gaps."""
    whole = half_gap[half_gap["field"].eq("")]
    results = {
        "configurations": float(len(whole)),
        "alarms": float(whole["suspicious"].sum()),
        "alarms_in_fields": float(half_gap["suspicious"].sum() - whole["suspicious"].sum()),
        "mean_delta": float(whole["delta"].mean()),
    }
    for row in whole.to_dict("records"):
        name = configuration_name(str(row["model"]), str(row["style"]), int(row["shots"]))
        for column in ("delta", "p_holm"):
            results[f"{column}.{name}"] = float(row[column])
    everything = half_gap_shares[
        half_gap_shares["style"].eq("") & half_gap_shares["size_group"].eq("")
    ]
    for row in everything.to_dict("records"):
        bound = f"{100 * float(row['below']):g}_points"
        results[f"share_below_{bound}"] = float(row["share"])
        results[f"expected_below_{bound}"] = float(row["expected"])
    return known_metrics(results)
