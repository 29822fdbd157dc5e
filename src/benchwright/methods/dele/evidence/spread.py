"""How far scores lie apart on items that are harder to read or to answer (DELE, Figure 45)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.evidence.panels import CHOSEN_BY, SamplingPanels
from benchwright.methods.dele.evidence.pools import Pools
from benchwright.methods.dele.evidence.random_draws import quantiles
from benchwright.methods.dele.evidence.ready_samplers import (
    RANDOM,
    kinds_of,
    ready_samplers,
    runs_on,
)
from benchwright.methods.dele.samplers.curves import repeat_seed, sizes_of_rates
from benchwright.methods.dele.samplers.score_distribution import (
    ScoreDistribution,
    score_distributions,
)
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.percentile import percentile_among
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.tables.dele import ScoreSpread

ALL_ITEMS = "all items"


def spread_scores(
    pools: Pools, panels: SamplingPanels, sampling: SamplingParams, seed: int
) -> pd.DataFrame:
    """Spread of the models' scores on subsets of difficulty samplers, beside random ones.

    Of the panel of headlines, in points (0–100), means over repeats; the percentile is that of
    the standard deviation among single random subsets of the same size.

    Returns:
        A `ScoreSpread` table.
    """
    correct = panels.answers(panels.main)
    if not correct.size:
        return ScoreSpread.empty()
    kinds, n = kinds_of(sampling), len(panels.item_ids)
    pool = pools.by_choosers[CHOSEN_BY[panels.main]]
    hard = {k: s for k, s in ready_samplers(sampling).items() if kinds[k].family == "difficulty"}
    able, _ = runs_on(hard, pool)
    whole = score_distributions(correct, [WeightedSubset.equal(np.arange(n))])
    shared = (panels.main, len(correct))
    rows = [_row(ALL_ITEMS, 100.0, n, whole, np.empty(0), shared)]
    rates = sampling.evidence.at_rates
    for rate, size in zip(rates, sizes_of_rates(rates, n).tolist(), strict=True):
        generator = stage_generator(seed, f"sampling/score_spread/{rate:g}")
        masks = draw_subsets(n, size, sampling.evidence.band_subsets, generator)
        subsets = [WeightedSubset.equal(np.flatnonzero(mask)) for mask in masks]
        random = score_distributions(correct, subsets)
        rows.append(_row(RANDOM, rate, size, random, random.sd, shared))
        for name, sampler in able.items():
            draws = (sampler(pool, repeat_seed(seed, name, r)) for r in range(sampling.repeats))
            found = score_distributions(correct, [draw(size) for draw in draws])
            rows.append(_row(name, rate, size, found, random.sd, shared))
    return ScoreSpread.from_rows(rows)


def _row(
    name: str,
    rate: float,
    size: int,
    found: ScoreDistribution,
    random_sd: NDArray[np.float64],
    shared: tuple[str, int],
) -> tuple[object, ...]:
    panel, n_models = shared
    values: Iterator[float] = map(float, found.quantiles.mean(axis=0))
    sd = float(found.sd.mean())
    beside = quantiles(random_sd)
    place = percentile_among(sd, random_sd) if name != RANDOM else float("nan")
    return (name, panel, rate, size, n_models, *values, sd, *beside, place)
