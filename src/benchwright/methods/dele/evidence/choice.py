"""A sampler chosen by some models, and what it is worth to others (DELE, Algorithm 1, Table 3)."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.evidence.judging import RANDOM, judge_by, rates_of
from benchwright.methods.dele.evidence.model_splits import ModelSplit, split_by_family
from benchwright.methods.dele.evidence.panels import FEWEST_JUDGES, SamplingPanels
from benchwright.methods.dele.evidence.pools import Pools
from benchwright.methods.dele.samplers.adaptive import (
    choose_sampler,
    fixed_orders,
    gain_over_random,
    luck_of_winners,
)
from benchwright.methods.dele.samplers.curves import sampler_figures
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.params.sampling import AdaptiveParams, SamplingParams
from benchwright.statistics.preservation import Judges
from benchwright.tables.dele import ChangedWinners, SamplerChoice, SubjectWinners

EVERYONE = -1
"""The split in which all models choose and nobody judges."""


def choose_samplers(
    sampling_figures: pd.DataFrame,
    pools: Pools,
    panels: SamplingPanels,
    saved_sampler_choice: pd.DataFrame,
    sampling: SamplingParams,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Choose a sampler by all models, and by a part of them over many splits.

    The gain is that of the winner's first criterion over random, in the mean over rates: the
    apparent one among the models that chose, the held-out one among the others. Beside it stands
    what the best of as many random orders gains there, chosen in the same way.

    Returns:
        A `SamplerChoice` table, and a `ChangedWinners` table: where the choice by all models is
        another than in the last saved run.
    """
    adaptive = sampling.adaptive
    own = sampling_figures[sampling_figures["panel"] == "all"]
    rows = [_row(EVERYONE, own, None, adaptive, (len(panels.models), 0))]
    rows += _by_splits(model_splits(panels, adaptive, seed), pools, panels, sampling, seed)
    table = SamplerChoice.from_rows(rows)
    whole = [frame[frame["split"] == EVERYONE] for frame in (saved_sampler_choice, table)]
    before, now = (frame["winner"].set_axis([""] * len(frame)) for frame in whole)
    return table, _changed(before, now)


def choose_by_subject(
    pools: Pools,
    panels: SamplingPanels,
    saved_subject_winners: pd.DataFrame,
    sampling: SamplingParams,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, float]]:
    """Choose a sampler inside each subject, by each of two halves of the models and by all.

    Samplers that read answers take no part: each half would need items of its own.

    Returns:
        A `SubjectWinners` table, a `ChangedWinners` table beside the last saved run, and how far
        the two halves agree beside luck, as numbers; none without subjects.
    """
    adaptive = sampling.adaptive
    subjects = large_subjects(pools.plain, sampling)
    groups = ("selection", "held_out", "all")
    if not subjects or min(len(panels.groups[name]) for name in groups) < FEWEST_JUDGES:
        return SubjectWinners.empty(), ChangedWinners.empty(), {}
    rows, samplers = [], 0
    for subject, places in subjects.items():
        pool = pools.plain.select(places)
        members = {name: panels.groups[name] for name in groups}
        judges = Judges.of(panels.correct[:, places], members)
        rates = _rates(sampling)
        tau = "tau_b" in adaptive.criteria
        found, _ = judge_by(pool, (), judges, sampling, rates, seed, tau=tau)
        by_panel = {name: found[found["panel"] == name] for name in groups}
        samplers = max(samplers, found["sampler"].nunique())
        chosen = {name: choose_sampler(own, adaptive) for name, own in by_panel.items()}
        metric = adaptive.criteria[0]
        winner = chosen["selection"].winner
        gains = [
            gain_over_random(by_panel[name], winner, metric, adaptive)
            for name in ("selection", "held_out")
        ]
        winners = [chosen[name].winner for name in ("all", "selection", "held_out")]
        rows.append((subject, len(places), *winners, metric, *gains, chosen["all"].reason))
    table = SubjectWinners.from_rows(rows)
    luck = luck_of_winners(table["winner_selection"], table["winner_held_out"], samplers)
    before, now = (frame.set_index("subject")["winner"] for frame in (saved_subject_winners, table))
    return (
        table,
        _changed(before, now),
        {
            **{name: float(value) for name, value in luck._asdict().items()},
            "samplers": float(samplers),
            "random_won": float(table["winner"].eq(RANDOM).sum()),
            "apparent_gain": float(table["apparent_gain"].mean()),
            "held_out_gain": float(table["held_out_gain"].mean()),
            "subjects_with_gain": float((table["held_out_gain"] > 0).sum()),
        },
    )


def join_changes(changed_winner: pd.DataFrame, changed_subjects: pd.DataFrame) -> pd.DataFrame:
    """List the winners that are others than in the last saved run: a `ChangedWinners` table."""
    both = [table for table in (changed_winner, changed_subjects) if len(table)]
    return pd.concat(both, ignore_index=True) if both else ChangedWinners.empty()


def _by_splits(
    splits: list[ModelSplit],
    pools: Pools,
    panels: SamplingPanels,
    sampling: SamplingParams,
    seed: int,
) -> list[tuple[Any, ...]]:
    """A row per split; samplers that read no answers draw once for all of them."""
    if not splits:
        return []
    plain, tau = pools.plain, "tau_b" in sampling.adaptive.criteria
    sides = [
        {f"{name} {number}": own for name, own in halves._asdict().items()}
        for number, halves in enumerate(splits)
    ]
    judges = Judges.of(panels.correct, {name: own for both in sides for name, own in both.items()})
    by_choosers = (
        (list(both), plain.answered(panels.correct[halves.selection]))
        for both, halves in zip(sides, splits, strict=True)
    )
    fewer, rates = sampling.model_copy(update={"repeats": repeats_of(sampling)}), _rates(sampling)
    found, _ = judge_by(plain, by_choosers, judges, fewer, rates, draws_seed(seed), tau=tau)
    orders = fixed_orders(found["sampler"].nunique(), seed)
    by_luck = sampler_figures(plain, orders, judges, rates, 1, seed, tau=tau)
    found = pd.concat([found, by_luck], ignore_index=True)
    found["lucky"] = found["sampler"].isin(list(orders))
    by_panel = dict(list(found.groupby("panel")))
    rows = []
    for number, halves in enumerate(splits):
        own, other = (by_panel[f"{name} {number}"] for name in ("selection", "held_out"))
        counts = (len(halves.selection), len(halves.held_out))
        rows.append(_row(number, own, other, sampling.adaptive, counts))
    return rows


def _row(
    split: int,
    own: pd.DataFrame,
    other: pd.DataFrame | None,
    adaptive: AdaptiveParams,
    counts: tuple[int, int],
) -> tuple[Any, ...]:
    lucky, luckiest, metric = float("nan"), "", adaptive.criteria[0]
    if other is not None:
        luckiest = choose_sampler(own[own["lucky"]], adaptive).winner
        lucky = gain_over_random(other, luckiest, metric, adaptive)
        own, other = (figures[~figures["lucky"]] for figures in (own, other))
    chosen = choose_sampler(own, adaptive)
    gains = [
        gain_over_random(figures, chosen.winner, metric, adaptive)
        if figures is not None and chosen.winner
        else float("nan")
        for figures in (own, other)
    ]
    eligible = int(chosen.standing["eligible"].sum()) if len(chosen.standing) else 0
    return (split, chosen.winner, metric, *gains, lucky, luckiest, *counts, eligible, chosen.reason)


def _rates(sampling: SamplingParams) -> list[float]:
    adaptive = sampling.adaptive
    return [r for r in rates_of(sampling) if adaptive.lowest_rate <= r <= adaptive.highest_rate]


def large_subjects(pool: SamplingPool, sampling: SamplingParams) -> dict[str, NDArray[np.intp]]:
    """Places of the items of each subject that has enough; none where there is one subject."""
    names = np.array(pool.subjects, dtype=object)
    distinct = sorted(set(pool.subjects))
    if not sampling.evidence.by_subject or len(distinct) < 2:
        return {}
    places = {name: np.flatnonzero(names == name) for name in distinct}
    least = sampling.evidence.subject_items
    return {name: own for name, own in places.items() if len(own) >= least}


def _changed(before: pd.Series, now: pd.Series) -> pd.DataFrame:
    """Scopes that both have, with another winner."""
    rows = [
        (str(scope), str(before[scope]), str(now[scope]))
        for scope in now.index
        if scope in before.index and before[scope] != now[scope]
    ]
    return ChangedWinners.from_rows(rows)


class Gains(NamedTuple):
    """The winner's gain over random, over splits; NaN without splits."""

    splits: int  # number of splits
    apparent: float  # mean gain among the models that chose
    held_out: float  # mean gain among the others
    # low, high: middle 95% of the held-out gains.
    low: float
    high: float
    luck: float  # mean held-out gain of the best of as many random orders, chosen in the same way
    winner: str  # the most frequent winner, and `won`: in how many splits
    won: int


def gains_over_splits(sampler_choice: pd.DataFrame) -> Gains:
    """Sum up the splits of a `SamplerChoice` table."""
    own = sampler_choice[(sampler_choice["split"] != EVERYONE) & sampler_choice["winner"].ne("")]
    nan = float("nan")
    if own.empty:
        return Gains(0, nan, nan, nan, nan, nan, "", 0)
    low, high = own["held_out_gain"].quantile([0.025, 0.975])
    counts = own["winner"].value_counts()
    counts = counts.sort_index().sort_values(ascending=False, kind="stable")
    apparent, held_out = own[["apparent_gain", "held_out_gain"]].mean().tolist()
    most, won = str(counts.index[0]), int(counts.iloc[0])
    luck = float(own["luck_gain"].mean())
    return Gains(len(own), apparent, held_out, float(low), float(high), luck, most, won)


def model_splits(panels: SamplingPanels, adaptive: AdaptiveParams, seed: int) -> list[ModelSplit]:
    """Splits in which both sides can rank models, whole families on one side."""
    found = []
    for number in range(adaptive.splits):
        own = int(stage_generator(seed, f"sampling/split/{number}").integers(1 << 62))
        halves = split_by_family(panels.models, panels.families, adaptive.selection_share, own)
        if panels.item_ids and min(len(side) for side in halves) >= FEWEST_JUDGES:
            found.append(halves)
    return found


def repeats_of(sampling: SamplingParams) -> int:
    """Draws of each sampler in a split."""
    return min(sampling.repeats, sampling.evidence.choice_repeats)


def draws_seed(seed: int) -> int:
    """The seed of these draws."""
    return int(stage_generator(seed, "sampling/choice").integers(1 << 62))
