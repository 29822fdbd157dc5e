"""Metrics over rates with random bands (DELE, Figures 1–32, Table 1): overall and by subject."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from benchwright.core.token_counts import COUNTED_BY
from benchwright.exports.export import CHOSEN, CHOSEN_BY_SUBJECT
from benchwright.methods.dele.evidence.choice import (
    composed,
    large_subjects,
    model_splits,
    winners_of_splits,
)
from benchwright.methods.dele.evidence.panels import FEWEST_MODELS
from benchwright.methods.dele.evidence.sampler_results import (
    HIGHER_IS_BETTER,
    METRICS,
    MIDDLE,
    measure_samplers,
    repeat_seed,
    runs_on,
)
from benchwright.methods.dele.evidence.study import SamplingStudy
from benchwright.methods.dele.samplers.pool import Sampler, SamplingPool
from benchwright.methods.dele.samplers.registry import RANDOM, sampler_kinds
from benchwright.statistics.preservation import ModelPanels
from benchwright.tables.dele import ChosenCurves, SamplingCurves, SamplingSummary, SubjectCurves

if TYPE_CHECKING:
    from pandas.core.groupby import SeriesGroupBy


_KEY = ["sampler", "panel", "rate", "size"]
_FEWEST_DRAWS = 20  # of `random` that show the middle 95%


def _by_metric(
    results: pd.DataFrame, key: Sequence[str]
) -> "SeriesGroupBy[float, tuple[Hashable, ...]]":
    """Group the values of every metric by key."""
    long = results.melt(list(key), list(METRICS), var_name="metric", value_name="value")
    return long.groupby([*key, "metric"], sort=True)["value"]


def _random_band(results: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    """Return the middle 95% of every metric over the draws of `random`, by key and metric."""
    groups = _by_metric(results[results["sampler"] == RANDOM], key)
    names = ("random_low", "random_median", "random_high")
    band = pd.DataFrame({n: groups.quantile(q) for n, q in zip(names, MIDDLE, strict=True)})
    return band.where(groups.count() >= _FEWEST_DRAWS).reset_index()


def trace_curves(sampling_results: pd.DataFrame) -> pd.DataFrame:
    """Compute each metric over the rates: a `SamplingCurves` table.

    It holds the mean and the standard deviation over repeats, and the middle 95% of the draws of
    `random`.
    """
    if sampling_results.empty:
        return SamplingCurves.empty()
    groups = _by_metric(sampling_results, _KEY)
    table = pd.DataFrame({"mean": groups.mean(), "sd": groups.std(ddof=1)}).reset_index()
    return SamplingCurves.of(table.merge(_random_band(sampling_results, ["panel", "rate"])))


_KEPT = ("spearman", "tau_b")
SUFFICIENT = 0.9  # rank correlation of the smallest sufficient rate, as DELE's eligibility


def summarise_samplers(sampling_curves: pd.DataFrame, study: SamplingStudy) -> pd.DataFrame:
    """Summarise each sampler on the main panel.

    The smallest sufficient rate is the smallest at which, and at all higher rates, the mean
    correlation is at least `keep`. Tokens are those of the first repeat's items. Return a
    `SamplingSummary` table, sorted by decreasing Spearman correlation.
    """
    evidence, panel = study.sampling.evidence, study.panels.main
    kinds = sampler_kinds(study.sampling)
    rows = []
    of_panel = sampling_curves[sampling_curves["panel"] == panel]
    for name, curves in of_panel.groupby("sampler", sort=True):
        values = curves.set_index(["metric", "rate"])["mean"]
        at = curves[curves["rate"] == evidence.main_rate].set_index("metric")
        mean = at["mean"].astype(float).to_dict()
        sizes = curves.drop_duplicates("rate").set_index("rate")["size"]
        sufficient: list[float] = []
        for metric in _KEPT:
            rate = smallest_rate(values[metric], SUFFICIENT)
            size = int(sizes[rate]) if not np.isnan(rate) else 0
            sufficient += [rate, size, _tokens(str(name), size, study)]
        rows.append(
            (
                *(str(name), kinds[str(name)].family, panel, len(study.panels.groups[panel])),
                *(evidence.main_rate, int(at["size"].iloc[0])),
                *(mean[m] for m in (*_KEPT, "pearson", "wasserstein", "mean_absolute_error")),
                *(float(at["sd"]["spearman"]), *sufficient),
                *(float(study.tokens.sum()), COUNTED_BY),
            )
        )
    table = SamplingSummary.from_rows(rows)
    return table.sort_values(["spearman", "sampler"], ascending=[False, True], ignore_index=True)


def smallest_rate(values: pd.Series, keep: float) -> float:
    """Return the smallest rate r with `values` ≥ `keep` at r and all higher rates, or NaN."""
    rising = values.sort_index()
    falls = np.flatnonzero(~(rising >= keep).to_numpy())
    first = int(falls[-1]) + 1 if len(falls) else 0
    return float(rising.index[first]) if first < len(rising) else float("nan")


def _tokens(name: str, size: int, study: SamplingStudy) -> float:
    if not size:
        return float("nan")
    seed = repeat_seed(study.seed, name, 0)
    subset = study.samplers()[name](study.pool_of(study.panels.main), seed)(size)
    return float(study.tokens[subset.positions].sum())


SUBJECT_METRICS = ("spearman", "pearson", "wasserstein", "mean_absolute_error")
MOST_RATES = 20
"""Maximum number of rates of a curve by subject: 1% of few items is less than one item."""


def trace_subjects(study: SamplingStudy) -> pd.DataFrame:
    """Compute the curves of samplers inside each subject with enough items, on all models.

    Samplers that read responses are left out, so the result is not in-sample. Return a
    `SubjectCurves` table; empty if there is one subject or too few models.
    """
    panels = study.panels
    subjects = large_subjects(study.plain, study.sampling)
    if not subjects or len(panels.models) < FEWEST_MODELS:
        return SubjectCurves.empty()
    rates, parts = thinned(study.rates), []
    for subject, places in subjects.items():
        pool, correct = study.plain.select(places), panels.correct[:, places]
        able, _ = runs_on(study.samplers(responses=False), pool)
        model_panels = ModelPanels.of(correct, {"all": panels.groups["all"]})
        results = measure_samplers(pool, able, model_panels, study.draws(rates, tau=False))
        groups = _by_metric(results, ["sampler", "rate", "size"])
        means = groups.mean().rename("mean").reset_index().merge(_random_band(results, ["rate"]))
        parts.append(means.assign(subject=subject, n_items=len(pool), n_models=len(correct)))
    table = pd.concat(parts, ignore_index=True)
    return SubjectCurves.of(table[table["metric"].isin(SUBJECT_METRICS)])


def thinned(rates: list[float]) -> list[float]:
    """Return at most `MOST_RATES` evenly spaced rates, including the last one."""
    return rates[::-1][:: ceil(len(rates) / MOST_RATES)][::-1]


def trace_chosen(
    sampler_choice: pd.DataFrame, subject_choices: pd.DataFrame, study: SamplingStudy
) -> pd.DataFrame:
    """Compute the curves of the samplers that each split of the models chose.

    The draws are those of the choice, at more rates. The other lines are the subset composed of the
    samplers chosen inside each subject, and random, all on the held-out models. Return a
    `ChosenCurves` table; empty if no split chose a sampler.
    """
    chosen = winners_of_splits(sampler_choice).set_index("split")["winner"]
    if chosen.empty:
        return ChosenCurves.empty()
    all_splits, correct = model_splits(study), study.panels.correct
    splits = {int(number): all_splits[number] for number in chosen.index}
    members = {
        f"{line} {number}": halves.held_out
        for number, halves in splits.items()
        for line in (CHOSEN, RANDOM, CHOSEN_BY_SUBJECT)
    }
    model_panels = ModelPanels.of(correct, members)
    draws, samplers = study.draws(study.rates, by_splits=True), study.samplers()

    def measure(
        pool: SamplingPool,
        name: str,
        sampler: Sampler,
        line: str,
        numbers: Iterable[object],
    ) -> pd.DataFrame:
        panels = model_panels.only(f"{line} {number}" for number in numbers)
        return measure_samplers(pool, {name: sampler}, panels, draws)

    parts = [measure(study.plain, RANDOM, samplers[RANDOM], RANDOM, splits)]
    for name, rows in chosen.groupby(chosen):
        judged = str(name), samplers[str(name)], CHOSEN
        if name in study.samplers(responses=False):  # it draws once for all its splits
            parts.append(measure(study.plain, *judged, rows.index))
            continue
        for number in rows.index:
            pool = replace(study.plain, correct=correct[splits[number].selection])
            parts.append(measure(pool, *judged, [number]))
    for number, own in subject_choices[subject_choices["split"].isin(splits)].groupby("split"):
        sampler = composed(own.set_index("subject")["winner"], samplers)
        line = CHOSEN_BY_SUBJECT
        parts.append(measure(study.plain, line, sampler, line, [number]))
    results = pd.concat(parts, ignore_index=True)
    curves = _split_means(results).merge(_random_band(results, ["rate"]))
    return ChosenCurves.of(curves)


def _split_means(results: pd.DataFrame) -> pd.DataFrame:
    """Average each line over splits, with its gain over random in the same splits."""
    results[["line", "split"]] = results["panel"].str.rsplit(" ", n=1, expand=True)
    groups = _by_metric(results, ["line", "split", "rate", "size"])
    by_split = pd.DataFrame({"mean": groups.mean(), "sd": groups.std(ddof=1)})
    gain = by_split["mean"] - by_split[[]].join(by_split["mean"].xs(RANDOM))["mean"]
    signs = {name: 1 if better else -1 for name, better in HIGHER_IS_BETTER.items()}
    by_split["gain"] = by_split.index.get_level_values("metric").map(signs) * gain
    lines = by_split.groupby(["line", "rate", "size", "metric"])
    gains = {"gain_low": lines["gain"].quantile(MIDDLE[0])}
    gains["gain_high"] = lines["gain"].quantile(MIDDLE[2])
    return lines.mean().assign(splits=lines.size(), **gains).reset_index()
