"""Choice of a sampler by some models, and its gain on others (DELE, Algorithm 1, Table 3)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.evidence.told_apart import not_told_apart
from benchwright.exports.export import ALL_MODELS_SPLIT, CHOSEN_BY_SUBJECT, sampler_of
from benchwright.methods.dele.evidence.against_random import HIGHER_IS_BETTER
from benchwright.methods.dele.evidence.panels import FEWEST_MODELS, ModelSplit, split_by_family
from benchwright.methods.dele.evidence.sampler_results import (
    compare_for_panels,
)
from benchwright.methods.dele.evidence.study import SamplingStudy, sizes_of_rates
from benchwright.methods.dele.samplers.baselines import random_sampler, within_subjects
from benchwright.methods.dele.samplers.pool import (
    Sampler,
    VectorsByText,
    feature_texts,
    item_pool,
)
from benchwright.methods.dele.samplers.registry import RANDOM, make_samplers
from benchwright.params.sampling import AdaptiveParams
from benchwright.statistics.preservation import ModelPanels
from benchwright.statistics.right_order import gap_told_apart
from benchwright.tables.dele import ChosenSubset, SamplerChoice


class Choice(NamedTuple):
    """The sampler chosen by one panel, and the ranking of all samplers."""

    winner: str  # a sampler's name; "" if no sampler has results
    # one row per sampler, best first: sampler, eligible, mean_rank, and each criterion's mean over
    # rates.
    ranking: pd.DataFrame
    reason: str = ""  # a caveat of the choice, or ""


def choose_sampler(results: pd.DataFrame, params: AdaptiveParams) -> Choice:
    """Choose a sampler by the results of one panel.

    A sampler is eligible if its mean Spearman correlation over repeats reaches `min_correlation`
    at every compared rate. If none does, all are eligible and the choice has a reason. Eligible
    samplers are ranked by each criterion, with average ranks for ties. The lowest mean rank wins,
    then the higher correlation, then the name.

    `results` have the columns sampler, rate, repeat and the fields of `Preservation`.
    """
    table = _by_sampler(results, params)
    eligible = table.pop("lowest_spearman").ge(params.min_correlation)
    table = table.assign(eligible=eligible, mean_rank=np.nan).reset_index()
    reason = ""
    if table.empty:
        reason = f"no results between {params.lowest_rate:g}% and {params.highest_rate:g}%"
        return Choice("", table, reason)
    if not table["eligible"].any():
        reason = f"no sampler reaches a Spearman correlation of {params.min_correlation:g}"
        if not table["spearman"].notna().any():
            reason = "correlations are undefined: too few models, or all scores are equal"
            return Choice("", table, reason)
    ranked = table["eligible"] if table["eligible"].any() else table["spearman"].notna()
    ranks = pd.DataFrame(
        {
            name: table.loc[ranked, name].rank(
                ascending=not HIGHER_IS_BETTER.get(name, False), na_option="bottom"
            )
            for name in params.criteria
        }
    )
    table["mean_rank"] = ranks.mean(axis=1).reindex(table.index)
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
    """Return the gain of a sampler over random, a mean over rates and repeats.

    A positive gain is better for every metric. NaN if either has no results.

    `results` are those of one panel; `metric` is a criterion.
    """
    means = _by_sampler(results[results["sampler"].isin([sampler, RANDOM])], params)[metric]
    difference = float(means.get(sampler, np.nan) - means.get(RANDOM, np.nan))
    return difference if HIGHER_IS_BETTER.get(metric, False) else -difference


def choose_samplers(sampling_results: pd.DataFrame, study: SamplingStudy) -> pd.DataFrame:
    """Choose a sampler by all models, and by a part of them over many splits.

    The gain is the difference to random in the first criterion, a mean over rates. The apparent
    gain is in-sample, the held-out gain that of other models. Return a `SamplerChoice` table.
    """
    choosers = sampling_results[sampling_results["panel"] == "all"]
    counts = {"n_choose": len(study.panels.models), "n_held_out": 0}
    by_all = _judge(choosers, None, study.sampling.adaptive) | counts | {"split": ALL_MODELS_SPLIT}
    return SamplerChoice.from_rows([by_all, *_by_splits(study)])


def _by_splits(study: SamplingStudy) -> list[dict[str, Any]]:
    """Choose by each split; samplers that read no responses draw once for all splits."""
    splits, adaptive = model_splits(study), study.sampling.adaptive
    if not splits:
        return []
    sides = [
        {f"{name} {number}": places for name, places in halves._asdict().items()}
        for number, halves in enumerate(splits)
    ]
    correct = study.panels.correct
    model_panels = ModelPanels.of(
        correct, {name: own for both in sides for name, own in both.items()}
    )
    by_choosers = (
        (list(both), replace(study.plain, correct=correct[halves.selection]))
        for both, halves in zip(sides, splits, strict=True)
    )
    draws = study.split_draws(compared_rates(study), tau="tau_b" in adaptive.criteria)
    results, _ = compare_for_panels(study, by_choosers, model_panels, draws)
    by_panel = dict(list(results.groupby("panel")))
    return [
        {
            "split": number,
            **_judge(by_panel[f"selection {number}"], by_panel[f"held_out {number}"], adaptive),
            "n_choose": len(halves.selection),
            "n_held_out": len(halves.held_out),
        }
        for number, halves in enumerate(splits)
    ]


def _judge(
    selection: pd.DataFrame, held_out: pd.DataFrame | None, adaptive: AdaptiveParams
) -> dict[str, Any]:
    """Choose by the results of some models, and measure the gain on these and on held-out ones."""
    chosen, metric = choose_sampler(selection, adaptive), adaptive.criteria[0]

    def gain(results: pd.DataFrame | None) -> float:
        if results is None or not chosen.winner:
            return float("nan")
        return gain_over_random(results, chosen.winner, metric, adaptive)

    return {
        "winner": chosen.winner,
        "metric": metric,
        "apparent_gain": gain(selection),
        "held_out_gain": gain(held_out),
        "n_eligible": int(chosen.ranking["eligible"].sum()) if len(chosen.ranking) else 0,
        "reason": chosen.reason,
    }


def compared_rates(study: SamplingStudy) -> list[float]:
    """Return the rates at which samplers are compared."""
    adaptive = study.sampling.adaptive
    return [r for r in study.rates if adaptive.lowest_rate <= r <= adaptive.highest_rate]


class Gains(NamedTuple):
    """The gains of the chosen sampler over all splits; NaN without splits."""

    splits: int  # number of splits
    apparent: float  # mean gain, in-sample
    held_out: float  # mean gain on the held-out models
    low: float  # lower bound of the middle 95% of the held-out gains
    high: float  # upper bound
    winner: str  # the most frequent winner
    won: int  # splits that it won


def winners_of_splits(sampler_choice: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a `SamplerChoice` table for the splits that chose a sampler."""
    return sampler_choice[
        (sampler_choice["split"] != ALL_MODELS_SPLIT) & sampler_choice["winner"].ne("")
    ]


def gains_over_splits(sampler_choice: pd.DataFrame) -> Gains:
    """Summarise the splits of a `SamplerChoice` table."""
    splits = winners_of_splits(sampler_choice)
    nan = float("nan")
    if splits.empty:
        return Gains(0, nan, nan, nan, nan, "", 0)
    low, high = splits["held_out_gain"].quantile([0.025, 0.975])
    counts = splits["winner"].value_counts()
    counts = counts.sort_index().sort_values(ascending=False, kind="stable")
    apparent, held_out = splits[["apparent_gain", "held_out_gain"]].mean().tolist()
    winner, won = str(counts.index[0]), int(counts.iloc[0])
    return Gains(len(splits), apparent, held_out, float(low), float(high), winner, won)


def model_splits(study: SamplingStudy) -> list[ModelSplit]:
    """Return the different splits by family with enough models on both sides to rank them.

    Few families have few splits, which random draws repeat; each counts once.
    """
    panels = study.panels
    splits: dict[bytes, ModelSplit] = {}
    for number in range(study.sampling.adaptive.splits):
        seed = int(study.generator(f"split/{number}").integers(1 << 62))
        halves = split_by_family(panels.models, panels.families, seed)
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
    sampling, pool = study.sampling, study.plain
    export = sampling.export
    if not len(pool):
        texts = feature_texts(items, sampling.feature_text)
        encoded = {
            name: vectors
            for name, vectors in pool_vectors.items()
            if all(text in vectors for text in texts)
        }
        pool = item_pool(items, sampling.feature_text, encoded)
    size = export.size or sizes_of_rates([export.rate], len(pool))[0]
    if size > len(pool):
        raise InputError(
            f"sampling.export.size is {size:,}, but there are only {len(pool):,} items"
        )
    name = sampler_of(sampling, sampler_choice)
    if name == CHOSEN_BY_SUBJECT:
        winners = subject_winners.set_index("subject")["winner"]
        sampler = composed(winners, study.samplers())
    else:
        only = sampling.model_copy(update={"samplers": (name,)})
        sampler = make_samplers(only)[name]
    subset: WeightedSubset = sampler(pool, export.seed)(size)
    place = {str(item): row for row, item in enumerate(items["item_id"])}
    ids = [pool.item_ids[position] for position in subset.positions]
    known = subset.inclusion
    inclusion = [float("nan")] * len(ids) if known is None else known.tolist()
    rows = zip(ids, map(place.__getitem__, ids), subset.weights.tolist(), inclusion, strict=True)
    return ChosenSubset.from_rows(list(rows))


def describe_subset(chosen_subset: pd.DataFrame, study: SamplingStudy) -> dict[str, str]:
    """Say which pairs of models the exported subset does not tell apart, as `told_apart`.

    The sentence is "" for weighted items, and where fewer than two models answered them.
    """
    kept = pd.Index(study.panels.item_ids, dtype=object).isin(chosen_subset["item_id"].astype(str))
    weights = chosen_subset["weight"].to_numpy()
    if (weights != weights[0]).any() or kept.sum() < len(chosen_subset):
        return {"told_apart": ""}
    gap = gap_told_apart(study.panels.correct[:, kept], len(kept))
    return {"told_apart": not_told_apart(100 * gap)}
