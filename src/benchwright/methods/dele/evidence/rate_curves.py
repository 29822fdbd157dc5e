"""Metrics over rates with random bands (DELE, Figures 1–7 and 32, Table 1)."""

from collections.abc import Iterable
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
    direction,
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


def _by_metric(results: pd.DataFrame, key: list[str]) -> Any:
    long = results.melt(key, list(METRICS), var_name="metric", value_name="value")
    return long.groupby([*key, "metric"])["value"]


def _random_band(results: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Return the middle 95% of every metric over the draws of `random`, by key and metric."""
    groups = _by_metric(results[results["sampler"] == RANDOM], key)
    low, median, high = map(groups.quantile, MIDDLE)
    band = pd.DataFrame({"random_low": low, "random_median": median, "random_high": high})
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


SUFFICIENT = 0.9  # rank correlation of the smallest sufficient rate, as DELE's eligibility


def summarise_samplers(sampling_curves: pd.DataFrame, study: SamplingStudy) -> pd.DataFrame:
    """Summarise each sampler on the main panel.

    The smallest sufficient rate is the smallest at which, and at all higher rates, the mean
    correlation is at least `keep`. Tokens are those of the first repeat's items. Return a
    `SamplingSummary` table, sorted by decreasing Spearman correlation.
    """
    main_rate = study.sampling.evidence.main_rate
    panel = study.panels.main
    kinds = sampler_kinds(study.sampling)
    rows = []
    of_panel = sampling_curves[sampling_curves["panel"] == panel]
    for name, curves in of_panel.groupby("sampler"):
        at = curves[curves["rate"] == main_rate].set_index("metric")
        row = {
            "sampler": name,
            "family": kinds[str(name)].family,
            "panel": panel,
            "n_models": len(study.panels.groups[panel]),
            "rate": main_rate,
            "size": at["size"].iloc[0],
            **at["mean"].to_dict(),
            "spearman_sd": at["sd"]["spearman"],
            "tokens_in_all": study.tokens.sum(),
            "tokens_by": COUNTED_BY,
        }
        for metric in ("spearman", "tau_b"):
            by_rate = curves[curves["metric"] == metric].set_index("rate")
            rate = smallest_rate(by_rate["mean"], SUFFICIENT)
            size = 0 if np.isnan(rate) else int(by_rate["size"][rate])
            row[f"rate_for_{metric}"] = rate
            row[f"items_for_{metric}"] = size
            row[f"tokens_for_{metric}"] = _tokens(str(name), size, study)
        rows.append(row)
    table = SamplingSummary.from_rows(rows)
    return table.sort_values(["spearman", "sampler"], ascending=[False, True], ignore_index=True)


def smallest_rate(values: pd.Series, keep: float) -> float:
    """Return the smallest rate r with `values` ≥ `keep` at r and all higher rates, or NaN."""
    rising = values.sort_index()
    falls = np.flatnonzero(~(rising >= keep).to_numpy())
    first = falls[-1] + 1 if len(falls) else 0
    return float(rising.index[first]) if first < len(rising) else np.nan


def _tokens(name: str, size: int, study: SamplingStudy) -> float:
    if not size:
        return np.nan
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
    chosen = dict(zip(won["split"].tolist(), won["winner"].tolist(), strict=True))
    splits = {n: half for n, half in enumerate(model_splits(study)) if n in chosen}
    correct = study.panels.correct
    samplers = study.samplers()
    model_panels = ModelPanels.of(correct, {str(n): half.held_out for n, half in splits.items()})
    draws = study.draws(study.rates, by_splits=True)

    def measure(
        line: str, sampler: Sampler, numbers: Iterable[object], *, name: str, pool: SamplingPool
    ) -> pd.DataFrame:
        panels = model_panels.only(map(str, numbers))
        return measure_samplers(pool, {name: sampler}, panels, draws).assign(line=line)

    parts = [measure(RANDOM, samplers[RANDOM], splits, name=RANDOM, pool=study.plain)]
    for number, name in chosen.items():
        pool = study.plain
        if name not in study.samplers(responses=False):
            pool = replace(pool, correct=correct[splits[number].selection])
        parts.append(measure(CHOSEN, samplers[name], [number], name=name, pool=pool))
    by_subject = subject_choices[subject_choices["split"].isin(splits)]
    for split, own in by_subject.groupby("split"):
        sampler = composed(own.set_index("subject")["winner"], samplers)
        line = CHOSEN_BY_SUBJECT
        parts.append(measure(line, sampler, [split], name=line, pool=study.plain))
    results = pd.concat(parts, ignore_index=True)
    return ChosenCurves.of(_split_means(results).merge(_random_band(results, ["rate"])))


def _split_means(results: pd.DataFrame) -> pd.DataFrame:
    """Average each line over splits, with its gain over random in the same splits."""
    groups = _by_metric(results, ["line", "panel", "rate", "size"])
    by_split = pd.DataFrame({"mean": groups.mean(), "sd": groups.std(ddof=1)})
    gain = by_split["mean"] - by_split[[]].join(by_split["mean"].xs(RANDOM))["mean"]
    signs = {metric: direction(metric) for metric in HIGHER_IS_BETTER}
    by_split["gain"] = by_split.index.get_level_values("metric").map(signs) * gain
    lines = by_split.groupby(["line", "rate", "size", "metric"])
    low, _, high = map(lines["gain"].quantile, MIDDLE)
    return lines.mean().assign(splits=lines.size(), gain_low=low, gain_high=high).reset_index()
