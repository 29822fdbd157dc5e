"""Samplers beside the mean over items and the mean over subjects (DELE, section 4.2)."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.evidence.judging import rates_of
from benchwright.methods.dele.evidence.panels import FEWEST_JUDGES, SamplingPanels
from benchwright.methods.dele.evidence.pools import Pools
from benchwright.methods.dele.evidence.random_draws import quantiles, random_figures
from benchwright.methods.dele.evidence.ready_samplers import (
    ready_samplers,
    repeats_by_name,
    runs_on,
)
from benchwright.methods.dele.samplers.curves import FIGURES, sampler_figures, sizes_of_rates
from benchwright.methods.dele.samplers.targets import target_weights
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.percentile import percentile_among
from benchwright.tables.dele import TargetCurves


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
        parts.append(_means(figures, random).assign(target=target))
    table = pd.concat(parts, ignore_index=True).assign(n_models=n_models)
    order = ["target", "metric", "sampler", "rate"]
    table = table.sort_values(order, ignore_index=True)[TargetCurves.columns()]
    return pd.DataFrame(TargetCurves.validate(table))


def _means(
    figures: pd.DataFrame, random: dict[tuple[float, str], NDArray[np.float64]]
) -> pd.DataFrame:
    """Each sampler's mean at each rate, among random subsets by rate and metric."""
    key = ["sampler", "panel", "rate", "size"]
    long = figures.melt(key, list(FIGURES), var_name="metric", value_name="value")
    groups = long.groupby([*key, "metric"], sort=True)["value"]
    table = pd.DataFrame({"mean": groups.mean(), "sd": groups.std(ddof=1)}).reset_index()
    places = list(zip(table["rate"].tolist(), table["metric"].tolist(), strict=True))
    bounds = {place: quantiles(values) for place, values in random.items()}
    names = ("random_low", "random_median", "random_high")
    table[list(names)] = [bounds[place] for place in places]
    table["percentile"] = [
        percentile_among(mean, random[place])
        for mean, place in zip(table["mean"].tolist(), places, strict=True)
    ]
    return table
