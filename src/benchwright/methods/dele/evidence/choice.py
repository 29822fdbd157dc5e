"""Choice of a sampler by some models, for all items or by subject, and its gain on others.

DELE, Algorithm 1, section 4.1.1, Table 3 and Figure 7.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.evidence.verdict import not_told_apart
from benchwright.exports.export import ALL_MODELS_SPLIT, CHOSEN_BY_SUBJECT, sampler_of
from benchwright.methods.dele.evidence.panels import FEWEST_MODELS, ModelSplit, split_by_family
from benchwright.methods.dele.evidence.sampler_results import (
    compare_for_panels,
    direction,
    measure_samplers,
    runs_on,
)
from benchwright.methods.dele.evidence.study import SamplingStudy, sizes_of_rates
from benchwright.methods.dele.samplers.baselines import random_sampler, within_subjects
from benchwright.methods.dele.samplers.pool import (
    Sampler,
    VectorsByText,
    item_pool,
)
from benchwright.methods.dele.samplers.registry import RANDOM, make_samplers
from benchwright.params.sampling import AdaptiveParams, SamplingParams
from benchwright.statistics.preservation import ModelPanels
from benchwright.statistics.right_order import gap_told_apart
from benchwright.tables.dele import ChosenSubset, SamplerChoice, SubjectWinners


class Choice(NamedTuple):
    """The sampler chosen by one panel, and the ranking of all samplers."""

    winner: str  # a sampler's name; "" if no sampler has results
    # one row per sampler, best first: sampler, eligible, mean_rank, and each criterion's mean over
    # rates.
    ranking: pd.DataFrame
    reason: str = ""  # a caveat of the choice, or ""


MIN_CORRELATION = 0.9  # Spearman's, that an eligible sampler reaches at each rate


def choose_sampler(results: pd.DataFrame, params: AdaptiveParams) -> Choice:
    """Choose a sampler by the results of one panel.

    A sampler is eligible if its mean Spearman correlation over repeats reaches .9
    at every compared rate. If none does, all are eligible and the choice has a reason. Eligible
    samplers are ranked by each criterion, with average ranks for ties. The lowest mean rank wins,
    then the higher correlation, then the name.

    `results` have the columns sampler, rate, repeat and the fields of `Preservation`.
    """
    table = _by_sampler(results, params)
    eligible = table.pop("lowest_spearman").ge(MIN_CORRELATION)
    table = table.assign(eligible=eligible, mean_rank=np.nan).reset_index()
    if table.empty:
        rates = f"{params.lowest_rate:g}% and {params.highest_rate:g}%"
        return Choice("", table, f"no results between {rates}")
    reason = ""
    ranked = table["eligible"]
    if not ranked.any():
        ranked = table["spearman"].notna()
        reason = f"no sampler reaches a Spearman correlation of {MIN_CORRELATION:g}"
    if not ranked.any():
        undefined = "correlations are undefined: too few models, or all scores are equal"
        return Choice("", table, undefined)
    costs = table.loc[ranked, list(params.criteria)] * [-direction(n) for n in params.criteria]
    table["mean_rank"] = costs.rank(na_option="bottom").mean(axis=1)
    table = table.sort_values(
        ["mean_rank", "spearman", "sampler"], ascending=[True, False, True], ignore_index=True
    )
    return Choice(str(table["sampler"].iloc[0]), table, reason)


_MEANS = ("spearman", "tau_b", "pearson", "wasserstein", "mean_absolute_error", "error_sd")


def _by_sampler(results: pd.DataFrame, params: AdaptiveParams) -> pd.DataFrame:
    """Compute the criteria of each sampler between the compared rates, and its lowest Spearman.

    Criteria are means over rates of means over repeats; the variance over rates is that of each
    repeat, averaged. A sampler with one repeat is thus judged like one whose repeats differ.
    """
    inside = results[results["rate"].between(params.lowest_rate, params.highest_rate)]
    by_rate = inside.groupby(["sampler", "rate"], sort=True)[list(_MEANS)].mean()
    groups = by_rate.groupby("sampler", sort=True)
    by_repeat = inside.groupby(["sampler", "repeat"], sort=True)["spearman"].var(ddof=1)
    return groups.mean().assign(
        rate_variance=by_repeat.groupby("sampler").mean(),
        lowest_spearman=groups["spearman"].min(),
    )


def gain_over_random(
    results: pd.DataFrame, sampler: str, metric: str, params: AdaptiveParams
) -> float:
    """Return the gain of a sampler over random in a panel's results, mean over rates and repeats.

    A positive gain is better for every metric. NaN if either has no results.
    """
    means = _by_sampler(results[results["sampler"].isin([sampler, RANDOM])], params)[metric]
    return direction(metric) * float(means.get(sampler, np.nan) - means.get(RANDOM, np.nan))


def choose_samplers(sampling_results: pd.DataFrame, study: SamplingStudy) -> pd.DataFrame:
    """Choose a sampler by all models, and by a part of them over many splits.

    The gain is the difference to random in the first criterion, a mean over rates. The apparent
    gain is in-sample, the held-out gain that of other models. Return a `SamplerChoice` table.
    """
    choosers = sampling_results[sampling_results["panel"] == "all"]
    by_all = {
        "split": ALL_MODELS_SPLIT,
        "n_choose": len(study.panels.models),
        "n_held_out": 0,
        **_judge(choosers, choosers[:0], study.sampling.adaptive),
    }
    return SamplerChoice.from_rows([by_all, *_by_splits(study)])


def _by_splits(study: SamplingStudy) -> list[dict[str, Any]]:
    """Choose by each split; samplers that read no responses draw once for all splits."""
    splits = model_splits(study)
    if not splits:
        return []
    correct = study.panels.correct
    panels = {}
    for number, half in enumerate(splits):
        panels[f"selection {number}"] = half.selection
        panels[f"held_out {number}"] = half.held_out
    by_choosers = (
        ((f"selection {n}", f"held_out {n}"), replace(study.plain, correct=correct[half.selection]))
        for n, half in enumerate(splits)
    )
    draws = study.compared_draws(by_splits=True)
    results, _ = compare_for_panels(study, by_choosers, ModelPanels.of(correct, panels), draws)
    by_panel = dict(list(results.groupby("panel")))
    rows = []
    for number, half in enumerate(splits):
        selection = by_panel[f"selection {number}"]
        held_out = by_panel[f"held_out {number}"]
        rows.append(
            {
                "split": number,
                "n_choose": len(half.selection),
                "n_held_out": len(half.held_out),
                **_judge(selection, held_out, study.sampling.adaptive),
            }
        )
    return rows


def _judge(
    selection: pd.DataFrame, held_out: pd.DataFrame, adaptive: AdaptiveParams
) -> dict[str, Any]:
    """Choose by the results of some models, and measure the gain on these and on held-out ones."""
    chosen = choose_sampler(selection, adaptive)
    metric = adaptive.criteria[0]
    return {
        "winner": chosen.winner,
        "metric": metric,
        "apparent_gain": gain_over_random(selection, chosen.winner, metric, adaptive),
        "held_out_gain": gain_over_random(held_out, chosen.winner, metric, adaptive),
        "n_eligible": int(chosen.ranking["eligible"].sum()) if len(chosen.ranking) else 0,
        "reason": chosen.reason,
    }


class Gains(NamedTuple):
    """The gains of the chosen sampler over all splits; NaN without splits."""

    splits: int  # number of splits
    held_out: float  # mean gain on the held-out models
    low: float  # lower bound of the middle 95% of the held-out gains
    high: float  # upper bound
    winner: str  # the most frequent winner


def winners_of_splits(sampler_choice: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a `SamplerChoice` table for the splits that chose a sampler."""
    return sampler_choice[
        (sampler_choice["split"] != ALL_MODELS_SPLIT) & sampler_choice["winner"].ne("")
    ]


def gains_over_splits(sampler_choice: pd.DataFrame) -> Gains:
    """Summarise the splits of a `SamplerChoice` table."""
    splits = winners_of_splits(sampler_choice)
    held_out = splits["held_out_gain"].mean()
    low, high = splits["held_out_gain"].quantile([0.025, 0.975]).tolist()
    winner = "" if splits.empty else str(splits["winner"].mode().iloc[0])  # the first by name
    return Gains(len(splits), held_out, low, high=high, winner=winner)


def model_splits(study: SamplingStudy) -> list[ModelSplit]:
    """Return the different splits by family with enough models on both sides to rank them.

    Few families have few splits, which random draws repeat; each counts once.
    """
    panels = study.panels
    splits: dict[bytes, ModelSplit] = {}
    for number in range(study.sampling.adaptive.splits):
        seed = int(study.generator(f"split/{number}").integers(1 << 62))
        halves = split_by_family(panels.families, seed)
        if panels.item_ids and min(len(side) for side in halves) >= FEWEST_MODELS:
            splits.setdefault(halves.selection.tobytes(), halves)
    return list(splits.values())


def composed(winners: pd.Series, samplers: Mapping[str, Sampler]) -> Sampler:
    """Return the sampler that draws each subject's share of the items by the subject's winner.

    `winners` are names of samplers by subject; `random` draws in subjects without one (DELE, Figure
    7).
    """
    chosen = {str(subject): samplers[name] for subject, name in winners.items() if name}
    return within_subjects(random_sampler, chosen)


def choose_subset(
    items: pd.DataFrame,
    pool_vectors: dict[str, VectorsByText],
    sampler_choice: pd.DataFrame,
    subject_winners: pd.DataFrame,
    study: SamplingStudy,
) -> pd.DataFrame:
    """Draw the exported subset from the items that all models answered.

    Samplers that read responses read those of all models. If no model answered enough items, draw
    from all items. Return a `ChosenSubset` table in the order of choice; its weights sum to 1.

    Raises:
        InputError: the sampler is unknown, its inputs are missing, or its size exceeds the number
            of items.
    """
    sampling = study.sampling
    export = sampling.export
    pool = study.plain if len(study.plain) else item_pool(items, pool_vectors)
    size = export.size or sizes_of_rates([export.rate], len(pool))[0]
    if size > len(pool):
        raise InputError(
            f"sampling.export.size is {size:,}, but there are only {len(pool):,} items"
        )
    name = sampler_of(sampling, sampler_choice)
    if name == CHOSEN_BY_SUBJECT:
        sampler = composed(subject_winners.set_index("subject")["winner"], study.samplers())
    else:
        sampler = make_samplers(sampling.model_copy(update={"samplers": (name,)}))[name]
    subset = sampler(pool, export.seed)(size)
    ids = pool.ids[subset.positions]
    table = pd.DataFrame(
        {
            "item_id": ids,
            "position": pd.Index(items["item_id"]).get_indexer(pd.Index(ids)),
            "weight": subset.weights,
            "inclusion": subset.inclusion,
        }
    )
    return ChosenSubset.from_rows(table.to_dict("records"))


def describe_subset(chosen_subset: pd.DataFrame, study: SamplingStudy) -> dict[str, Any]:
    """Say which pairs of models the exported subset does not tell apart, and where it is from.

    `told_apart` is "" for weighted items, and where fewer than two models answered them.
    `drawn_from` lists the ids of the items that it was drawn from; of all items where it is empty.
    """
    kept = pd.Index(study.panels.item_ids, dtype=object).isin(chosen_subset["item_id"])
    told_apart = ""
    weights = chosen_subset["weight"].to_numpy()
    if (weights == weights[0]).all() and kept.sum() == len(chosen_subset):
        gap = gap_told_apart(study.panels.correct[:, kept], len(kept))
        told_apart = not_told_apart(100 * gap)
    return {"told_apart": told_apart, "drawn_from": list(study.plain.item_ids)}


def choose_by_subject(study: SamplingStudy) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Choose a sampler inside each subject, by all models and by the selection of each split.

    Samplers that read responses are left out: each group of models would need its own items. Return
    a `SubjectWinners` table and the choice of the selection models of each split (split, subject,
    winner), both empty without subjects.

    Raises:
        InputError: the exported subset needs choices by subject, and there are none.
    """
    adaptive = study.sampling.adaptive
    panels = study.panels
    items_of = study.plain.by_subject()
    fewest = study.sampling.evidence.subject_items
    subjects = {name: own for name, own in items_of.items() if len(own) >= fewest}
    columns = ["split", "subject", "winner"]
    if not subjects or len(items_of) < 2 or len(panels.models) < FEWEST_MODELS:
        if study.sampling.export.sampler == CHOSEN_BY_SUBJECT:
            raise InputError(
                f"sampling.export.sampler is {CHOSEN_BY_SUBJECT}, but no sampler can be chosen by "
                f"subject: this needs several subjects, one of them with {fewest} items "
                "(sampling.evidence.subject_items), and three models"
            )
        return SubjectWinners.empty(), pd.DataFrame(columns=columns)
    members = {"all": panels.groups["all"]}
    splits = model_splits(study)
    for number, half in enumerate(splits):
        members[str(number)] = half.selection
    rows = []
    of_splits = []
    draws = study.compared_draws()
    plain = study.samplers(responses=False)
    for subject, places in subjects.items():
        pool = study.plain.select(places)
        model_panels = ModelPanels.of(panels.correct[:, places], members)
        able, _ = runs_on(plain, pool)
        results = measure_samplers(pool, able, model_panels, draws)
        chosen = {name: choose_sampler(own, adaptive) for name, own in results.groupby("panel")}
        of_all = chosen["all"]
        spearman = of_all.ranking["spearman"].iloc[0] if of_all.winner else np.nan
        rows.append((subject, len(places), of_all.winner, spearman, of_all.reason))
        of_splits += [(n, subject, chosen[str(n)].winner) for n in range(len(splits))]
    return SubjectWinners.from_rows(rows), pd.DataFrame(of_splits, columns=columns)


def measure_subject_choices(
    chosen_curves: pd.DataFrame, sampling: SamplingParams
) -> dict[str, float]:
    """Return the gain of the composed subset at the main rate, with its bounds; {} without one.

    `composed_gain` is the gain in Spearman's correlation over random on held-out models, mean over
    splits, `.low` and `.high` the middle 95% of the splits.
    """
    curves = chosen_curves[chosen_curves["rate"] == sampling.evidence.main_rate]
    own = curves[(curves["line"] == CHOSEN_BY_SUBJECT) & (curves["metric"] == "spearman")]
    if own.empty:
        return {}
    return {
        "composed_gain": float(own["gain"].iloc[0]),
        "composed_gain.low": float(own["gain_low"].iloc[0]),
        "composed_gain.high": float(own["gain_high"].iloc[0]),
    }
