"""Metrics over rates with random bands (DELE, Figures 1–32): overall, by subject, by target."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.exports.export import CHOSEN, CHOSEN_BY_SUBJECT
from benchwright.methods.dele.evidence.against_random import (
    HIGHER_IS_BETTER,
    MIDDLE,
    quantiles,
    random_results,
)
from benchwright.methods.dele.evidence.by_subject import ORDER_BY_SUBJECT, large_subjects
from benchwright.methods.dele.evidence.choice import (
    composed,
    fixed_orders,
    measure_orders,
    model_splits,
    winners_of_splits,
)
from benchwright.methods.dele.evidence.panels import FEWEST_MODELS, ModelSplit
from benchwright.methods.dele.evidence.sampler_results import METRICS, measure_samplers, runs_on
from benchwright.methods.dele.evidence.study import SamplingStudy, sizes_of_rates
from benchwright.methods.dele.samplers.registry import RANDOM, sampler_kinds
from benchwright.statistics.percentile import percentile_among
from benchwright.statistics.preservation import ModelPanels
from benchwright.tables.dele import ChosenCurves, SamplingCurves, SubjectCurves, TargetCurves

if TYPE_CHECKING:
    from pandas.core.groupby import SeriesGroupBy


_KEY = ["sampler", "panel", "rate", "size"]
_BAND = ["random_low", "random_median", "random_high"]


def _by_metric(
    results: pd.DataFrame, key: Sequence[str], metrics: Sequence[str] = METRICS
) -> "SeriesGroupBy[float, tuple[Hashable, ...]]":
    """Group the values of every metric by key."""
    long = results.melt(list(key), list(metrics), var_name="metric", value_name="value")
    return long.groupby([*key, "metric"], sort=True)["value"]


def _middle(groups: "SeriesGroupBy[float, tuple[Hashable, ...]]") -> dict[str, pd.Series]:
    return {"low": groups.quantile(MIDDLE[0]), "high": groups.quantile(MIDDLE[2])}


def trace_curves(sampling_results: pd.DataFrame, random_bands: pd.DataFrame) -> pd.DataFrame:
    """Compute each metric over the rates: a `SamplingCurves` table.

    It holds the mean, the spread over repeats and the random band.
    """
    if sampling_results.empty:
        return SamplingCurves.empty()
    groups = _by_metric(sampling_results, _KEY)
    table = pd.DataFrame({"mean": groups.mean(), "sd": groups.std(ddof=1), **_middle(groups)})
    table = table.reset_index().merge(
        random_bands, on=["panel", "rate", "size", "metric"], how="left"
    )
    return pd.DataFrame(SamplingCurves.validate(table[SamplingCurves.columns()]))


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
    rates, draws = thinned(study.rates), study.sampling.evidence.band_subsets
    parts = []
    for subject, places in subjects.items():
        pool, correct = study.plain.select(places), panels.correct[:, places]
        able, _ = runs_on(study.samplers(responses=False), pool)
        model_panels = ModelPanels.of(correct, {"all": panels.groups["all"]})
        results = measure_samplers(pool, able, model_panels, study.draws(rates, tau=False))
        groups = _by_metric(results, ["sampler", "rate", "size"], SUBJECT_METRICS)
        means = groups.mean().rename("mean").reset_index()
        rows = []
        for rate, size in zip(rates, sizes_of_rates(rates, len(pool)), strict=True):
            generator = study.generator(f"subject_curves/{subject}/{rate:g}")
            random = random_results(model_panels, size, draws, generator, tau=False)["all"]
            rows += [(rate, name, *quantiles(getattr(random, name))) for name in SUBJECT_METRICS]
        band = pd.DataFrame(rows, columns=["rate", "metric", *_BAND])
        means = means.merge(band, on=["rate", "metric"], how="left")
        parts.append(means.assign(subject=subject, n_items=len(pool), n_models=len(correct)))
    table = pd.concat(parts, ignore_index=True)[SubjectCurves.columns()]
    return pd.DataFrame(SubjectCurves.validate(table))


def thinned(rates: list[float]) -> list[float]:
    """Return at most `MOST_RATES` evenly spaced rates, including the last one."""
    return rates[::-1][:: ceil(len(rates) / MOST_RATES)][::-1]


def target_weights(subjects: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return the weights (n,) of n items in the benchmark's score, by target; each sums to 1.

    `items` weighs all items equally. `subjects` weighs all subjects equally, and items equally
    inside each; it is absent if there is at most one subject.
    """
    n = len(subjects)
    weights = {"items": np.full(n, 1 / max(n, 1))}
    _, subject, counts = np.unique(
        np.array(subjects, dtype=str), return_inverse=True, return_counts=True
    )
    if len(counts) > 1:
        weights["subjects"] = 1 / (len(counts) * counts[subject])
    return weights


def trace_targets(study: SamplingStudy) -> pd.DataFrame:
    """Compute the curves of samplers for two scores of the benchmark, on the main panel.

    For both targets the score of a subset is the mean over its items, and draws and random subsets
    are the same. Return a `TargetCurves` table; empty if there is one subject or fewer than three
    models.
    """
    main = study.panels.main
    n_models = len(study.panels.groups[main])
    pool = study.pool_of(main)
    targets = target_weights(pool.subjects)
    if len(targets) < 2 or n_models < FEWEST_MODELS:
        return TargetCurves.empty()
    able, _ = runs_on(study.samplers(), pool)
    members = dict.fromkeys(targets, study.panels.groups[main])
    model_panels = ModelPanels.of(study.panels.correct, members, targets)
    results = measure_samplers(pool, able, model_panels, study.draws(study.rates))
    results = results.rename(columns={"panel": "target"}).assign(panel=main)
    random: dict[str, dict[tuple[float, str], NDArray[np.float64]]] = {name: {} for name in targets}
    for rate, size in study.sizes(study.rates):
        generator = study.generator(f"targets/{rate:g}")
        draws = study.sampling.evidence.band_subsets
        for target, drawn in random_results(model_panels, size, draws, generator).items():
            random[target] |= {(rate, name): values for name, values in drawn._asdict().items()}
    parts = [
        _target_means(own, random[str(target)]).assign(target=target)
        for target, own in results.groupby("target")
    ]
    table = pd.concat(parts, ignore_index=True).assign(n_models=n_models)
    order = ["target", "metric", "sampler", "rate"]
    table = table.sort_values(order, ignore_index=True)[TargetCurves.columns()]
    return pd.DataFrame(TargetCurves.validate(table))


def _target_means(
    results: pd.DataFrame, random: dict[tuple[float, str], NDArray[np.float64]]
) -> pd.DataFrame:
    """Compute each sampler's mean at each rate, and its percentile among random subsets."""
    groups = _by_metric(results, _KEY)
    table = pd.DataFrame({"mean": groups.mean(), "sd": groups.std(ddof=1)}).reset_index()
    places = list(zip(table["rate"].tolist(), table["metric"].tolist(), strict=True))
    bounds = {place: quantiles(values) for place, values in random.items()}
    table[_BAND] = [bounds[place] for place in places]
    table["percentile"] = [
        percentile_among(mean, random[place])
        for mean, place in zip(table["mean"].tolist(), places, strict=True)
    ]
    return table


IN_SAMPLE, ORDER = "chosen_in_sample", "random_order"
"""Lines of `ChosenCurves`: the winner (`CHOSEN`) in-sample, and the best random order."""


def trace_chosen(
    sampler_choice: pd.DataFrame, subject_choices: pd.DataFrame, study: SamplingStudy
) -> pd.DataFrame:
    """Compute the curves of the samplers that each split of the models chose.

    The draws are those of the choice, at more rates. The other lines are the subset composed of the
    samplers chosen inside each subject, random, the best of as many random orders, for the whole
    benchmark and composed by subject, and single random subsets, all measured on the held-out
    models. Return a `ChosenCurves` table; empty if no split chose a sampler.
    """
    chosen = winners_of_splits(sampler_choice).set_index("split")
    if chosen.empty:
        return ChosenCurves.empty()
    all_splits = model_splits(study)
    splits = {int(number): all_splits[number] for number in chosen.index}
    judged = (CHOSEN, IN_SAMPLE, RANDOM, ORDER, CHOSEN_BY_SUBJECT, ORDER_BY_SUBJECT)
    members = {
        f"{line} {number}": halves.selection if line == IN_SAMPLE else halves.held_out
        for number, halves in splits.items()
        for line in judged
    }
    model_panels = ModelPanels.of(study.panels.correct, members)
    parts = [
        *_winners(chosen["winner"], splits, model_panels, study),
        *_randoms(chosen["luck_winner"], model_panels, study),
        *_composed(subject_choices, list(splits), model_panels, study),
    ]
    table = _split_means(pd.concat(parts, ignore_index=True)).merge(
        _band(list(splits), model_panels, study), on=["rate", "metric"], how="left"
    )
    return pd.DataFrame(ChosenCurves.validate(table[ChosenCurves.columns()]))


def _winners(
    winners: pd.Series,
    splits: dict[int, ModelSplit],
    model_panels: ModelPanels,
    study: SamplingStudy,
) -> Iterable[pd.DataFrame]:
    """Measure each split's winner on both sides; one that reads no responses draws once."""
    samplers, plain = study.samplers(), study.samplers(responses=False)
    for name, rows in winners.groupby(winners):
        together = name in plain
        for numbers in [list(rows.index)] if together else [[number] for number in rows.index]:
            pool = study.plain
            if not together:
                pool = pool.answered(model_panels.correct[splits[numbers[0]].selection])
            panels = model_panels.only(
                f"{line} {n}" for n in numbers for line in (CHOSEN, IN_SAMPLE)
            )
            sampler = {str(name): samplers[str(name)]}
            yield measure_samplers(pool, sampler, panels, study.split_draws(study.rates))


def _randoms(
    orders: pd.Series, model_panels: ModelPanels, study: SamplingStudy
) -> Iterable[pd.DataFrame]:
    """Measure random and the best random order of each split on the held-out models."""
    draws = study.split_draws(study.rates)
    held_out = model_panels.only(f"{RANDOM} {number}" for number in orders.index)
    yield measure_samplers(study.plain, {RANDOM: study.samplers()[RANDOM]}, held_out, draws)
    known = fixed_orders(len(sampler_kinds(study.sampling)), study.seed)
    for name, rows in orders[orders.ne("")].groupby(orders):
        panels = model_panels.only(f"{ORDER} {number}" for number in rows.index)
        yield measure_orders(study, {str(name): known[str(name)]}, panels, draws)


def _composed(
    choices: pd.DataFrame, splits: list[int], model_panels: ModelPanels, study: SamplingStudy
) -> Iterable[pd.DataFrame]:
    """Measure each split's subset composed by subject, and that of the best random orders."""
    draws, samplers = study.split_draws(study.rates), study.samplers()
    orders = fixed_orders(len(samplers), study.seed)
    repeats = min(draws.repeats.values())
    for number, own in choices[choices["split"].isin(splits)].groupby("split"):
        by_subject = own.set_index("subject")
        for line, names, known, times in (
            (CHOSEN_BY_SUBJECT, by_subject["winner"], samplers, repeats),
            (ORDER_BY_SUBJECT, by_subject["luck_winner"], orders, 1),
        ):
            sampler = {line: composed(names, known)}
            panel = model_panels.only([f"{line} {number}"])
            yield measure_samplers(
                study.plain, sampler, panel, replace(draws, repeats={line: times})
            )


def _split_means(results: pd.DataFrame) -> pd.DataFrame:
    results[["line", "split"]] = results["panel"].str.rsplit(" ", n=1, expand=True)
    groups = _by_metric(results, ["line", "split", "rate", "size"])
    by_split = pd.DataFrame({"mean": groups.mean(), "sd": groups.std(ddof=1)}).reset_index()
    random = by_split[by_split["line"] == RANDOM]
    by_split = by_split.merge(
        random[["split", "rate", "metric", "mean"]],
        on=["split", "rate", "metric"],
        suffixes=("", "_random"),
    )
    signs = {name: 1 if better else -1 for name, better in HIGHER_IS_BETTER.items()}
    held_out = by_split["line"].ne(IN_SAMPLE)
    gain = by_split["metric"].map(signs) * (by_split["mean"] - by_split["mean_random"])
    by_split["gain"] = gain.where(held_out)
    lines = by_split.groupby(["line", "rate", "size", "metric"])
    means = {"splits": lines.size(), "mean": lines["mean"].mean(), **_middle(lines["mean"])}
    means |= {"sd": lines["sd"].mean(), "gain": lines["gain"].mean()}
    means |= {f"gain_{end}": bound for end, bound in _middle(lines["gain"]).items()}
    return pd.DataFrame(means).reset_index()


def _band(splits: list[int], model_panels: ModelPanels, study: SamplingStudy) -> pd.DataFrame:
    """Compute the middle 95% of single random subsets at each rate, over all splits."""
    evidence = study.sampling.evidence
    panels = {number: f"{RANDOM} {number}" for number in splits}
    rows = []
    for rate, size in study.sizes(study.rates):
        tested = rate in evidence.at_rates
        draws = ceil((evidence.random_subsets if tested else evidence.band_subsets) / len(splits))
        parts = []
        for number, panel in panels.items():
            generator = study.generator(f"chosen_curves/{rate:g}/{number}")
            parts.append(random_results(model_panels.only([panel]), size, draws, generator)[panel])
        for metric in METRICS:
            together = np.concatenate([getattr(part, metric) for part in parts])
            rows.append((rate, metric, *quantiles(together)))
    return pd.DataFrame(rows, columns=["rate", "metric", *_BAND])
