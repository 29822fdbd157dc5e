"""Results of every sampler at every rate and repeat on every panel (DELE, section 4.1).

Samplers are tested against random subsets of the same size, with Holm's correction.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
    able, unable = {}, {}
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
    by_choosers = {
        choosers: [panel for panel, by in CHOSEN_BY.items() if by == choosers]
        for choosers in CHOSEN_BY.values()
    }
    choosing = [(names, study.pools[choosers]) for choosers, names in by_choosers.items()]
    table, left_out = compare_for_panels(
        study, choosing, panels.model_panels(), study.draws(study.rates)
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
                for row, subset in zip(weights, map(draw, sizes), strict=True):
                    row[subset.positions] = subset.weights
                drawn += weights > 0
                found = preservation_by_panel(model_panels, weights, tau=draws.tau)
                keys += [(name, panel, repeat) for panel in found]
                metrics += map(np.column_stack, found.values())
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
        **dict(zip(METRICS, np.concatenate(metrics).T, strict=True)),
    )
    return table[columns].sort_values(_KEY, ignore_index=True)


def shared_items(drawn: NDArray[np.int64], repeats: int) -> Floats:
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
    beyond = (overlap - share) / (1 - share) if overlap < 1 else 1.0
    return max(1, round(repeats / (1 + (repeats - 1) * max(beyond, 0)))) if repeats > 1 else 1


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
    return {
        panel: Preservation(*map(np.concatenate, zip(*(b[panel] for b in blocks), strict=True)))
        for panel in model_panels.panels
    }


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
    sampling = study.sampling
    names = [name for name in sorted(set(sampling_results["sampler"])) if name != RANDOM]
    model_panels = study.panels.model_panels(tested_panels(study.panels))
    if sampling_results.empty or not model_panels.panels:
        return SamplingAgainstRandom.empty()
    rates, n_items = sampling.evidence.at_rates, len(study.panels.item_ids)
    # The smallest p-value, 2/(1 + s), passes Holm's first step with a quarter of these s subsets,
    # so that a sampler need not be better than all of them.
    needed = ceil(4 * 2 * len(names) * len(rates) / LEVEL)
    draws = max(sampling.evidence.random_subsets, needed)
    groups = sampling_results.groupby(["sampler", "panel", "rate"])
    means = groups[list(HIGHER_IS_BETTER)].mean().to_dict("index")
    repeats = {
        key: independent_repeats(len(own), own["overlap"].iloc[0], own["size"].iloc[0] / n_items)
        for key, own in groups
    }
    rows: list[dict[str, Any]] = []
    for rate, size in zip(rates, sizes_of_rates(rates, n_items), strict=True):
        generator = study.generator(f"against_random/{rate:g}")
        drawn = random_results(model_panels, size, draws, generator)
        nulls = generator.integers(draws, size=(draws, max(repeats.values())))
        for panel, results in drawn.items():
            for name in [RANDOM, *names]:
                key = {"sampler": name, "panel": panel, "rate": rate, "size": size}
                for metric, mean in means.get((name, panel, rate), {}).items():
                    values = getattr(results, str(metric))
                    null = nulls[:, : repeats[name, panel, rate]]
                    rows.append(_row({**key, "metric": str(metric)}, float(mean), values, null))
    order = ["panel", "metric", "rate", "sampler"]
    table = pd.DataFrame(rows).sort_values(order, ignore_index=True)
    table["p_holm"] = table.groupby(["panel", "metric"])["p"].transform(holm)
    significant, better = table["p_holm"] <= LEVEL, table["better_by"]
    table["verdict"] = np.select(
        [significant & (better > 0), significant & (better < 0)],
        ["better", "worse"],
        "no difference shown",
    )
    table["n_models"] = table["panel"].map({p: len(own) for p, own in model_panels.panels.items()})
    return SamplingAgainstRandom.of(table)


def _row(key: dict[str, Any], value: float, values: Floats, nulls: Integers) -> dict[str, Any]:
    """Compare a mean with single random subsets, or with means over those at places `nulls`."""
    known = values[~np.isnan(values)]
    low, median, high = np.quantile(known, MIDDLE).tolist() if len(known) else [np.nan] * 3
    among = values if nulls.shape[1] == 1 else values[nulls].mean(axis=1)
    difference = value - float(np.nanmean(values)) if len(known) else np.nan
    return {
        **key,
        "mean": value,
        "random_low": low,
        "random_median": median,
        "random_high": high,
        "better_by": difference if HIGHER_IS_BETTER[key["metric"]] else -difference,
        "percentile": percentile_among(value, values),
        "p": np.nan if key["sampler"] == RANDOM else two_sided_p(value, among),
        "random_subsets": len(values),
    }
