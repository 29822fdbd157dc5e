"""Results of every sampler at every rate and repeat on every panel (DELE, section 4.1).

Samplers are tested against random subsets of the same size, with Holm's correction.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil

import numpy as np
import pandas as pd

from benchwright.core.array_types import Floats, Integers
from benchwright.core.errors import InputError
from benchwright.core.progress import progress_bar
from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.evidence.panels import CHOSEN_BY, FEWEST_MODELS, SamplingPanels
from benchwright.methods.dele.evidence.study import Draws, SamplingStudy, sizes_of_rates
from benchwright.methods.dele.samplers.pool import Sampler, SamplingPool
from benchwright.methods.dele.samplers.registry import RANDOM
from benchwright.statistics.percentile import holm, percentile_among, two_sided_p
from benchwright.statistics.preservation import ModelPanels, Preservation, preservation_by_panel
from benchwright.statistics.random_subsets import subset_blocks
from benchwright.tables.dele import (
    SamplersLeftOut,
    SamplingAgainstRandom,
    SamplingResults,
)

METRICS = Preservation._fields
_KEY = ["sampler", "panel", "rate", "repeat"]


def repeat_seed(seed: int, sampler: str, repeat: int) -> int:
    """Return the seed of one repeat of a sampler; seeds of repeats and samplers differ."""
    return int(stage_generator(seed, f"sampling/{sampler}/{repeat}").integers(1 << 62))


def runs_on(
    samplers: Mapping[str, Sampler], pool: SamplingPool
) -> tuple[dict[str, Sampler], dict[str, str]]:
    """Return the samplers that can draw from a pool, and why the others cannot, by name."""
    able = {}
    unable = {}
    for name, sampler in samplers.items():
        try:
            sampler(pool, 0)(1)
            able[name] = sampler
        except InputError as error:
            unable[name] = str(error)
    return able, unable


def compare_samplers(study: SamplingStudy) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure every sampler at every rate and repeat on every panel.

    A sampler that reads responses sees only those of the models that choose for the panel. Return a
    `SamplingResults` table, and a `SamplersLeftOut` table of samplers that could not run.
    """
    panels = study.panels
    if not panels.item_ids:
        return SamplingResults.empty(), SamplersLeftOut.empty()
    of_choosers: dict[str, list[str]] = {}
    for panel, choosers in CHOSEN_BY.items():
        of_choosers.setdefault(choosers, []).append(panel)
    by_choosers = [(names, study.pools[choosers]) for choosers, names in of_choosers.items()]
    table, left_out = compare_for_panels(
        study, by_choosers, panels.model_panels(), study.draws(study.rates)
    )
    table = table.sort_values(_KEY, ignore_index=True)
    return SamplingResults.of(table), SamplersLeftOut.from_rows(list(left_out.items()))


def compare_for_panels(
    study: SamplingStudy,
    by_choosers: Iterable[tuple[Sequence[str], SamplingPool]],
    model_panels: ModelPanels,
    draws: Draws,
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Measure the samplers if several groups of models choose, each for other panels.

    Samplers that read no responses draw from the study's plain pool. `by_choosers` holds panels
    with the pool that has the responses of the models that choose for them. Return the results, and
    why samplers could not run, by name.
    """
    able, left_out = runs_on(study.samplers(responses=False), study.plain)
    parts = [measure_samplers(study.plain, able, model_panels, draws)]
    for panels, pool in by_choosers:
        able, unable = runs_on(study.samplers(responses=True), pool)
        left_out = unable | left_out
        parts.append(measure_samplers(pool, able, model_panels.only(panels), draws))
    return pd.concat([part for part in parts if len(part)], ignore_index=True), left_out


def measure_samplers(
    pool: SamplingPool, samplers: Mapping[str, Sampler], model_panels: ModelPanels, draws: Draws
) -> pd.DataFrame:
    """Measure samplers at every rate and repeat on every panel.

    `model_panels` holds responses in the order of the pool's items. Return columns sampler, panel,
    rate, size, repeat, overlap (share of the items of one repeat that another has, on average; NaN
    of one repeat), and the fields of `Preservation`, sorted by the first three and repeat.
    """
    sizes = sizes_of_rates(draws.rates, len(pool))
    keys: list[tuple[str, str, int]] = []
    metrics: list[Floats] = []
    overlaps: list[Floats] = []
    total = sum(draws.repeats[name] for name in samplers)
    with progress_bar("samplers", "draw", total) as bar:
        for name in sorted(samplers):
            drawn = np.zeros((len(sizes), len(pool)), np.int64)
            for repeat in range(draws.repeats[name]):
                draw = samplers[name](pool, repeat_seed(draws.seed, name, repeat))
                weights = np.zeros((len(sizes), len(pool)))
                for row, size in zip(weights, sizes, strict=True):
                    subset = draw(size)
                    row[subset.positions] = subset.weights
                drawn += weights > 0
                found = preservation_by_panel(model_panels, weights, tau=draws.tau)
                for panel, of_panel in found.items():
                    keys.append((name, panel, repeat))
                    metrics.append(np.column_stack(of_panel))
                bar.update()
            shared = shared_items(drawn, draws.repeats[name])
            overlaps += [shared] * (draws.repeats[name] * len(model_panels.panels))
    columns = ["sampler", "panel", "rate", "size", "repeat", "overlap", *METRICS]
    if not keys:
        return pd.DataFrame(columns=columns)
    by_draw = pd.DataFrame(keys, columns=["sampler", "panel", "repeat"])
    table = by_draw.loc[by_draw.index.repeat(len(sizes))].assign(
        rate=np.tile(np.asarray(draws.rates, dtype=np.float64), len(keys)),
        size=np.tile(sizes, len(keys)),
        overlap=np.concatenate(overlaps),
    )
    table[list(METRICS)] = np.concatenate(metrics)
    return table[columns].sort_values(_KEY, ignore_index=True)


def shared_items(drawn: Integers, repeats: int) -> Floats:
    """Return the mean share (sizes,) of items that two repeats have in common; NaN of one repeat.

    `drawn` (sizes, items) counts the repeats with an item.
    """
    pairs = (drawn * (drawn - 1)).sum(axis=1)
    possible = drawn.sum(axis=1) * (repeats - 1)
    return np.divide(pairs, possible, out=np.full(len(drawn), np.nan), where=possible > 0)


def independent_repeats(repeats: int, overlap: float, share: float) -> int:
    """Return how many independent random subsets of a share of the items vary as much on average.

    Each item is in a repeat or not, and two repeats correlate by what they have in common beyond
    chance: the variance of a mean of m values with correlation ρ is that of m/(1 + (m − 1)ρ).
    """
    if repeats == 1:
        return 1
    beyond = (overlap - share) / (1 - share) if overlap < 1 else 1.0
    return max(1, round(repeats / (1 + (repeats - 1) * max(beyond, 0))))


_BLOCK = 500
MIDDLE = (0.025, 0.5, 0.975)
"""Quantiles of the lower bound, the median and the upper bound of a band."""
HIGHER_IS_BETTER = {
    "tau_b": True,
    "spearman": True,
    "pearson": True,
    "wasserstein": False,
    "mean_absolute_error": False,
}
"""The tested metrics, and whether higher values are better."""


def direction(metric: str) -> int:
    """Return 1 if higher values of a metric are better, else −1."""
    return 1 if HIGHER_IS_BETTER.get(metric) else -1


LEVEL = 0.05
"""Significance level after the correction."""


def random_results(
    model_panels: ModelPanels,
    size: int,
    draws: int,
    generator: np.random.Generator,
) -> dict[str, Preservation]:
    """Return the metrics (draws,) of random subsets of one size by panel; panels share subsets."""
    masks = subset_blocks(model_panels.correct.shape[1], size, draws, generator, rows=_BLOCK)
    blocks = [preservation_by_panel(model_panels, some / max(size, 1)) for some in masks]
    results = {}
    for panel in model_panels.panels:
        of_panel = [block[panel] for block in blocks]
        results[panel] = Preservation(*map(np.concatenate, zip(*of_panel, strict=True)))
    return results


def tested_panels(panels: SamplingPanels) -> list[str]:
    """Return the held-out panels with enough models, or all models if too few are held out."""
    names = dict.fromkeys(("held_out", "forward", panels.main))
    return [name for name in names if len(panels.groups[name]) >= FEWEST_MODELS]


def compare_with_random(sampling_results: pd.DataFrame, study: SamplingStudy) -> pd.DataFrame:
    """Compare each sampler's mean over repeats with random subsets of the same size.

    The percentile is that of the mean among single random subsets. The p-value compares the mean
    with means of as many random subsets as the repeats are worth (`independent_repeats`): single
    ones if all are equal. Holm's correction covers samplers and rates. Return a
    `SamplingAgainstRandom` table; empty if every panel has fewer than three models.
    """
    evidence = study.sampling.evidence
    names = [RANDOM, *sorted({*sampling_results["sampler"]} - {RANDOM})]
    model_panels = study.panels.model_panels(tested_panels(study.panels))
    if sampling_results.empty or not model_panels.panels:
        return SamplingAgainstRandom.empty()
    rates = evidence.at_rates
    n_items = len(study.panels.item_ids)
    # The smallest p-value, 2/(1 + s), passes Holm's first step with a quarter of these s subsets,
    # so that a sampler need not be better than all of them.
    needed = ceil(4 * 2 * (len(names) - 1) * len(rates) / LEVEL)
    draws = max(evidence.random_subsets, needed)
    groups = sampling_results.groupby(["sampler", "panel", "rate"])
    means = groups[list(HIGHER_IS_BETTER)].mean().to_dict("index")
    worth = {}
    for key, own in groups:
        share = own["size"].iloc[0] / n_items
        worth[key] = independent_repeats(len(own), own["overlap"].iloc[0], share)
    rows = []
    for rate, size in zip(rates, sizes_of_rates(rates, n_items), strict=True):
        generator = study.generator(f"against_random/{rate:g}")
        drawn = random_results(model_panels, size, draws, generator)
        nulls = generator.integers(draws, size=(draws, max(worth.values())))
        for panel, results in drawn.items():
            for name in names:
                key = (name, panel, rate)
                if key not in worth:
                    continue
                places = nulls[:, : worth[key]]
                for metric in HIGHER_IS_BETTER:
                    row = {
                        "sampler": name,
                        "panel": panel,
                        "n_models": len(model_panels.panels[panel]),
                        "rate": rate,
                        "size": size,
                        "metric": metric,
                    }
                    values = getattr(results, metric)
                    rows.append(row | _compared(metric, means[key][metric], values, places))
    order = ["panel", "metric", "rate", "sampler"]
    table = pd.DataFrame(rows).sort_values(order, ignore_index=True)
    table.loc[table["sampler"] == RANDOM, "p"] = np.nan
    table["p_holm"] = table.groupby(["panel", "metric"])["p"].transform(holm)
    significant = table["p_holm"] <= LEVEL
    table["verdict"] = "no difference shown"
    table.loc[significant & (table["better_by"] > 0), "verdict"] = "better"
    table.loc[significant & (table["better_by"] < 0), "verdict"] = "worse"
    return SamplingAgainstRandom.of(table)


def _compared(metric: str, mean: float, values: Floats, nulls: Integers) -> dict[str, float]:
    """Compare a mean with single random subsets, or with means over those at places `nulls`."""
    known = values[~np.isnan(values)]
    low = median = high = difference = np.nan
    if len(known):
        low, median, high = np.quantile(known, MIDDLE).tolist()
        difference = mean - float(np.nanmean(values))
    among = values if nulls.shape[1] == 1 else values[nulls].mean(axis=1)
    return {
        "mean": mean,
        "random_low": low,
        "random_median": median,
        "random_high": high,
        "better_by": direction(metric) * difference,
        "percentile": percentile_among(mean, values),
        "p": two_sided_p(mean, among),
        "random_subsets": len(values),
    }
