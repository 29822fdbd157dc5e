"""Metrics over rates with random bands (DELE, Figures 1–7 and 32, Table 1)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.token_counts import COUNTED_BY
from benchwright.exports.export import CHOSEN, CHOSEN_BY_SUBJECT
from benchwright.methods.dele.evidence.choice import composed, model_splits, winners_of_splits
from benchwright.methods.dele.evidence.sampler_results import (
    HIGHER_IS_BETTER,
    METRICS,
    MIDDLE,
    measure_samplers,
    repeat_seed,
)
from benchwright.methods.dele.evidence.study import SamplingStudy
from benchwright.methods.dele.samplers.pool import Sampler, SamplingPool
from benchwright.methods.dele.samplers.registry import RANDOM, sampler_kinds
from benchwright.statistics.preservation import ModelPanels
from benchwright.tables.dele import ChosenCurves, SamplingCurves, SamplingSummary

_KEY = ["sampler", "panel", "rate", "size"]
_FEWEST_DRAWS = 20  # of `random` that show the middle 95%


def _by_metric(results: pd.DataFrame, key: Sequence[str]) -> Any:
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


def trace_chosen(
    sampler_choice: pd.DataFrame, subject_choices: pd.DataFrame, study: SamplingStudy
) -> pd.DataFrame:
    """Compute the curves of the samplers that each split of the models chose.

    The draws are those of the choice, at more rates. The other lines are the subset composed of the
    samplers chosen inside each subject, and random, all on the held-out models. Return a
    `ChosenCurves` table; empty if no split chose a sampler.
    """
    won = winners_of_splits(sampler_choice)
    if won.empty:
        return ChosenCurves.empty()
    chosen = {int(n): str(name) for n, name in zip(won["split"], won["winner"], strict=True)}
    splits = {n: half for n, half in enumerate(model_splits(study)) if n in chosen}
    correct, samplers = study.panels.correct, study.samplers()
    model_panels = ModelPanels.of(correct, {str(n): half.held_out for n, half in splits.items()})
    draws = study.draws(study.rates, by_splits=True)

    def measure(
        line: str, name: str, sampler: Sampler, pool: SamplingPool, *numbers: object
    ) -> None:
        panels = model_panels.only(map(str, numbers))
        parts.append(measure_samplers(pool, {name: sampler}, panels, draws).assign(line=line))

    parts: list[pd.DataFrame] = []
    measure(RANDOM, RANDOM, samplers[RANDOM], study.plain, *splits)
    for number, name in chosen.items():
        pool = study.plain
        if name not in study.samplers(responses=False):
            pool = replace(pool, correct=correct[splits[number].selection])
        measure(CHOSEN, name, samplers[name], pool, number)
    for split, own in subject_choices[subject_choices["split"].isin(splits)].groupby("split"):
        sampler = composed(own.set_index("subject")["winner"], samplers)
        measure(CHOSEN_BY_SUBJECT, CHOSEN_BY_SUBJECT, sampler, study.plain, split)
    results = pd.concat(parts, ignore_index=True)
    return ChosenCurves.of(_split_means(results).merge(_random_band(results, ["rate"])))


def _split_means(results: pd.DataFrame) -> pd.DataFrame:
    """Average each line over splits, with its gain over random in the same splits."""
    groups = _by_metric(results, ["line", "panel", "rate", "size"])
    by_split = pd.DataFrame({"mean": groups.mean(), "sd": groups.std(ddof=1)})
    gain = by_split["mean"] - by_split[[]].join(by_split["mean"].xs(RANDOM))["mean"]
    signs = {name: 1 if better else -1 for name, better in HIGHER_IS_BETTER.items()}
    by_split["gain"] = by_split.index.get_level_values("metric").map(signs) * gain
    lines = by_split.groupby(["line", "rate", "size", "metric"])
    low, _, high = (lines["gain"].quantile(q) for q in MIDDLE)
    return lines.mean().assign(splits=lines.size(), gain_low=low, gain_high=high).reset_index()
