"""Headline and warnings of the comparison report."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.configuration import LISTING_STYLES
from benchwright.core.wording import (
    bounds,
    coefficient,
    count,
    interval,
    joined,
    points,
    rows_of,
    words_of,
)
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
from benchwright.reports.verdict import Verdict, write_verdict
from benchwright.reports.wicked.terms import TRANSFORMS

Row = Mapping[Any, Any]
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


def judge_comparison(
    comparison_scores: pd.DataFrame,
    comparison_summary: pd.DataFrame,
    comparison_written: pd.DataFrame,
    perturbation: PerturbationParams,
    perturbation_reach: PerturbationReach,
) -> Verdict:
    """Write what the main perturbation costs the models of one asking style, and the warnings.

    `comparison_summary` starts with the asking style of most models.
    """
    cost, *order = write_headline(
        comparison_scores, comparison_summary, perturbation, perturbation_reach
    )
    notes = _notes(comparison_scores, comparison_written, perturbation, perturbation_reach)
    return write_verdict(
        cost,
        kind="Perturbed benchmark",
        judgements=order,
        notes=notes,
        next_step="" if order else _NEXT,
    )


_NEXT = (
    "Ask models: run the exported tasks (`harness_perturbed`) with lm-evaluation-harness, list the "
    "logs under `responses` of the benchmark, and run `wicked` again."
)


def write_headline(
    scores: pd.DataFrame,
    summary: pd.DataFrame,
    perturbation: PerturbationParams,
    reach: PerturbationReach,
) -> list[str]:
    """Write the change of accuracy and the effect on the order of models; or why there is none."""
    if scores.empty:
        return [
            "No model answered the original items and all of their copies, so nothing is compared."
        ]
    name = main_perturbation(sorted(set(scores["perturbation"])), perturbation)
    summary = summary[summary["perturbation"] == name]
    way = str(summary["asking_style"].iloc[0])
    summary, scores = (
        table[(table["perturbation"] == name) & (table["asking_style"] == way)]
        for table in (summary, scores)
    )
    metrics = {row["metric"]: row for row in rows_of(summary)}
    if reach.share_altered:
        cost = _cost(scores, metrics["mean_delta"], perturbation, way)
    else:
        cost = (
            f"No item was altered, so the accuracy of {count(len(scores), 'model')} is unchanged."
        )
    return [cost, _order(metrics)]


def _cost(scores: pd.DataFrame, change: Row, perturbation: PerturbationParams, way: str) -> str:
    value = change["value"]
    low = change["low"]
    high = change["high"]
    what = joined([words_of(TRANSFORMS, part.transform) for part in perturbation.transforms])
    several = len(scores) != 1
    whom = count(len(scores), "model") if several else str(scores["model"].iloc[0])
    average = " on average" if several else ""
    doubt = ""
    if low is not None and high < 0:
        lost = interval(-high, -low, signed=False)
        said = f"costs {whom} {points(-value, signed=False)} points{average} {lost}"
    elif low is not None and low > 0:
        gained = interval(low, high, signed=False)
        said = f"gives {whom} {points(value, signed=False)} points more{average} {gained}"
    else:
        doubt = "" if low is None else ": no clear difference"
        shown = ", without an interval," if low is None else f" {interval(low, high)}"
        said = f"changes the accuracy of {whom} by {points(value)} points{average}{shown}"
    n = int(scores["n_items"].iloc[0])
    copies = int(scores["copies"].iloc[0])
    manner = f"; {describe_asking(way)}" if describe_asking(way) else ""
    what = what[:1].upper() + what[1:]
    return f"{what} {said} on {count(n, 'item')} ({count(copies, 'copy')}{manner}){doubt}."


def _order(metrics: Mapping[str, Row]) -> str:
    tau = metrics["kendall_tau_b"]
    again = metrics["tau_b_resampled"]
    if tau["value"] is None:
        return f"The rankings of models are not compared: {tau['reason']}."
    text = (
        f"The rankings of the {tau['n_models']:,} models on original and copies have Kendall "
        f"tau-b {_bounded(tau)}"
    )
    if again["low"] is not None:
        more = "more than" if tau["value"] < again["low"] else "no more than"
        text += (
            f"; resampling the original items gives {_bounded(again)}, so the order changes {more} "
            "with another choice of items"
        )
    return f"{text}."


def _bounded(row: Row) -> str:
    return f"{coefficient(row['value'])} {bounds(row['low'], row['high'])}".strip()


def _notes(
    scores: pd.DataFrame,
    written: pd.DataFrame,
    perturbation: PerturbationParams,
    reach: PerturbationReach,
) -> list[str]:
    """Write warnings about the results, the most serious first."""
    return [
        *_coherence(perturbation, reach.unchecked),
        *_unlisted_options(scores, perturbation),
        *_basis(scores, perturbation, reach.n_items),
        *_failures(written),
    ]


def _coherence(perturbation: PerturbationParams, unchecked: Unchecked) -> list[str]:
    if not unchecked.lost_unchecked:
        return []
    n = unchecked.lost_unchecked
    note = (
        f"{count(n, 'item')} without the gold option in at least one copy, and without a "
        "single-best-answer label. Where another option is then right, “none” wrongly counts as "
        "the answer, and part of the difference is an error of the benchmark. "
    )
    if perturbation.sba == "none":
        return [note + "`sba: none` reads no labels."]
    known = unchecked.sba + unchecked.other
    return [f"{note}Labels of this benchmark: {known:,}."]


def _unlisted_options(scores: pd.DataFrame, perturbation: PerturbationParams) -> list[str]:
    says_none = (NoneOfTheAboveParams, ReplaceChoiceParams)
    unlisted = ~scores["style"].isin(["", *LISTING_STYLES])
    n = scores.loc[unlisted, "configuration"].nunique()
    if not n or not any(isinstance(part, says_none) for part in perturbation.transforms):
        return []
    return [
        f"The prompts of {count(n, 'configuration')} (cloze) do not list the options, so “none” is "
        "scored as a text with nothing above it. Their results do not show whether a model can "
        "reject the other options; the style letters does."
    ]


def _basis(scores: pd.DataFrame, perturbation: PerturbationParams, n_items: int) -> list[str]:
    if scores.empty:
        return []
    notes = []
    n = int(scores["n_items"].min())
    if n < n_items:
        notes.append(
            f"{n:,} of {n_items:,} items are compared: those that every configuration answered "
            "in the original and in every copy."
        )
    models = scores["model"].nunique()
    if models < _FEW_MODELS:
        notes.append(
            f"Only {count(models, 'model')} answered. Averages and rankings of so few models say "
            "little about others."
        )
    main = main_perturbation(sorted(scores["perturbation"].unique()), perturbation)
    if (scores.loc[scores["perturbation"] == main, "copies"] == 1).any():
        notes.append("There is one copy, so the variation between copies is unknown.")
    return notes


def _failures(written: pd.DataFrame) -> list[str]:
    shares = written.loc[written["written"].astype(bool), ["failed_original", "failed_perturbed"]]
    worst = float(shares.to_numpy(dtype=float).max(initial=0.0))
    if not worst > _NOTABLE:
        return []
    return [
        f"No option could be extracted from up to {worst:.1%} of the written answers of a "
        "configuration. They count as wrong."
    ]
