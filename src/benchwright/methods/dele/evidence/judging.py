"""Every sampler at every rate, judged by every panel (DELE, section 4.1)."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.methods.dele.evidence.panels import SamplingPanels
from benchwright.methods.dele.evidence.pools import Pools
from benchwright.methods.dele.samplers.curves import sampler_figures
from benchwright.methods.dele.samplers.pool import Sampler, SamplerKind, SamplingPool
from benchwright.methods.dele.samplers.registry import make_samplers, sampler_kinds
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.preservation import Judges
from benchwright.tables.dele import SamplersLeftOut, SamplingFigures

RANDOM = "random"
"""What every other sampler is compared with; it always runs."""


def kinds_of(sampling: SamplingParams) -> Mapping[str, SamplerKind]:
    """What the registry says of the run's samplers, `random` among them."""
    return sampler_kinds(_with_random(sampling))


def ready_samplers(sampling: SamplingParams) -> dict[str, Sampler]:
    """The run's samplers by name, `random` among them."""
    # Repeats and the like make no other samplers.
    plain = {name: field.default for name, field in type(sampling).model_fields.items()}
    others = ("rates", "repeats", "adaptive", "evidence", "export", "published_scores", "tokenizer")
    same = {name: plain[name] for name in others}
    return dict(_made(_with_random(sampling).model_copy(update=same)))


def repeats_by_name(sampling: SamplingParams) -> dict[str, int]:
    """Draws of each sampler; `random`, from whose mean gains are counted, has more than others."""
    wanted = dict.fromkeys(kinds_of(sampling), sampling.repeats)
    return wanted | {RANDOM: max(sampling.repeats, sampling.evidence.random_draws)}


def reads_answers(sampling: SamplingParams, *, answers: bool) -> dict[str, Sampler]:
    """The run's samplers that read answers, or those that do not."""
    kinds = kinds_of(sampling)
    return {
        name: sampler
        for name, sampler in ready_samplers(sampling).items()
        if ("answers" in kinds[name].reads) == answers
    }


def runs_on(
    samplers: Mapping[str, Sampler], pool: SamplingPool
) -> tuple[dict[str, Sampler], dict[str, str]]:
    """The samplers that can draw from a pool, and why the others cannot, in words."""
    able, unable = {}, {}
    for name, sampler in samplers.items():
        try:
            sampler(pool, 0)(1)
            able[name] = sampler
        except InputError as error:
            unable[name] = str(error)
    return able, unable


def _with_random(sampling: SamplingParams) -> SamplingParams:
    if RANDOM in sampling.samplers or sampling.samplers == ("all",):
        return sampling
    return sampling.model_copy(update={"samplers": (RANDOM, *sampling.samplers)})


@lru_cache(maxsize=2)
def _made(sampling: SamplingParams) -> dict[str, Sampler]:
    return make_samplers(sampling)


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
    by_choosers = {
        choosers: [panel for panel, by in panels.chosen_by.items() if by == choosers]
        for choosers in panels.chosen_by.values()
    }
    choosing = [(own, pools.by_choosers[choosers]) for choosers, own in by_choosers.items()]
    rates = rates_of(sampling)
    table, unable = judge_by(pools.plain, choosing, panels.judges(), sampling, rates, seed)
    left_out = [
        (choosers, name, why)
        for choosers, reasons in zip(("", *by_choosers), unable, strict=True)
        for name, why in reasons.items()
    ]
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
    tau: bool = True,
) -> tuple[pd.DataFrame, list[dict[str, str]]]:
    """Figures where several groups choose, each judged by panels of its own.

    Samplers that read no answers draw from `plain`. `by_choosers` are panels and the pool with the
    answers of the models that choose for these; empty where samplers that read answers are not
    wanted. Beside the figures: samplers that could not run on each of the pools, and why.
    """
    able, unable = runs_on(reads_answers(sampling, answers=False), plain)
    left_out = [unable]
    repeats = repeats_by_name(sampling)
    parts = [sampler_figures(plain, able, judges, rates, repeats, seed, tau=tau)]
    for panels, pool in by_choosers:
        able, unable = runs_on(reads_answers(sampling, answers=True), pool)
        left_out.append(unable)
        own = judges.only(panels)
        parts.append(sampler_figures(pool, able, own, rates, repeats, seed, tau=tau))
    return pd.concat([part for part in parts if len(part)], ignore_index=True), left_out
