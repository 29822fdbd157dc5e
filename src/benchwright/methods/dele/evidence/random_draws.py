"""Random subsets of a size, judged by every panel: what every sampler stands beside."""

from math import ceil

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.evidence.judging import rates_of
from benchwright.methods.dele.evidence.panels import SamplingPanels
from benchwright.methods.dele.samplers.curves import FIGURES, sizes_of_rates
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.preservation import Judges, Preservation, preservation_by_panel
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.tables.dele import RandomBands

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
                sds = quantiles(_sds(values, sampling.repeats, generator))
                rows.append((panel, rate, int(size), metric, *bounds, *sds))
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


def _sds(
    values: NDArray[np.float64], repeats: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Standard deviations of `repeats` values each, drawn anew as often as there are values."""
    if repeats < 2:
        return np.full(1, np.nan)
    places = generator.integers(len(values), size=(len(values), repeats))
    out: NDArray[np.float64] = values[places].std(axis=1, ddof=1)
    return out
