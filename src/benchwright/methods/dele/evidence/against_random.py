"""Random subsets of a size, and whether a sampler beats them: tested, with Holm's correction."""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.evidence.judging import RANDOM, kinds_of, rates_of
from benchwright.methods.dele.evidence.panels import FEWEST_JUDGES, SamplingPanels
from benchwright.methods.dele.samplers.curves import FIGURES, sizes_of_rates
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.percentile import holm, percentile_among, two_sided_p
from benchwright.statistics.preservation import Judges, Preservation, preservation_by_panel
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.tables.dele import RandomBands, SamplingAgainstRandom

_BLOCK = 500
MIDDLE = (0.025, 0.5, 0.975)
"""Quantiles of the bounds and of the middle of a band."""


def random_figures(
    judges: Judges, size: int, draws: int, generator: np.random.Generator, *, tau: bool = True
) -> dict[str, Preservation]:
    """Figures (draws,) of random subsets of one size by panel; all judge the same subsets."""
    n = judges.correct.shape[1]
    parts: dict[str, list[Preservation]] = {panel: [] for panel in judges.panels}
    for start in range(0, draws, _BLOCK):
        masks = draw_subsets(n, size, min(_BLOCK, draws - start), generator)
        sizes = np.full(len(masks), size)
        found = preservation_by_panel(judges, masks / max(size, 1), tau=tau, sizes=sizes)
        for panel, own in found.items():
            parts[panel].append(own)
    return {
        panel: Preservation(*(np.concatenate(figure) for figure in zip(*own, strict=True)))
        for panel, own in parts.items()
    }


def draw_random_bands(panels: SamplingPanels, sampling: SamplingParams, seed: int) -> pd.DataFrame:
    """Draw random subsets at every rate: a `RandomBands` table.

    The band of a figure is the middle 95% of single random subsets. That of its standard
    deviation over repeats is taken from as many random subsets, resampled.
    """
    rows = []
    rates, judges = rates_of(sampling), panels.judges()
    for rate, size in zip(rates, sizes_of_rates(rates, len(panels.item_ids)), strict=True):
        generator = stage_generator(seed, f"sampling/random_bands/{rate:g}")
        if not size:
            continue
        found = random_figures(judges, int(size), sampling.evidence.band_subsets, generator)
        for panel, figures in found.items():
            for metric in FIGURES:
                values = getattr(figures, metric)
                bounds = quantiles(values)
                sds = np.full(1, np.nan)
                if sampling.repeats > 1:
                    places = generator.integers(len(values), size=(len(values), sampling.repeats))
                    sds = values[places].std(axis=1, ddof=1)
                rows.append((panel, rate, int(size), metric, *bounds, *quantiles(sds)))
    return RandomBands.from_rows(rows)


def subsets_needed(tests: int, wanted: int, level: float = 0.05) -> int:
    """Random subsets with which the smallest p-value, 2/(1 + s), passes Holm's first step.

    Four times as many as needed at least, so that a sampler need not beat all of them.
    """
    return max(wanted, ceil(4 * 2 * tests / level))


def quantiles(values: NDArray[np.floating]) -> tuple[float, float, float]:
    """Bounds of the middle 95% with the median between them; NaN without values."""
    known = np.asarray(values)[~np.isnan(values)]
    if not len(known):
        return (float("nan"),) * 3
    low, middle, high = np.quantile(known, MIDDLE)
    return float(low), float(middle), float(high)


HIGHER_IS_BETTER = {
    "tau_b": True,
    "spearman": True,
    "pearson": True,
    "wasserstein": False,
    "mean_absolute_error": False,
}
"""The figures that are tested, and which way is better."""

LEVEL = 0.05
"""Of the tests, after the correction."""


def tested_panels(panels: SamplingPanels) -> list[str]:
    """Panels of models that did not choose; all models where too few are left for that."""
    wanted = ["held_out", "forward"]
    if panels.main not in wanted:
        wanted.append(panels.main)
    return [name for name in wanted if len(panels.groups[name]) >= FEWEST_JUDGES]


def compare_with_random(
    sampling_figures: pd.DataFrame, panels: SamplingPanels, sampling: SamplingParams, seed: int
) -> pd.DataFrame:
    """Compare each sampler's mean over repeats with random subsets of the same size.

    The percentile is that of the mean among single random subsets. The p-value is of the mean
    among means of as many random subsets as the sampler has repeats; among single ones where its
    repeats differ by ties alone. Holm's correction is over samplers and rates, for each panel and
    figure.

    Returns:
        A `SamplingAgainstRandom` table, without rows where fewer than three models judge.
    """
    names = [name for name in sorted(set(sampling_figures["sampler"])) if name != RANDOM]
    judges = panels.judges(tested_panels(panels))
    if not names or not judges.panels:
        return SamplingAgainstRandom.empty()
    kinds = kinds_of(sampling)
    repeats = {name: sampling.repeats if kinds[name].random else 1 for name in [RANDOM, *names]}
    rates = sampling.evidence.at_rates
    draws = subsets_needed(len(names) * len(rates), sampling.evidence.random_subsets, LEVEL)
    groups = sampling_figures.groupby(["sampler", "panel", "rate"])
    means = groups[list(HIGHER_IS_BETTER)].mean().to_dict("index")
    rows: list[dict[str, Any]] = []
    for rate, size in zip(rates, sizes_of_rates(rates, len(panels.item_ids)), strict=True):
        generator = stage_generator(seed, f"sampling/against_random/{rate:g}")
        found = random_figures(judges, int(size), draws, generator)
        nulls = generator.integers(draws, size=(draws, max(repeats.values())))
        for panel, figures in found.items():
            for name in [RANDOM, *names]:
                if (name, panel, rate) in means:
                    key = {"sampler": name, "panel": panel, "rate": rate, "size": int(size)}
                    of = means[name, panel, rate]
                    rows += _rows(key, of, figures, nulls[:, : repeats[name]])
    return _corrected(pd.DataFrame(rows), {panel: len(own) for panel, own in judges.panels.items()})


def _rows(
    key: dict[str, Any], means: Mapping[Any, Any], figures: Preservation, nulls: NDArray[np.integer]
) -> list[dict[str, Any]]:
    rows = []
    for metric, higher in HIGHER_IS_BETTER.items():
        values: NDArray[np.float64] = getattr(figures, metric)
        value = float(means[metric])
        low, middle, high = quantiles(values)
        among = values if nulls.shape[1] == 1 else values[nulls].mean(axis=1)
        difference = value - float(np.nanmean(values)) if not np.isnan(values).all() else np.nan
        rows.append(
            {
                **key,
                "metric": metric,
                "mean": value,
                "random_low": low,
                "random_median": middle,
                "random_high": high,
                "better_by": difference if higher else -difference,
                "percentile": percentile_among(value, values),
                "p": np.nan if key["sampler"] == RANDOM else two_sided_p(value, among),
                "random_subsets": len(values),
            }
        )
    return rows


def _corrected(table: pd.DataFrame, n_models: dict[str, int]) -> pd.DataFrame:
    table = table.sort_values(["panel", "metric", "rate", "sampler"], ignore_index=True)
    table["p_holm"] = np.nan
    for places in table.groupby(["panel", "metric"]).groups.values():
        table.loc[places, "p_holm"] = holm(table.loc[places, "p"].to_numpy())
    sure = table["p_holm"] <= LEVEL
    table["verdict"] = np.select(
        [sure & (table["better_by"] > 0), sure & (table["better_by"] < 0)],
        ["better", "worse"],
        "no difference shown",
    )
    table["n_models"] = table["panel"].map(n_models)
    columns = SamplingAgainstRandom.columns()
    return pd.DataFrame(SamplingAgainstRandom.validate(table[columns]))
