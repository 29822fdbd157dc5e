"""What the chosen sampler keeps over rates, judged by models that did not choose (DELE, Fig. 7)."""

from collections.abc import Iterable
from math import ceil

import numpy as np
import pandas as pd

from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.evidence.choice import EVERYONE
from benchwright.methods.dele.evidence.judging import rates_of
from benchwright.methods.dele.evidence.model_splits import (
    draws_seed,
    model_splits,
    pool_of,
    repeats_of,
)
from benchwright.methods.dele.evidence.panels import SamplingPanels
from benchwright.methods.dele.evidence.pools import Pools
from benchwright.methods.dele.evidence.random_draws import MIDDLE, quantiles, random_figures
from benchwright.methods.dele.evidence.ready_samplers import (
    RANDOM,
    kinds_of,
    reads_answers,
    ready_samplers,
    repeats_by_name,
)
from benchwright.methods.dele.samplers.adaptive import fixed_orders
from benchwright.methods.dele.samplers.curves import FIGURES, sampler_figures, sizes_of_rates
from benchwright.methods.dele.samplers.model_split import ModelSplit
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.preservation import Judges
from benchwright.tables.dele import ChosenCurves

CHOSEN, IN_SAMPLE, ORDER = "chosen", "chosen, in-sample", "random order"
"""The winner of each split judged by the others, by those that chose it, and the luckiest order."""


def trace_chosen(
    sampler_choice: pd.DataFrame,
    pools: Pools,
    panels: SamplingPanels,
    sampling: SamplingParams,
    seed: int,
) -> pd.DataFrame:
    """Trace the sampler that each split of the models chose, over all rates.

    The draws are those by which it was chosen, at more rates. Beside it stand random, the best of
    as many random orders, and single random subsets, all judged by the models that did not choose.

    Returns:
        A `ChosenCurves` table, without rows where no split chose.
    """
    chosen = sampler_choice[
        (sampler_choice["split"] != EVERYONE) & sampler_choice["winner"].ne("")
    ].set_index("split")
    splits = model_splits(panels, sampling.adaptive, seed)
    if chosen.empty:
        return ChosenCurves.empty()
    own = {int(number): splits[number] for number in chosen.index}
    judges = _judges(own, panels)
    parts = [
        *_winners(chosen["winner"], own, judges, pools, sampling, seed),
        *_randoms(chosen["luck_winner"], judges, pools, sampling, seed),
    ]
    table = _means(pd.concat(parts, ignore_index=True)).merge(
        _band(list(own), judges, sampling, seed), on=["rate", "metric"], how="left"
    )
    return pd.DataFrame(ChosenCurves.validate(table[ChosenCurves.columns()]))


def _judges(splits: dict[int, ModelSplit], panels: SamplingPanels) -> Judges:
    """A panel for each line and split: the models that did not choose, and those that did."""
    sides = {CHOSEN: "held_out", IN_SAMPLE: "selection", RANDOM: "held_out", ORDER: "held_out"}
    members = {
        f"{line} {number}": getattr(halves, side)
        for number, halves in splits.items()
        for line, side in sides.items()
    }
    return Judges.of(panels.correct, members)


def _winners(
    winners: pd.Series,
    splits: dict[int, ModelSplit],
    judges: Judges,
    pools: Pools,
    sampling: SamplingParams,
    seed: int,
) -> Iterable[pd.DataFrame]:
    """Figures of each split's winner by both sides; one without answers draws once."""
    rates, repeats, own_seed = rates_of(sampling), _repeats(sampling), draws_seed(seed)
    plain = reads_answers(sampling, answers=False)
    samplers = ready_samplers(sampling)
    for name, own in winners.groupby(winners):
        together = name in plain
        for numbers in [list(own.index)] if together else [[number] for number in own.index]:
            pool = pools.plain
            if not together:
                pool = pool_of(pool, judges.correct[splits[numbers[0]].selection])
            own_panels = judges.only(f"{line} {n}" for n in numbers for line in (CHOSEN, IN_SAMPLE))
            sampler = {str(name): samplers[str(name)]}
            yield sampler_figures(pool, sampler, own_panels, rates, repeats, own_seed)


def _randoms(
    orders: pd.Series,
    judges: Judges,
    pools: Pools,
    sampling: SamplingParams,
    seed: int,
) -> Iterable[pd.DataFrame]:
    """Figures of random, and of the luckiest order of each split, by the models held out."""
    rates = rates_of(sampling)
    everyone = judges.only(f"{RANDOM} {number}" for number in orders.index)
    random = {RANDOM: ready_samplers(sampling)[RANDOM]}
    repeats, own_seed = _repeats(sampling), draws_seed(seed)
    yield sampler_figures(pools.plain, random, everyone, rates, repeats, own_seed)
    known = fixed_orders(len(kinds_of(sampling)), seed)
    for name, own in orders[orders.ne("")].groupby(orders):
        some = judges.only(f"{ORDER} {number}" for number in own.index)
        yield sampler_figures(pools.plain, {str(name): known[str(name)]}, some, rates, 1, seed)


def _repeats(sampling: SamplingParams) -> dict[str, int]:
    return repeats_by_name(sampling.model_copy(update={"repeats": repeats_of(sampling)}))


def _means(figures: pd.DataFrame) -> pd.DataFrame:
    """Means over repeats and then over splits, with the middle 95% of the splits."""
    figures[["line", "split"]] = figures["panel"].str.rsplit(" ", n=1, expand=True)
    long = figures.melt(
        ["line", "split", "rate", "size"], list(FIGURES), var_name="metric", value_name="value"
    )
    by_split = long.groupby(["line", "split", "rate", "size", "metric"])["value"].mean()
    groups = by_split.groupby(["line", "rate", "size", "metric"])
    return pd.DataFrame(
        {
            "splits": groups.size(),
            "mean": groups.mean(),
            "low": groups.quantile(MIDDLE[0]),
            "high": groups.quantile(MIDDLE[2]),
        }
    ).reset_index()


def _band(splits: list[int], judges: Judges, sampling: SamplingParams, seed: int) -> pd.DataFrame:
    """Middle 95% of single random subsets at each rate, the splits together."""
    rates, draws = rates_of(sampling), ceil(sampling.evidence.band_subsets / len(splits))
    panels = {number: f"{RANDOM} {number}" for number in splits}
    n = judges.correct.shape[1]
    rows = []
    for rate, size in zip(rates, sizes_of_rates(rates, n).tolist(), strict=True):
        parts = [
            random_figures(
                judges.only([panel]),
                size,
                draws,
                stage_generator(seed, f"sampling/chosen_curves/{rate:g}/{number}"),
            )[panel]
            for number, panel in panels.items()
        ]
        for metric in FIGURES:
            together = np.concatenate([getattr(part, metric) for part in parts])
            rows.append((rate, metric, *quantiles(together)))
    columns = ["rate", "metric", "random_low", "random_median", "random_high"]
    return pd.DataFrame(rows, columns=columns)
