"""Results of every sampler at every rate and repeat on every panel (DELE, section 4.1)."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.progress import progress_bar
from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.evidence.panels import CHOSEN_BY
from benchwright.methods.dele.evidence.study import Draws, SamplingStudy, sizes_of_rates
from benchwright.methods.dele.samplers.pool import Draw, Sampler, SamplingPool
from benchwright.statistics.preservation import ModelPanels, Preservation, preservation_by_panel
from benchwright.tables.dele import SamplersLeftOut, SamplingResults

METRICS = Preservation._fields

_BLOCK_BYTES = 1 << 25  # of the weights of draws that are measured together


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
    table, unable = compare_for_panels(
        study, choosing, panels.model_panels(), study.draws(study.rates)
    )
    left_out = [
        (choosers, name, why)
        for choosers, reasons in zip(("", *by_choosers), unable, strict=True)
        for name, why in reasons.items()
    ]
    table = table.sort_values(["sampler", "panel", "rate", "repeat"], ignore_index=True)
    return (
        SamplingResults.of(table),
        SamplersLeftOut.from_rows(left_out),
    )


def compare_for_panels(
    study: SamplingStudy,
    by_choosers: Iterable[tuple[Sequence[str], SamplingPool]],
    model_panels: ModelPanels,
    draws: Draws,
) -> tuple[pd.DataFrame, list[dict[str, str]]]:
    """Measure the samplers if several groups of models choose, each for other panels.

    Samplers that read no responses draw from the study's plain pool. `by_choosers` holds panels
    with the pool that has the responses of the models that choose for them. Return the results, and
    for each pool the samplers that could not run, with reasons.
    """
    able, unable = runs_on(study.samplers(responses=False), study.plain)
    left_out = [unable]
    parts = [measure_samplers(study.plain, able, model_panels, draws)]
    for panels, pool in by_choosers:
        able, unable = runs_on(study.samplers(responses=True), pool)
        left_out.append(unable)
        parts.append(measure_samplers(pool, able, model_panels.only(panels), draws))
    return pd.concat([part for part in parts if len(part)], ignore_index=True), left_out


def measure_samplers(
    pool: SamplingPool, samplers: Mapping[str, Sampler], model_panels: ModelPanels, draws: Draws
) -> pd.DataFrame:
    """Measure samplers at every rate and repeat on every panel.

    `model_panels` holds responses in the order of the pool's items. Return columns sampler, panel,
    rate, size, repeat, and the fields of `Preservation`, sorted by the first three and repeat.
    """
    sizes = sizes_of_rates(draws.rates, len(pool))
    # Repeats whose weights fit into a block are measured together.
    step = max(1, _BLOCK_BYTES // (8 * max(len(sizes) * len(pool), 1)))
    keys: list[tuple[str, str, int, int]] = []
    parts: list[Preservation] = []
    total = sum(draws.repeats[name] for name in samplers)
    with progress_bar("samplers", "draw", total) as bar:
        for name in sorted(samplers):
            for start in range(0, draws.repeats[name], step):
                block = range(start, min(start + step, draws.repeats[name]))
                seeds = [repeat_seed(draws.seed, name, repeat) for repeat in block]
                drawn = (samplers[name](pool, seed) for seed in seeds)
                weights = weights_of(drawn, len(block), sizes, len(pool))
                results = preservation_by_panel(model_panels, weights, tau=draws.tau)
                keys += [(name, panel, block.start, len(block)) for panel in results]
                parts += results.values()
                bar.update(len(block))
    return _table(keys, parts, np.asarray(draws.rates, dtype=np.float64), sizes)


def weights_of(
    draws: Iterable[Draw], count: int, sizes: Sequence[int], n: int
) -> NDArray[np.float64]:
    """Return the weights (count × r, n) of the draws' subsets of r sizes."""
    weights = np.zeros((count * len(sizes), n))
    subsets = (draw(size) for draw in draws for size in sizes)
    for row, subset in enumerate(subsets):
        weights[row, subset.positions] = subset.weights
    return weights


def _table(
    keys: Sequence[tuple[str, str, int, int]],
    parts: Sequence[Preservation],
    rates: NDArray[np.float64],
    sizes: Sequence[int],
) -> pd.DataFrame:
    """Join the results; `keys` are sampler, panel, first repeat and number of repeats."""
    columns = ["sampler", "panel", "rate", "size", "repeat", *METRICS]
    if not parts:
        return pd.DataFrame(columns=columns)
    samplers, panels, _, counts = (list(column) for column in zip(*keys, strict=True))
    rows = np.array(counts) * len(rates)
    repeats = [np.arange(first, first + count) for _, _, first, count in keys]
    table = pd.DataFrame(
        {
            "sampler": np.repeat(np.array(samplers, dtype=object), rows),
            "panel": np.repeat(np.array(panels, dtype=object), rows),
            "rate": np.tile(rates, sum(counts)),
            "size": np.tile(sizes, sum(counts)),
            "repeat": np.repeat(np.concatenate(repeats), len(rates)),
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in METRICS},
        }
    )
    return table.sort_values(["sampler", "panel", "rate", "repeat"], ignore_index=True)
