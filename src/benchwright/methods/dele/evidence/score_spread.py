"""How far scores lie apart on items that are harder to read or to answer (DELE, Figure 45)."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.evidence.against_random import quantiles
from benchwright.methods.dele.evidence.judging import RANDOM, kinds_of, ready_samplers, runs_on
from benchwright.methods.dele.evidence.panels import CHOSEN_BY, SamplingPanels
from benchwright.methods.dele.evidence.pools import Pools
from benchwright.methods.dele.samplers.curves import repeat_seed, sizes_of_rates
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.percentile import percentile_among
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.statistics.subset_scores import POINTS, subset_scores
from benchwright.tables.dele import ScoreSpread

Float = NDArray[np.float64]

_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


class ScoreDistribution(NamedTuple):
    """The distribution of models' scores on s subsets, in points (0–100); NaN without models."""

    # (s, 7) the lowest score, the 5%, 25%, 50%, 75% and 95% quantiles, the highest.
    quantiles: Float
    sd: Float  # (s,) standard deviation over models (divisor m)


def score_distributions(
    correct: NDArray[np.floating], subsets: Sequence[WeightedSubset]
) -> ScoreDistribution:
    """How models' scores are distributed on each subset.

    A random subset of the same size is the yardstick: few items widen the scores by noise alone.

    `correct` is (m, n), NaN where there is no answer; a model that answered nothing of a subset is
    left out of it.
    """
    weights = np.zeros((len(subsets), correct.shape[1]))
    for row, subset in zip(weights, subsets, strict=True):
        row[subset.positions] = subset.weights
    scores = POINTS * subset_scores(correct, weights)
    found = [row[~np.isnan(row)] for row in scores]
    blank = np.full(len(_QUANTILES), np.nan)
    quantiles = [np.quantile(row, _QUANTILES) if len(row) else blank for row in found]
    sd = [row.std() if len(row) else np.nan for row in found]
    return ScoreDistribution(np.array(quantiles).reshape(-1, len(_QUANTILES)), np.array(sd))


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
