"""What a perturbation does to models, in sentences that can be quoted."""

import math
from typing import Any, NamedTuple

import pandas as pd

from benchwright.methods.wicked.comparison.compared_answers import main_perturbation, say_way
from benchwright.methods.wicked.comparison.metrics import Unchecked
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.wicked.wording import (
    TRANSFORMS,
    coefficient,
    coefficients,
    count,
    figure_of,
    interval,
    joined,
    points,
    words_of,
)


class Headline(NamedTuple):
    """The top of the page.

    Attributes:
        cost: what the perturbation costs, on how many items; or why nothing can be said.
        order: what it does to the order of models; "" where `cost` says why there is nothing.
        tiles: figures with names and notes.
        perturbation: the one that this is about; "" where there is none.
        asked: the way of asking that this is about.
    """

    cost: str
    order: str
    tiles: list[dict[str, str]]
    perturbation: str
    asked: str


def write_headline(
    draw_scores: pd.DataFrame,
    draw_summary: pd.DataFrame,
    perturbation: PerturbationParams,
    share_altered: float,
    unchecked: Unchecked,
    saved: int,
) -> Headline:
    """Say what the main perturbation costs the models that were asked alike.

    Args:
        draw_scores: a `DrawScores` table.
        draw_summary: a `DrawSummary` table, the way of asking of most models first.
        perturbation: the settings.
        share_altered: of the items in a draw, 0–1.
        unchecked: what is known of items with a single best answer.
        saved: prompts that did not have to be asked.
    """
    tiles = [
        _tile("Items altered", _percent(share_altered), "of a draw, on average over draws"),
        _tile(
            "Lost their right option, unchecked",
            f"{unchecked.lost_unchecked:,}",
            f"items of {unchecked.lost:,} that lost it in some draw; "
            f"{unchecked.lost_by_draw:,.1f} in a draw",
        ),
    ]
    if saved:
        tiles.append(_tile("Prompts asked once", f"{saved:,}", "the same text as another one"))
    name = main_perturbation(sorted(set(draw_scores["perturbation"])), perturbation)
    if not name:
        why = "No model answered the items and every one of their draws, so nothing is compared."
        return Headline(why, "", tiles, "", "")
    own = draw_summary[draw_summary["perturbation"] == name]
    way = str(own["asked"].iloc[0])
    own = own[own["asked"] == way]
    scores = draw_scores[(draw_scores["perturbation"] == name) & (draw_scores["asked"] == way)]
    if not share_altered:
        cost = f"No item was altered, so the {count(len(scores), 'model')} cannot lose anything."
    else:
        cost = _cost(scores, own, perturbation, way)
    order = _order(own)
    before, after = (figure_of(own, f"mean_accuracy{end}") for end in ("_original", ""))
    tau, between = (figure_of(own, metric) for metric in ("kendall_tau_b", "tau_b_between_draws"))
    pairs, turned, sure = (
        figure_of(own, metric) for metric in ("pairs", "reversed_pairs", "significant_reversals")
    )
    tiles = [
        _tile(
            "Mean accuracy",
            f"{points(_value(before), signed=False)} → {points(_value(after), signed=False)}",
            "percent, as they were → draws",
        ),
        _tile(
            "Kendall tau-b",
            coefficient(_value(tau)),
            str(tau["reason"]) if math.isnan(_value(tau)) else _bounds(tau, "over items"),
        ),
        _tile(
            "Draws among themselves",
            coefficient(_value(between)),
            str(between["reason"])
            if math.isnan(_value(between))
            else "mean tau-b of two draws: how much of the order is the draw's own noise",
        ),
        _tile(
            "Pairs that change places",
            "—" if math.isnan(_value(turned)) else f"{_value(turned):,.0f}",
            str(turned["reason"]) or f"of {_value(pairs):,.0f}; {_value(sure):,.0f} beyond doubt",
        ),
        *tiles,
    ]
    return Headline(cost, order, tiles, name, way)


def _cost(
    scores: pd.DataFrame, own: pd.DataFrame, perturbation: PerturbationParams, way: str
) -> str:
    change = figure_of(own, "mean_delta")
    value, low, high = (float(change[name]) for name in ("value", "low", "high"))
    what = joined([words_of(TRANSFORMS, part.transform) for part in perturbation.transforms])
    several = len(scores) != 1
    whom = count(len(scores), "model") if several else str(scores["model"].iloc[0])
    bounds = f" {interval(-high, -low, signed=False)}" if interval(low, high) else ""
    average = " on average" if several else ""
    doubt = ""
    if not math.isnan(low) and high < 0:
        said = f"costs {whom} {points(-value, signed=False)} points{average}{bounds}"
    elif not math.isnan(low) and low > 0:
        given = interval(low, high, signed=False)
        said = f"gives {whom} {points(value, signed=False)} points more{average} {given}"
    else:
        shown = f" {interval(low, high)}" if interval(low, high) else ", without an interval,"
        said = f"changes the accuracy of {whom} by {points(value)} points{average}{shown}"
        doubt = "" if math.isnan(low) else ": no clear difference"
    n, draws = int(scores["n_items"].iloc[0]), int(scores["draws"].iloc[0])
    manner = f"; {say_way(way)}" if say_way(way) else ""
    return f"{_capital(what)} {said} on {count(n, 'item')} ({count(draws, 'draw')}{manner}){doubt}."


def _order(own: pd.DataFrame) -> str:
    tau, again = (figure_of(own, metric) for metric in ("kendall_tau_b", "tau_b_resampled"))
    if math.isnan(_value(tau)):
        return f"The order of models is not compared: {tau['reason']}."
    bounds = coefficients(float(tau["low"]), float(tau["high"]))
    figure = f"{coefficient(_value(tau))} {bounds}".strip()
    n = int(own["n_models"].iloc[0])
    turned, sure = (
        int(_value(figure_of(own, metric)))
        for metric in ("reversed_pairs", "significant_reversals")
    )
    pairs = int(_value(figure_of(own, "pairs")))
    said = f"The order of the {n:,} models before and after has Kendall tau-b {figure}"
    low, high = float(again["low"]), float(again["high"])
    if not math.isnan(low):
        noise = (
            f"resampling the unaltered items alone gives {coefficient(_value(again))} "
            f"{coefficients(low, high)}"
        )
        moved = "moves by more than" if _value(tau) < low else "moves no more than"
        said += f"; {noise}, so it {moved} the choice of items moves it"
    beyond = "none" if not sure else f"{sure:,}"
    turns = "changes places" if turned == 1 else "change places"
    return f"{said}. {turned:,} of {count(pairs, 'pair')} {turns}, {beyond} beyond doubt (Holm)."


def _value(figure: dict[str, Any]) -> float:
    return float(figure["value"])


def _bounds(figure: dict[str, Any], what: str) -> str:
    bounds = coefficients(float(figure["low"]), float(figure["high"]))
    return f"{bounds}, 95% {what}" if bounds else str(figure["reason"])


def _tile(name: str, value: str, note: str) -> dict[str, str]:
    return {"name": name, "value": value, "note": note}


def _percent(share: float) -> str:
    return "—" if math.isnan(share) else f"{share:.1%}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
