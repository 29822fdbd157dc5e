"""Does the result do better than random subsets of its size? The answer in sentences."""

import math
from typing import Any, Literal, NamedTuple

import pandas as pd

from benchwright.reports.smart.wording import write_interval, write_percentile, write_value

Place = Literal["below", "inside", "above", "none"]

_RANKING = {
    "below": "This ranking is kept less well than by removing items at random.",
    "inside": "That is as good as removing items at random, not better.",
    "above": "This ranking is kept better than by removing items at random.",
}

_CONCLUSIONS: dict[tuple[Place, Place], str] = {
    ("below", "above"): "Filtering buys headroom, not rank fidelity.",
    ("below", "inside"): "Filtering costs rank fidelity and buys no headroom.",
    ("below", "below"): "Filtering costs both rank fidelity and headroom.",
    ("inside", "above"): "Filtering buys headroom, at no loss of rank fidelity against chance.",
    ("inside", "inside"): "By these figures filtering cannot be told from removing at random.",
    ("inside", "below"): "Filtering costs headroom and gains no rank fidelity over chance.",
    ("above", "above"): "Filtering buys both headroom and rank fidelity.",
    ("above", "inside"): "Filtering buys rank fidelity, not headroom.",
    ("above", "below"): "Filtering buys rank fidelity at the price of headroom.",
}


class Judgement(NamedTuple):
    """The place of this run among random subsets of its size."""

    ranking: Place  # of Kendall's tau-b, against the middle 95% of the random subsets
    headroom: Place  # of the range of the best models' scores, in the same way
    sentences: tuple[str, ...]  # what to say about it, in order


def judge_against_random(
    yardstick: pd.DataFrame, group: str, top_models: int | None = None
) -> Judgement:
    """Say whether this run's items beat random subsets of the same size, for one set of models.

    A figure is below, inside or above the middle 95% of the random ones; bounds, and values that
    are written like one of them, count as inside. Plain random subsets decide; those stratified by
    subject are mentioned where they disagree. `top_models` is the number of best models whose
    range is the headroom, where it is known.
    """
    ranking = _row(yardstick, group, "kendall_tau_b")
    if ranking is None:
        return Judgement("none", "none", (_not_compared(yardstick, group),))
    if ranking["n_items"] == ranking["n_full"]:
        said = "All of these items were kept, so there is nothing to compare with random subsets."
        return Judgement("none", "none", (said,))
    place = _place(ranking)
    sentences = _ranking_sentences(ranking, place)
    stratified = _row(yardstick, group, "kendall_tau_b", "stratified")
    if stratified is not None and _place(stratified) not in ("none", place):
        sentences.append(_otherwise(stratified))
    spread = _row(yardstick, group, "spread_top")
    headroom: Place = "none"
    if spread is not None:
        headroom = _place(spread)
        sentences.append(_headroom_sentence(spread, headroom, top_models))
    conclusion = _CONCLUSIONS.get((place, headroom))
    return Judgement(place, headroom, (*sentences, *([conclusion] if conclusion else [])))


def _row(
    yardstick: pd.DataFrame, group: str, metric: str, random: str = "plain"
) -> dict[Any, Any] | None:
    """Return the kept items' row with a value and a band, or None."""
    rows = yardstick[
        (yardstick["method"] == "kept")
        & (yardstick["models"] == group)
        & (yardstick["metric"] == metric)
        & (yardstick["random"] == random)
    ].dropna(subset=["value", "random_low", "random_high"])
    return rows.to_dict("records")[0] if len(rows) else None


def _place(row: dict[Any, Any]) -> Place:
    value, low, high = (row[name] for name in ("value", "random_low", "random_high"))
    if write_value(row["metric"], value) in {write_value(row["metric"], b) for b in (low, high)}:
        return "inside"
    if value < low:
        return "below"
    return "above" if value > high else "inside"


def _not_compared(yardstick: pd.DataFrame, group: str) -> str:
    rows = yardstick[
        (yardstick["method"] == "kept")
        & (yardstick["models"] == group)
        & (yardstick["metric"] == "kendall_tau_b")
    ]
    reasons = [str(reason) for reason in rows["reason"] if reason]
    why = reasons[0] if reasons else "no subsets were drawn, or there are too few models"
    return f"Not compared with random subsets of the same size: {why}."


def _ranking_sentences(row: dict[Any, Any], place: Place) -> list[str]:
    mean = write_value("kendall_tau_b", row["random_mean"])
    band = write_interval("kendall_tau_b", row["random_low"], row["random_high"])
    percentile = row["percentile"]
    ends = {0.0: " (all of them are higher)", 100.0: " (all of them are lower)"}
    written = "" if math.isnan(percentile) else write_percentile(percentile)
    at = f"; this run is at percentile {written}{ends.get(percentile, '')}" if written else ""
    return [
        f"{row['draws']:,} random subsets of the same size reach {mean} on average, the middle 95% "
        f"of them {band}{at}.",
        _RANKING[place],
    ]


def _otherwise(row: dict[Any, Any]) -> str:
    band = write_interval("kendall_tau_b", row["random_low"], row["random_high"])
    place = _place(row)
    where = f"inside their band {band}" if place == "inside" else f"{place} their band {band}"
    return f"Beside random subsets in which each subject keeps its share it is {where}."


def _headroom_sentence(row: dict[Any, Any], place: Place, top_models: int | None) -> str:
    n = int(row["n_models"])
    best = min(n, top_models) if top_models else None
    whose = "best models" if best is None else f"top {best}" if best < n else f"{n} models"
    before, after = (write_value("spread_top", row[name]) for name in ("full", "value"))
    low, high = (write_value("spread_top", row[name]) for name in ("random_low", "random_high"))
    change = after if before == "—" else f"{before} → {after}"
    than = {"above": "wider than", "inside": "within", "below": "narrower than"}[place]
    return f"Range of the {whose}: {change} points, {than} what random subsets give ({low}–{high})."
