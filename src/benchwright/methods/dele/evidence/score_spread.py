"""Spread of scores on items that are harder to read or to answer (DELE, Figure 45)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.evidence.against_random import quantiles
from benchwright.methods.dele.evidence.sampler_results import repeat_seed, runs_on
from benchwright.methods.dele.evidence.study import SamplingStudy
from benchwright.methods.dele.samplers.registry import RANDOM, sampler_kinds
from benchwright.statistics.percentile import percentile_among
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.statistics.subset_scores import POINTS, subset_scores
from benchwright.tables.dele import ScoreSpread

Float = NDArray[np.float64]

ALL_ITEMS = "all items"
_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


class ScoreDistribution(NamedTuple):
    """The distribution of models' scores on s subsets, in points (0–100); NaN without models."""

    # (s, 7) the lowest score, the 5%, 25%, 50%, 75% and 95% quantiles, the highest.
    quantiles: Float
    sd: Float  # (s,) standard deviation over models (divisor m)


def score_distributions(
    correct: NDArray[np.floating], subsets: Sequence[WeightedSubset]
) -> ScoreDistribution:
    """Describe the distribution of models' scores on each subset.

    Compare it with random subsets of the same size, since few items spread scores by noise alone.

    `correct` is (m, n), NaN if missing. A model without responses to a subset is left out.
    """
    weights = np.zeros((len(subsets), correct.shape[1]))
    for row, subset in zip(weights, subsets, strict=True):
        row[subset.positions] = subset.weights
    scores = [row[~np.isnan(row)] for row in POINTS * subset_scores(correct, weights)]
    blank = np.full(len(_QUANTILES), np.nan)
    by_subset = [np.quantile(row, _QUANTILES) if len(row) else blank for row in scores]
    sd = [row.std() if len(row) else np.nan for row in scores]
    return ScoreDistribution(np.array(by_subset).reshape(-1, len(_QUANTILES)), np.array(sd))


def spread_scores(study: SamplingStudy) -> pd.DataFrame:
    """Measure the spread of scores on subsets of difficulty samplers and on random subsets.

    Values are means over repeats on the main panel, in points (0–100). The percentile is that of
    the standard deviation among single random subsets of the same size. Return a `ScoreSpread`
    table.
    """
    main, sampling = study.panels.main, study.sampling
    correct = study.panels.responses(main)
    if not correct.size:
        return ScoreSpread.empty()
    kinds, n, pool = sampler_kinds(sampling), len(study.panels.item_ids), study.pool_of(main)
    hard = {k: s for k, s in study.samplers().items() if kinds[k].family == "difficulty"}
    able, _ = runs_on(hard, pool)

    def row(
        name: str, rate: float, size: int, spread: ScoreDistribution, random_sd: Float
    ) -> tuple[object, ...]:
        values, sd = map(float, spread.quantiles.mean(axis=0)), float(spread.sd.mean())
        place = float("nan") if name == RANDOM else percentile_among(sd, random_sd)
        shared = (name, main, rate, size, len(correct))
        return (*shared, *values, sd, *quantiles(random_sd), place)

    whole = score_distributions(correct, [WeightedSubset.equal(np.arange(n))])
    rows = [row(ALL_ITEMS, 100.0, n, whole, np.empty(0))]
    for rate, size in study.sizes(sampling.evidence.at_rates):
        generator = study.generator(f"score_spread/{rate:g}")
        masks = draw_subsets(n, size, sampling.evidence.band_subsets, generator)
        subsets = [WeightedSubset.equal(np.flatnonzero(mask)) for mask in masks]
        random = score_distributions(correct, subsets)
        rows.append(row(RANDOM, rate, size, random, random.sd))
        for name, sampler in able.items():
            seeds = (repeat_seed(study.seed, name, r) for r in range(sampling.repeats))
            spread = score_distributions(correct, [sampler(pool, seed)(size) for seed in seeds])
            rows.append(row(name, rate, size, spread, random.sd))
    return ScoreSpread.from_rows(rows)
