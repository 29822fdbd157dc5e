"""Figures over rates beside random subsets (DELE, Figures 1–32): all, by subject, by target."""

from collections.abc import Hashable, Iterable, Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.evidence.against_random import MIDDLE, quantiles, random_figures
from benchwright.methods.dele.evidence.choice import (
    EVERYONE,
    draws_seed,
    large_subjects,
    model_splits,
    repeats_of,
)
from benchwright.methods.dele.evidence.judging import (
    RANDOM,
    kinds_of,
    rates_of,
    reads_answers,
    ready_samplers,
    repeats_by_name,
    runs_on,
)
from benchwright.methods.dele.evidence.model_splits import ModelSplit
from benchwright.methods.dele.evidence.panels import FEWEST_JUDGES, SamplingPanels
from benchwright.methods.dele.evidence.pools import Pools
from benchwright.methods.dele.samplers.adaptive import fixed_orders
from benchwright.methods.dele.samplers.curves import FIGURES, sampler_figures, sizes_of_rates
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.percentile import percentile_among
from benchwright.statistics.preservation import Judges
from benchwright.tables.dele import ChosenCurves, SamplingCurves, SubjectCurves, TargetCurves

if TYPE_CHECKING:
    from pandas.core.groupby import SeriesGroupBy


_KEY = ["sampler", "panel", "rate", "size"]
_BAND = ["random_low", "random_median", "random_high"]


def target_weights(subjects: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Weights (n,) of n items in the score, by target; each sums to 1.

    `items` counts all items alike. `subjects` counts all subjects alike, and items alike inside
    each; it is not there where there is one subject or none.
    """
    n = len(subjects)
    found = {"items": np.full(n, 1 / max(n, 1))}
    _, own, counts = np.unique(
        np.array(subjects, dtype=str), return_inverse=True, return_counts=True
    )
    if len(counts) > 1:
        found["subjects"] = 1 / (len(counts) * counts[own])
    return found


def _by_metric(
    figures: pd.DataFrame, key: Sequence[str], metrics: Sequence[str] = FIGURES
) -> "SeriesGroupBy[float, tuple[Hashable, ...]]":
    """The values of every figure, in groups by key and metric."""
    long = figures.melt(list(key), list(metrics), var_name="metric", value_name="value")
    return long.groupby([*key, "metric"], sort=True)["value"]


def _middle(groups: "SeriesGroupBy[float, tuple[Hashable, ...]]") -> dict[str, pd.Series]:
    """Bounds of the middle 95% of each group."""
    return {"low": groups.quantile(MIDDLE[0]), "high": groups.quantile(MIDDLE[2])}


def trace_curves(sampling_figures: pd.DataFrame, random_bands: pd.DataFrame) -> pd.DataFrame:
    """Trace each figure over the rates: mean, spread over repeats, and random's band.

    Gives a `SamplingCurves` table.
    """
    if sampling_figures.empty:
        return SamplingCurves.empty()
    groups = _by_metric(sampling_figures, _KEY)
    table = pd.DataFrame({"mean": groups.mean(), "sd": groups.std(ddof=1), **_middle(groups)})
    table = table.reset_index().merge(
        random_bands, on=["panel", "rate", "size", "metric"], how="left"
    )
    return pd.DataFrame(SamplingCurves.validate(table[SamplingCurves.columns()]))


METRICS = ("spearman", "pearson", "wasserstein", "mean_absolute_error")
MOST_RATES = 20
"""Points of a curve; a subject has few items, so a percent more is often no item more."""


def trace_subjects(
    pools: Pools, panels: SamplingPanels, sampling: SamplingParams, seed: int
) -> pd.DataFrame:
    """Trace samplers inside each subject that has enough items, judged by all models.

    Samplers that read answers take no part, so nobody judges what its own answers chose.

    Returns:
        A `SubjectCurves` table, without rows where there is one subject or too few models.
    """
    subjects = large_subjects(pools.plain, sampling)
    if len(panels.models) < FEWEST_JUDGES:
        return SubjectCurves.empty()
    rates = thinned(rates_of(sampling))
    plain = reads_answers(sampling, answers=False)
    parts = []
    for subject, places in subjects.items():
        pool, correct = pools.plain.select(places), panels.correct[:, places]
        able, _ = runs_on(plain, pool)
        judges = Judges.of(correct, {"all": panels.groups["all"]})
        found = sampler_figures(
            pool, able, judges, rates, repeats_by_name(sampling), seed, tau=False
        )
        groups = _by_metric(found, ["sampler", "rate", "size"], METRICS)
        means = groups.mean().rename("mean").reset_index()
        rows = []
        for rate, size in zip(rates, sizes_of_rates(rates, len(pool)).tolist(), strict=True):
            generator = stage_generator(seed, f"sampling/subject_curves/{subject}/{rate:g}")
            draws = sampling.evidence.band_subsets
            random = random_figures(judges, size, draws, generator, tau=False)["all"]
            rows += [(rate, name, *quantiles(getattr(random, name))) for name in METRICS]
        band = pd.DataFrame(rows, columns=["rate", "metric", *_BAND])
        means = means.merge(band, on=["rate", "metric"], how="left")
        parts.append(means.assign(subject=subject, n_items=len(pool), n_models=len(correct)))
    if not parts:
        return SubjectCurves.empty()
    table = pd.concat(parts, ignore_index=True)[SubjectCurves.columns()]
    return pd.DataFrame(SubjectCurves.validate(table))


def thinned(rates: list[float]) -> list[float]:
    """At most `MOST_RATES` of the rates, evenly, the last one among them."""
    return rates[::-1][:: ceil(len(rates) / MOST_RATES)][::-1]


def trace_targets(
    pools: Pools, panels: SamplingPanels, sampling: SamplingParams, seed: int
) -> pd.DataFrame:
    """Trace samplers of the panel of headlines beside both scores of the benchmark.

    A subset's score is the mean over its items either way; both targets judge the same draws and
    the same random subsets.

    Returns:
        A `TargetCurves` table, without rows where there is one subject or fewer than three judges.
    """
    main = panels.main
    n_models = len(panels.groups[main])
    pool = pools.by_choosers[panels.chosen_by[main]]
    targets = target_weights(pool.subjects)
    if len(targets) < 2 or n_models < FEWEST_JUDGES:
        return TargetCurves.empty()
    rates, n = rates_of(sampling), len(pool)
    able, _ = runs_on(ready_samplers(sampling), pool)
    parts = []
    for target, whole in targets.items():
        judges = panels.judges([main], whole)
        figures = sampler_figures(pool, able, judges, rates, repeats_by_name(sampling), seed)
        random: dict[tuple[float, str], NDArray[np.float64]] = {}
        for rate, size in zip(rates, sizes_of_rates(rates, n).tolist(), strict=True):
            generator = stage_generator(seed, f"sampling/targets/{rate:g}")
            found = random_figures(judges, size, sampling.evidence.band_subsets, generator)[main]
            random |= {(rate, metric): values for metric, values in found._asdict().items()}
        parts.append(_target_means(figures, random).assign(target=target))
    table = pd.concat(parts, ignore_index=True).assign(n_models=n_models)
    order = ["target", "metric", "sampler", "rate"]
    table = table.sort_values(order, ignore_index=True)[TargetCurves.columns()]
    return pd.DataFrame(TargetCurves.validate(table))


def _target_means(
    figures: pd.DataFrame, random: dict[tuple[float, str], NDArray[np.float64]]
) -> pd.DataFrame:
    """Each sampler's mean at each rate, among random subsets by rate and metric."""
    groups = _by_metric(figures, _KEY)
    table = pd.DataFrame({"mean": groups.mean(), "sd": groups.std(ddof=1)}).reset_index()
    places = list(zip(table["rate"].tolist(), table["metric"].tolist(), strict=True))
    bounds = {place: quantiles(values) for place, values in random.items()}
    table[_BAND] = [bounds[place] for place in places]
    table["percentile"] = [
        percentile_among(mean, random[place])
        for mean, place in zip(table["mean"].tolist(), places, strict=True)
    ]
    return table


CHOSEN, IN_SAMPLE, ORDER = "chosen", "chosen, in-sample", "random order"
"""The winner of each split judged by the others, by those that chose it, and the luckiest order."""


def trace_chosen(
    sampler_choice: pd.DataFrame,
    pools: Pools,
    panels: SamplingPanels,
    sampling: SamplingParams,
    seed: int,
) -> pd.DataFrame:
    """Trace the sampler that each split of the models chose, over all rates.

    The draws are those by which it was chosen, at more rates. Beside it stand random, the best of
    as many random orders, and single random subsets, all judged by the models that did not choose.

    Returns:
        A `ChosenCurves` table, without rows where no split chose.
    """
    chosen = sampler_choice[
        (sampler_choice["split"] != EVERYONE) & sampler_choice["winner"].ne("")
    ].set_index("split")
    splits = model_splits(panels, sampling.adaptive, seed)
    if chosen.empty:
        return ChosenCurves.empty()
    own = {int(number): splits[number] for number in chosen.index}
    judges = _judges(own, panels)
    parts = [
        *_winners(chosen["winner"], own, judges, pools, sampling, seed),
        *_randoms(chosen["luck_winner"], judges, pools, sampling, seed),
    ]
    table = _split_means(pd.concat(parts, ignore_index=True)).merge(
        _band(list(own), judges, sampling, seed), on=["rate", "metric"], how="left"
    )
    return pd.DataFrame(ChosenCurves.validate(table[ChosenCurves.columns()]))


def _judges(splits: dict[int, ModelSplit], panels: SamplingPanels) -> Judges:
    """A panel for each line and split: the models that did not choose, and those that did."""
    sides = {CHOSEN: "held_out", IN_SAMPLE: "selection", RANDOM: "held_out", ORDER: "held_out"}
    members = {
        f"{line} {number}": getattr(halves, side)
        for number, halves in splits.items()
        for line, side in sides.items()
    }
    return Judges.of(panels.correct, members)


def _winners(
    winners: pd.Series,
    splits: dict[int, ModelSplit],
    judges: Judges,
    pools: Pools,
    sampling: SamplingParams,
    seed: int,
) -> Iterable[pd.DataFrame]:
    """Figures of each split's winner by both sides; one without answers draws once."""
    rates, repeats, own_seed = rates_of(sampling), _repeats(sampling), draws_seed(seed)
    plain = reads_answers(sampling, answers=False)
    samplers = ready_samplers(sampling)
    for name, own in winners.groupby(winners):
        together = name in plain
        for numbers in [list(own.index)] if together else [[number] for number in own.index]:
            pool = pools.plain
            if not together:
                pool = pool.answered(judges.correct[splits[numbers[0]].selection])
            own_panels = judges.only(f"{line} {n}" for n in numbers for line in (CHOSEN, IN_SAMPLE))
            sampler = {str(name): samplers[str(name)]}
            yield sampler_figures(pool, sampler, own_panels, rates, repeats, own_seed)


def _randoms(
    orders: pd.Series, judges: Judges, pools: Pools, sampling: SamplingParams, seed: int
) -> Iterable[pd.DataFrame]:
    """Figures of random, and of the luckiest order of each split, by the models held out."""
    rates = rates_of(sampling)
    everyone = judges.only(f"{RANDOM} {number}" for number in orders.index)
    random = {RANDOM: ready_samplers(sampling)[RANDOM]}
    repeats, own_seed = _repeats(sampling), draws_seed(seed)
    yield sampler_figures(pools.plain, random, everyone, rates, repeats, own_seed)
    known = fixed_orders(len(kinds_of(sampling)), seed)
    for name, own in orders[orders.ne("")].groupby(orders):
        some = judges.only(f"{ORDER} {number}" for number in own.index)
        yield sampler_figures(pools.plain, {str(name): known[str(name)]}, some, rates, 1, seed)


def _repeats(sampling: SamplingParams) -> dict[str, int]:
    return repeats_by_name(sampling.model_copy(update={"repeats": repeats_of(sampling)}))


def _split_means(figures: pd.DataFrame) -> pd.DataFrame:
    """Means over repeats and then over splits, with the middle 95% of the splits."""
    figures[["line", "split"]] = figures["panel"].str.rsplit(" ", n=1, expand=True)
    by_split = _by_metric(figures, ["line", "split", "rate", "size"]).mean()
    groups = by_split.groupby(["line", "rate", "size", "metric"])
    means = {"splits": groups.size(), "mean": groups.mean(), **_middle(groups)}
    return pd.DataFrame(means).reset_index()


def _band(splits: list[int], judges: Judges, sampling: SamplingParams, seed: int) -> pd.DataFrame:
    """Middle 95% of single random subsets at each rate, the splits together."""
    rates, draws = rates_of(sampling), ceil(sampling.evidence.band_subsets / len(splits))
    panels = {number: f"{RANDOM} {number}" for number in splits}
    n = judges.correct.shape[1]
    rows = []
    for rate, size in zip(rates, sizes_of_rates(rates, n).tolist(), strict=True):
        parts = [
            random_figures(
                judges.only([panel]),
                size,
                draws,
                stage_generator(seed, f"sampling/chosen_curves/{rate:g}/{number}"),
            )[panel]
            for number, panel in panels.items()
        ]
        for metric in FIGURES:
            together = np.concatenate([getattr(part, metric) for part in parts])
            rows.append((rate, metric, *quantiles(together)))
    return pd.DataFrame(rows, columns=["rate", "metric", *_BAND])
