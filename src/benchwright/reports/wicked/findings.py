"""Headline and warnings of the comparison report."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from benchwright.core.configuration import LISTING_STYLES
from benchwright.methods.wicked.comparison.compared_responses import (
    describe_asking,
    main_perturbation,
    perturbation_of,
)
from benchwright.methods.wicked.comparison.coverage import (
    Unchecked,
    changes_of_items,
    count_unchecked,
)
from benchwright.params.perturbation import (
    NoneOfTheAboveParams,
    PerturbationParams,
    ReplaceChoiceParams,
)
from benchwright.reports.page.wording import bounds, coefficient, count, joined, words_of
from benchwright.reports.wicked.terms import TRANSFORMS, interval, points

_FEW_MODELS = 5
_NOTABLE = 0.02  # share of failed extractions below which no warning is shown


class PerturbationReach(NamedTuple):
    """Numbers of items that the main perturbation alters."""

    name: str  # of the perturbation
    n_items: int  # of the benchmark
    share_altered: float  # of the items in a copy, 0–1, on average over copies
    unchecked: Unchecked  # labels of single-best-answer items


def measure_reach(
    items: pd.DataFrame,
    perturbation_changes: pd.DataFrame,
    single_best_answer_ids: Mapping[str, list[str]],
    comparison_coverage: pd.DataFrame,
    perturbation: PerturbationParams,
) -> PerturbationReach:
    """Count the items that the main perturbation altered, and those without a label."""
    name = main_perturbation(sorted(set(comparison_coverage["perturbation"])), perturbation)
    changes = perturbation_changes[perturbation_changes["condition"].map(perturbation_of) == name]
    altered = changes_of_items(changes)["altered"]
    unchecked = count_unchecked(changes, single_best_answer_ids, set(items["item_id"].astype(str)))
    share = float(altered.mean()) if len(altered) else 0.0
    return PerturbationReach(name, len(items), share, unchecked)


class Headline(NamedTuple):
    """The top of the page."""

    cost: str  # change of accuracy and number of items; or why there is none
    order: str  # effect on the order of models; "" where `cost` says why there is none


class _Metric(NamedTuple):
    """A metric of a `ComparisonSummary` table for one asking style."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    reason: str = "not computed"

    @property
    def bounds(self) -> str:
        return bounds(self.low, self.high)


def write_headline(
    comparison_scores: pd.DataFrame,
    comparison_summary: pd.DataFrame,
    perturbation: PerturbationParams,
    perturbation_reach: PerturbationReach,
) -> Headline:
    """Describe what the main perturbation costs the models of one asking style.

    `comparison_summary` starts with the asking style of most models.
    """
    name = main_perturbation(sorted(set(comparison_scores["perturbation"])), perturbation)
    if not name:
        why = (
            "No model answered the original items and all of their copies, so nothing is compared."
        )
        return Headline(why, "")
    summary = comparison_summary[comparison_summary["perturbation"] == name]
    way = str(summary["asking_style"].iloc[0])
    summary = summary[summary["asking_style"] == way]
    scores = comparison_scores[
        (comparison_scores["perturbation"] == name) & (comparison_scores["asking_style"] == way)
    ]
    metrics = {
        str(row["metric"]): _Metric(row["value"], row["low"], row["high"], row["reason"])
        for row in summary.drop_duplicates("metric").to_dict("records")
    }
    if not perturbation_reach.share_altered:
        cost = (
            f"No item was altered, so the accuracy of {count(len(scores), 'model')} is unchanged."
        )
    else:
        cost = _cost(scores, metrics.get("mean_delta", _Metric()), perturbation, way)
    n_models = int(summary["n_models"].iloc[0])
    return Headline(cost, _order(metrics, n_models))


def _cost(scores: pd.DataFrame, change: _Metric, perturbation: PerturbationParams, way: str) -> str:
    value, low, high = change.value, change.low, change.high
    what = joined([words_of(TRANSFORMS, part.transform) for part in perturbation.transforms])
    several = len(scores) != 1
    whom = count(len(scores), "model") if several else str(scores["model"].iloc[0])
    average = " on average" if several else ""
    doubt = ""
    if high < 0 and not math.isnan(low):
        lost = interval(-high, -low, signed=False)
        sentence = f"costs {whom} {points(-value, signed=False)} points{average} {lost}"
    elif low > 0:
        gained = interval(low, high, signed=False)
        sentence = f"gives {whom} {points(value, signed=False)} points more{average} {gained}"
    else:
        shown = f" {interval(low, high)}" if interval(low, high) else ", without an interval,"
        sentence = f"changes the accuracy of {whom} by {points(value)} points{average}{shown}"
        doubt = "" if math.isnan(low) else ": no clear difference"
    n, copies = int(scores["n_items"].iloc[0]), int(scores["copies"].iloc[0])
    manner = f"; {describe_asking(way)}" if describe_asking(way) else ""
    what = what[:1].upper() + what[1:]
    number = "1 copy" if copies == 1 else f"{copies:,} copies"
    return f"{what} {sentence} on {count(n, 'item')} ({number}{manner}){doubt}."


def _order(metrics: Mapping[str, _Metric], n_models: int) -> str:
    tau, again = (metrics.get(name, _Metric()) for name in ("kendall_tau_b", "tau_b_resampled"))
    if math.isnan(tau.value):
        return f"The rankings of models are not compared: {tau.reason}."
    pairs, turned, sure = (
        int(metrics[metric].value)
        for metric in ("pairs", "reversed_pairs", "significant_reversals")
    )
    shown = f"{coefficient(tau.value)} {tau.bounds}".strip()
    text = (
        f"The rankings of the {n_models:,} models on original and copies have Kendall tau-b {shown}"
    )
    if not math.isnan(again.low):
        noise = f"resampling the original items gives {coefficient(again.value)} {again.bounds}"
        more = "more than" if tau.value < again.low else "no more than"
        text += f"; {noise}, so the order changes {more} with another choice of items"
    beyond = "none" if not sure else f"{sure:,}"
    reverse = "reverses order" if turned == 1 else "reverse order"
    return f"{text}. {turned:,} of {count(pairs, 'pair')} {reverse}, {beyond} significantly (Holm)."


def write_notes(
    comparison_scores: pd.DataFrame,
    comparison_written: pd.DataFrame,
    perturbation: PerturbationParams,
    perturbation_reach: PerturbationReach,
) -> list[str]:
    """Write warnings about the results, the most serious first."""
    main = main_perturbation(sorted(comparison_scores["perturbation"].unique()), perturbation)
    return [
        *_coherence(perturbation, perturbation_reach.unchecked),
        *_unlisted_options(comparison_scores, perturbation),
        *_basis(comparison_scores, main, perturbation_reach.n_items),
        *_failures(comparison_written),
    ]


def _coherence(perturbation: PerturbationParams, unchecked: Unchecked) -> list[str]:
    if not unchecked.lost_unchecked:
        return []
    n = unchecked.lost_unchecked
    lost = "lost its" if n == 1 else "lost their"
    note = (
        f"{count(n, 'item')} {lost} gold option in at least one copy "
        f"({unchecked.lost_per_copy:,.1f} per copy) without a single-best-answer label. Where "
        "another option is then right, “none” wrongly counts as the answer, and part of the "
        "difference is an error of the benchmark. "
    )
    if perturbation.sba == "none":
        return [note + "`sba: none` reads no labels."]
    known = unchecked.sba + unchecked.other
    have = "has" if known == 1 else "have"
    return [f"{note}{count(known, 'item')} of this benchmark {have} a label."]


def _adds_none(perturbation: PerturbationParams) -> bool:
    says_none = (NoneOfTheAboveParams, ReplaceChoiceParams)
    return any(isinstance(part, says_none) for part in perturbation.transforms)


def _unlisted_options(
    comparison_scores: pd.DataFrame, perturbation: PerturbationParams
) -> list[str]:
    unlisted = ~comparison_scores["style"].isin(["", *LISTING_STYLES])
    names = comparison_scores.loc[unlisted, "configuration"].unique()
    if not (_adds_none(perturbation) and len(names)):
        return []
    return [
        f"The prompts of {count(len(names), 'configuration')} (cloze) do not list the options, so "
        "“none” is scored as a text with nothing above it. Their results do not show whether a "
        "model can reject the other options; the style letters does."
    ]


def _basis(comparison_scores: pd.DataFrame, main: str, n_items: int) -> list[str]:
    if comparison_scores.empty:
        return []
    notes = []
    n = int(comparison_scores["n_items"].min())
    if n < n_items:
        notes.append(
            f"{n:,} of {n_items:,} items are compared: those that every configuration answered "
            "in the original and in every copy."
        )
    models = comparison_scores["model"].nunique()
    if models < _FEW_MODELS:
        notes.append(
            f"Only {count(models, 'model')} answered. Averages and rankings of so few models say "
            "little about others."
        )
    if (comparison_scores.loc[comparison_scores["perturbation"] == main, "copies"] == 1).any():
        notes.append("There is one copy, so the variation between copies is unknown.")
    return notes


def _failures(comparison_written: pd.DataFrame) -> list[str]:
    written = comparison_written[comparison_written["written"].astype(bool)]
    shares = written[["failed_original", "failed_perturbed"]].to_numpy(dtype=float)
    worst = float(shares.max(initial=0.0))
    if not worst > _NOTABLE:
        return []
    return [
        f"No option could be extracted from up to {worst:.1%} of the written answers of a "
        "configuration. They count as wrong."
    ]
