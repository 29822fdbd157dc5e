"""Samplers beside the mean over items and the mean over subjects (DELE, section 4.2)."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.params.sampling import SamplingParams
from benchwright.pipelines.sampling.judging import rates_of
from benchwright.pipelines.sampling.panels import FEWEST_JUDGES, SamplingPanels
from benchwright.pipelines.sampling.pools import Pools
from benchwright.pipelines.sampling.random_draws import quantiles, random_figures
from benchwright.pipelines.sampling.ready_samplers import (
    ready_samplers,
    repeats_by_name,
    runs_on,
)
from benchwright.sampling.curves import FIGURES, sampler_figures, sizes_of_rates
from benchwright.sampling.targets import target_weights
from benchwright.seeding import stage_generator
from benchwright.statistics.percentile import percentile_among
from benchwright.tables import TargetCurves


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
    judges = {main: panels.answers(main)}
    pool = pools.by_choosers[panels.chosen_by[main]]
    targets = target_weights(pool.subjects)
    if len(targets) < 2 or len(judges[main]) < FEWEST_JUDGES:
        return TargetCurves.empty()
    rates, n = rates_of(sampling), len(pool)
    able, _ = runs_on(ready_samplers(sampling), pool)
    parts = []
    for target, whole in targets.items():
        figures = sampler_figures(
            pool, able, judges, rates, repeats_by_name(sampling), seed, whole=whole
        )
        for rate, size in zip(rates, sizes_of_rates(rates, n).tolist(), strict=True):
            generator = stage_generator(seed, f"sampling/targets/{rate:g}")
            draws = sampling.evidence.band_subsets
            random = random_figures(judges, size, draws, generator, whole)[main]._asdict()
            parts.append(_means(figures[figures["rate"] == rate], random).assign(target=target))
    table = pd.concat(parts, ignore_index=True).assign(n_models=len(judges[main]))
    order = ["target", "metric", "sampler", "rate"]
    table = table.sort_values(order, ignore_index=True)[TargetCurves.columns()]
    return pd.DataFrame(TargetCurves.validate(table))


def _means(figures: pd.DataFrame, random: dict[str, NDArray[np.float64]]) -> pd.DataFrame:
    """Each sampler's mean at one rate, among random subsets."""
    key = ["sampler", "panel", "rate", "size"]
    long = figures.melt(key, list(FIGURES), var_name="metric", value_name="value")
    groups = long.groupby([*key, "metric"], sort=True)["value"]
    table = pd.DataFrame({"mean": groups.mean(), "sd": groups.std(ddof=1)}).reset_index()
    bounds = {metric: quantiles(values) for metric, values in random.items()}
    names = ("random_low", "random_median", "random_high")
    for place, name in enumerate(names):
        table[name] = [bounds[metric][place] for metric in table["metric"]]
    table["percentile"] = [
        percentile_among(mean, random[metric])
        for mean, metric in zip(table["mean"], table["metric"], strict=True)
    ]
    return table
