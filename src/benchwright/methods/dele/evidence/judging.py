"""Every sampler at every rate, judged by every panel (DELE, section 4.1)."""

from collections.abc import Iterable, Sequence

import pandas as pd

from benchwright.methods.dele.evidence.panels import SamplingPanels
from benchwright.methods.dele.evidence.pools import Pools
from benchwright.methods.dele.evidence.ready_samplers import (
    reads_answers,
    repeats_by_name,
    runs_on,
)
from benchwright.methods.dele.samplers.curves import sampler_figures
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.preservation import Judges
from benchwright.tables.dele import SamplersLeftOut, SamplingFigures


def rates_of(sampling: SamplingParams) -> list[float]:
    """The rates of the curves, and those at which samplers are tested."""
    return sorted({*sampling.rates, *sampling.evidence.at_rates})


def judge_samplers(
    pools: Pools, panels: SamplingPanels, sampling: SamplingParams, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judge every sampler at every rate and repeat by every panel.

    A sampler that reads answers sees those of the models that choose for a panel; no others.

    Returns:
        A `SamplingFigures` table, and a `SamplersLeftOut` table: samplers that could not run.
    """
    if not panels.item_ids:
        return SamplingFigures.empty(), SamplersLeftOut.empty()
    rates, repeats = rates_of(sampling), repeats_by_name(sampling)
    able, unable = runs_on(reads_answers(sampling, answers=False), pools.plain)
    left_out = [("", name, why) for name, why in unable.items()]
    judges = panels.judges()
    parts = [sampler_figures(pools.plain, able, judges, rates, repeats, seed)]
    for choosers in dict.fromkeys(panels.chosen_by.values()):
        pool = pools.by_choosers[choosers]
        able, unable = runs_on(reads_answers(sampling, answers=True), pool)
        left_out += [(choosers, name, why) for name, why in unable.items()]
        own = judges.only([name for name, by in panels.chosen_by.items() if by == choosers])
        parts.append(sampler_figures(pool, able, own, rates, repeats, seed))
    table = pd.concat([part for part in parts if len(part)], ignore_index=True)
    table = table.sort_values(["sampler", "panel", "rate", "repeat"], ignore_index=True)
    return (
        pd.DataFrame(SamplingFigures.validate(table[SamplingFigures.columns()])),
        SamplersLeftOut.from_rows(left_out),
    )


def judge_by(
    plain: SamplingPool,
    by_choosers: Iterable[tuple[Sequence[str], SamplingPool]],
    judges: Judges,
    sampling: SamplingParams,
    rates: Sequence[float],
    seed: int,
    *,
    tau: bool,
) -> pd.DataFrame:
    """Figures where several groups choose, each judged by panels of its own.

    Args:
        plain: the pool of samplers that read no answers.
        by_choosers: panels, and the pool with the answers of the models that choose for these;
            empty where samplers that read answers are not wanted.
        judges: all panels.
        sampling: the samplers.
        rates: percent of the items.
        seed: of all draws.
        tau: also compute tau-b.
    """
    able, _ = runs_on(reads_answers(sampling, answers=False), plain)
    repeats = repeats_by_name(sampling)
    parts = [sampler_figures(plain, able, judges, rates, repeats, seed, tau=tau)]
    for panels, pool in by_choosers:
        able, _ = runs_on(reads_answers(sampling, answers=True), pool)
        own = judges.only(panels)
        parts.append(sampler_figures(pool, able, own, rates, repeats, seed, tau=tau))
    return pd.concat([part for part in parts if len(part)], ignore_index=True)
