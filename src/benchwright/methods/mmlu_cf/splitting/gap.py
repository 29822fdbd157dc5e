"""The gap between the halves, and whether the public one looks leaked (MMLU-CF, section 4.5)."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from math import isnan, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.core.errors import InputError
from benchwright.datasets.half_scores import GroupFigures, HalfFigures, SealedIdentity
from benchwright.methods.mmlu_cf.sealing.aggregate import OTHER
from benchwright.params.mmlu_cf import HalfGapParams
from benchwright.params.scoring import ModelsParams
from benchwright.statistics.percentile import holm
from benchwright.statistics.proportion import ShareDifference, two_proportions, wilson_interval
from benchwright.tables.mmlu_cf import HalfGap, HalfGapShares
from benchwright.tracking import metric_name

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
        hits, other = (round(s.accuracy * s.n) if s.n else 0 for s in (test, validation))
        return two_proportions(hits, test.n, other, validation.n, level)
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
    names = ("validation", "n_validation", "test", "n_test")
    halves = list(zip(*(own[name] for name in names), strict=True))
    out = []
    for bound in bounds:
        # Δ is a difference of two decimals: 0.005 as it is written must not count as below.
        hits = int((size < bound - 1e-12).sum())
        interval = wilson_interval(hits, len(size), level)
        expected = float(np.mean([_below(bound, *row) for row in halves]))
        out.append(GapShare(bound, hits / len(size), *interval[:2], expected, len(size)))
    return out


def _below(bound: float, validation: float, n_validation: int, test: float, n_test: int) -> float:
    """The chance that two halves of these sizes differ by less, at their common accuracy."""
    from scipy.special import ndtr

    whole = n_validation + n_test
    p = (validation * n_validation + test * n_test) / whole
    error = sqrt(p * (1 - p) * (1 / n_validation + 1 / n_test))
    return 1.0 if error == 0 else float(2 * ndtr(bound / error) - 1)


_HALVES = ("validation", "test")


class PairedHalves(NamedTuple):
    """What can be compared, and what cannot.

    Attributes:
        benchmark: whose halves.
        scores: of each configuration in all and by field, in order.
        untold: one sentence on each file that stands alone or holds no accuracy.
        versions: of the package, in order; with several, differences may be theirs.
    """

    benchmark: SealedIdentity
    scores: tuple[ScoredHalves, ...]
    untold: tuple[str, ...]
    versions: tuple[str, ...]


def pair_halves(figures: Mapping[str, HalfFigures], sealed: str | None = None) -> PairedHalves:
    """Pair the halves by model, style and shots, within one sealing of one benchmark.

    Only fields that both halves tell by themselves are paired: what is told together with others
    may be other fields in each half.

    Args:
        figures: by file.
        sealed: the benchmark's name or the beginning of the SHA-256 of its `test.sealed`; None
            where there are figures of one.

    Raises:
        InputError: there are figures of none or several, a half of a configuration is there
            twice, or no configuration has both halves.
    """
    benchmark = _choose({one.benchmark for one in figures.values()}, sealed)
    files: dict[tuple[str, str, int], dict[str, str]] = {}
    for file, one in figures.items():
        if one.benchmark != benchmark:
            continue
        key = (one.model, one.style, one.shots)
        own = files.setdefault(key, {})
        if one.half in own:
            raise InputError(
                f"half_gap: {own[one.half]} and {file} are both of {configuration_name(*key)} on "
                f"the {one.half} half; leave one"
            )
        own[one.half] = file
    scores: list[ScoredHalves] = []
    untold: list[str] = []
    for key, own in sorted(files.items()):
        reason = _untold(own, figures)
        if reason:
            untold.append(f"{configuration_name(*key)}: {reason}")
            continue
        scores += _scored(*(figures[own[half]] for half in _HALVES))
    if not scores:
        raise InputError(f"half_gap: no model has figures of both halves ({'; '.join(untold)})")
    used = {one.version for one in figures.values() if one.benchmark == benchmark}
    return PairedHalves(benchmark, tuple(scores), tuple(untold), tuple(sorted(used)))


def model_groups(names: Iterable[str], models: ModelsParams) -> dict[str, str]:
    """The size group of each model: a server whose size is not told is an API.

    Models that conf does not list are `unknown`.
    """
    groups = {}
    for name in names:
        model = models.models.get(name)
        size = None if model is None else model.size_b
        api = model is not None and model.endpoint is not None and size is None
        groups[name] = size_group(size, api=api)
    return groups


def _choose(there: set[SealedIdentity], sealed: str | None) -> SealedIdentity:
    listed = ", ".join(sorted(f"{one.name} ({one.test[:12]})" for one in there)) or "none"
    found = [
        one for one in there if sealed is None or one.name == sealed or one.test.startswith(sealed)
    ]
    if len(found) == 1:
        return found[0]
    asked = "" if sealed is None else f" for half_gap.sealed={sealed}"
    raise InputError(
        f"half_gap: figures of {len(found)} sealed benchmarks{asked}; there are {listed}: "
        "choose one by name or by these digits (--params half_gap.sealed=…)"
    )


def _untold(own: Mapping[str, str], figures: Mapping[str, HalfFigures]) -> str:
    missing = [half for half in _HALVES if half not in own]
    if missing:
        return f"no figures of the {missing[0]} half"
    reasons = (figures[own[half]] for half in _HALVES)
    return "; ".join(
        f"{one.half}: {one.reason or 'no accuracy'}" for one in reasons if one.all.accuracy is None
    )


def _scored(validation: HalfFigures, test: HalfFigures) -> list[ScoredHalves]:
    key = (test.model, test.style, test.shots)
    rows = [ScoredHalves(*key, _score(validation.all), _score(test.all))]
    for field in sorted(validation.fields.keys() & test.fields.keys() - {OTHER}):
        first, second = validation.fields[field], test.fields[field]
        rows.append(ScoredHalves(*key, _score(first), _score(second), field))
    return rows


def _score(group: GroupFigures) -> HalfScore:
    # Without an error of its own a group is no group of independent items.
    accuracy, error = (nan if one is None else one for one in (group.accuracy, group.se))
    return HalfScore(group.n, accuracy, error)


logger = logging.getLogger(__name__)


class ComparedHalves(NamedTuple):
    """Of which benchmark the halves are, and what a reader has to know of the figures."""

    benchmark: SealedIdentity
    notes: tuple[str, ...]


def compare_halves(
    half_scores: Mapping[str, HalfFigures], half_gap: HalfGapParams, models: ModelsParams
) -> tuple[pd.DataFrame, ComparedHalves]:
    """Pair the figures of both halves and say where the public one looks leaked.

    Returns:
        A `HalfGap` table, and which benchmark it is about with what could not be compared.

    Raises:
        InputError: no model has both halves, or figures are of several benchmarks.
    """
    paired = pair_halves(half_scores, half_gap.sealed)
    groups = model_groups(sorted({one.model for one in paired.scores}), models)
    gaps = half_gaps(paired.scores, groups, half_gap.level, half_gap.alpha)
    notes = list(paired.untold)
    unknown = [name for name, group in groups.items() if group == "unknown"]
    if unknown:
        notes.append(f"size not known (conf: models.models.<name>.size_b): {', '.join(unknown)}")
    if len(paired.versions) > 1:
        notes.append(
            f"figures are by versions {', '.join(paired.versions)}: a difference may be theirs"
        )
    for note in notes:
        logger.warning("half_gap: %s", note)
    return gaps, ComparedHalves(paired.benchmark, tuple(notes))


def count_small_gaps(half_gap: pd.DataFrame, settings: HalfGapParams) -> pd.DataFrame:
    """Count the configurations whose |Δ| is below each bound.

    Returns:
        A `HalfGapShares` table: all ways of asking, then each; in each all sizes, then each.
    """
    whole = half_gap[half_gap["field"].eq("")]
    rows: list[tuple[Any, ...]] = []
    for style, shots in [("", -1), *sorted(set(zip(whole["style"], whole["shots"], strict=True)))]:
        one_way = whole["style"].eq(style) & whole["shots"].eq(shots)
        asked = whole if style == "" else whole[one_way]
        for group in ("", *SIZE_GROUPS):
            own = asked if group == "" else asked[asked["size_group"].eq(group)]
            if group and own.empty:
                continue
            rows += [
                (str(style), int(shots), group, one.below, one.n, *one[1:5], one.reason)
                for one in gap_shares(own, settings.bounds, settings.level)
            ]
    return HalfGapShares.from_rows(rows)


def collect_gap_metrics(half_gap: pd.DataFrame, half_gap_shares: pd.DataFrame) -> dict[str, float]:
    """Collect Δ and corrected p of each configuration, alarms, and shares of small gaps."""
    whole = half_gap[half_gap["field"].eq("")]
    figures = {
        "configurations": float(len(whole)),
        "alarms": float(whole["suspicious"].sum()),
        "alarms_in_fields": float(half_gap["suspicious"].sum() - whole["suspicious"].sum()),
        "mean_delta": float(whole["delta"].mean()),
    }
    for row in whole.to_dict("records"):
        name = configuration_name(str(row["model"]), str(row["style"]), int(row["shots"]))
        for column in ("delta", "p_holm"):
            figures[f"{column}.{metric_name(name)}"] = float(row[column])
    everything = half_gap_shares[
        half_gap_shares["style"].eq("") & half_gap_shares["size_group"].eq("")
    ]
    for row in everything.to_dict("records"):
        bound = f"{100 * float(row['below']):g}_points"
        figures[f"share_below_{bound}"] = float(row["share"])
        figures[f"expected_below_{bound}"] = float(row["expected"])
    return {name: value for name, value in figures.items() if np.isfinite(value)}
