"""Tests of samplers against random subsets of the same size, with Holm's correction."""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.methods.dele.evidence.panels import FEWEST_MODELS, SamplingPanels
from benchwright.methods.dele.evidence.sampler_results import METRICS
from benchwright.methods.dele.evidence.study import SamplingStudy
from benchwright.methods.dele.samplers.registry import RANDOM, sampler_kinds
from benchwright.statistics.percentile import holm, percentile_among, two_sided_p
from benchwright.statistics.preservation import ModelPanels, Preservation, preservation_by_panel
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.tables.dele import RandomBands, SamplingAgainstRandom

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
    *,
    tau: bool = True,
) -> dict[str, Preservation]:
    """Return the metrics (draws,) of random subsets of one size by panel; panels share subsets."""
    n = model_panels.correct.shape[1]
    blocks = []
    for start in range(0, draws, _BLOCK):
        masks = draw_subsets(n, size, min(_BLOCK, draws - start), generator)
        blocks.append(preservation_by_panel(model_panels, masks / max(size, 1), tau=tau))
    return {
        panel: Preservation(
            *(np.concatenate(x) for x in zip(*(b[panel] for b in blocks), strict=True))
        )
        for panel in model_panels.panels
    }


def draw_random_bands(study: SamplingStudy) -> pd.DataFrame:
    """Draw random subsets at every rate, and return the middle 95%: a `RandomBands` table."""
    rows = []
    model_panels, sampling = study.panels.model_panels(), study.sampling
    for rate, size in study.sizes(study.rates) if study.panels.item_ids else ():
        generator = study.generator(f"random_bands/{rate:g}")
        drawn = random_results(model_panels, size, sampling.evidence.band_subsets, generator)
        for panel, results in drawn.items():
            rows += [
                (panel, rate, size, metric, *quantiles(getattr(results, metric)))
                for metric in METRICS
            ]
    return RandomBands.from_rows(rows)


def subsets_needed(tests: int, wanted: int) -> int:
    """Return how many random subsets let the smallest p-value, 2/(1 + s), pass Holm's first step.

    Return at least four times as many, so that a sampler need not be better than all of them.
    """
    return max(wanted, ceil(4 * 2 * tests / LEVEL))


def quantiles(values: NDArray[np.floating]) -> tuple[float, float, float]:
    """Return the bounds of the middle 95% and the median between them; NaN without values."""
    known = np.asarray(values)[~np.isnan(values)]
    if not len(known):
        return (float("nan"),) * 3
    low, middle, high = np.quantile(known, MIDDLE)
    return float(low), float(middle), float(high)


def tested_panels(panels: SamplingPanels) -> list[str]:
    """Return the held-out panels with enough models, or all models if too few are held out."""
    names = dict.fromkeys(("held_out", "forward", panels.main))
    return [name for name in names if len(panels.groups[name]) >= FEWEST_MODELS]


def compare_with_random(sampling_results: pd.DataFrame, study: SamplingStudy) -> pd.DataFrame:
    """Compare each sampler's mean over repeats with random subsets of the same size.

    The percentile is that of the mean among single random subsets. The p-value compares the mean
    with means of as many random subsets as the sampler has repeats, or with single ones if its
    repeats differ only by ties. Holm's correction covers samplers and rates. Return a
    `SamplingAgainstRandom` table; empty if every panel has fewer than three models.
    """
    sampling = study.sampling
    names = [name for name in sorted(set(sampling_results["sampler"])) if name != RANDOM]
    model_panels = study.panels.model_panels(tested_panels(study.panels))
    if not names or not model_panels.panels:
        return SamplingAgainstRandom.empty()
    kinds = sampler_kinds(sampling)
    repeats = {name: sampling.repeats if kinds[name].random else 1 for name in [RANDOM, *names]}
    rates = sampling.evidence.at_rates
    draws = subsets_needed(len(names) * len(rates), sampling.evidence.random_subsets)
    groups = sampling_results.groupby(["sampler", "panel", "rate"])
    means = groups[list(HIGHER_IS_BETTER)].mean().to_dict("index")
    rows: list[dict[str, Any]] = []
    for rate, size in study.sizes(rates):
        generator = study.generator(f"against_random/{rate:g}")
        drawn = random_results(model_panels, size, draws, generator)
        nulls = generator.integers(draws, size=(draws, max(repeats.values())))
        for panel, results in drawn.items():
            for name in [RANDOM, *names]:
                if (name, panel, rate) in means:
                    key = {"sampler": name, "panel": panel, "rate": rate, "size": size}
                    mean = means[name, panel, rate]
                    rows += _rows(key, mean, results, nulls[:, : repeats[name]])
    return _corrected(
        pd.DataFrame(rows), {name: len(own) for name, own in model_panels.panels.items()}
    )


def _rows(
    key: dict[str, Any], means: Mapping[Any, Any], results: Preservation, nulls: NDArray[np.integer]
) -> list[dict[str, Any]]:
    rows = []
    for metric, higher in HIGHER_IS_BETTER.items():
        values: NDArray[np.float64] = getattr(results, metric)
        value = float(means[metric])
        bounds = zip(("random_low", "random_median", "random_high"), quantiles(values), strict=True)
        among = values if nulls.shape[1] == 1 else values[nulls].mean(axis=1)
        difference = value - float(np.nanmean(values)) if not np.isnan(values).all() else np.nan
        rows.append(
            {
                **key,
                "metric": metric,
                "mean": value,
                **dict(bounds),
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
    significant = table["p_holm"] <= LEVEL
    table["verdict"] = np.select(
        [significant & (table["better_by"] > 0), significant & (table["better_by"] < 0)],
        ["better", "worse"],
        "no difference shown",
    )
    table["n_models"] = table["panel"].map(n_models)
    return SamplingAgainstRandom.of(table)
