"""Plots of the comparison of perturbed copies with the original."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.methods.wicked.comparison import compared_responses
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page import shapes
from benchwright.reports.page.plot_style import (
    KEPT,
    MOST_RANKED,
    QUIET,
    REMOVED,
    distinct_names,
)
from benchwright.reports.page.shapes import PALETTE, Panel, Scale

_NO_RESPONSES = "No model answered both the original items and their copies."
_MOST = 12  # more lines are hard to distinguish
_SHARES = {share: f"{share:.0%}" for share in (0, 0.25, 0.5, 0.75, 1)}


class _Shown(NamedTuple):
    """The rows of `ComparisonScores` in a plot."""

    scores: pd.DataFrame  # of one asking style, best original accuracy first
    names: list[str]  # of the models
    note: str  # addition to the caption: asking style, number of models shown


def _choose_models(comparison_scores: pd.DataFrame, perturbation: PerturbationParams) -> _Shown:
    """Return models of one asking style on the main perturbation, at most 60."""
    name = compared_responses.main_perturbation(
        sorted(set(comparison_scores["perturbation"])), perturbation
    )
    scores = comparison_scores[comparison_scores["perturbation"] == name]
    asking_style = next(iter(compared_responses.asking_styles(scores["configuration"].tolist())))
    scores = scores[(scores["asking_style"] == asking_style) & scores["rank_original"].notna()]
    scores = scores.sort_values(["accuracy_original", "configuration"], ascending=[False, True])
    notes = [compared_responses.describe_asking(asking_style)]
    if len(scores) > MOST_RANKED:
        notes.append(f"{MOST_RANKED} of {len(scores):,} models, evenly along the ranking")
        scores = scores.iloc[np.linspace(0, len(scores) - 1, MOST_RANKED).round().astype(int)]
    note = "; ".join(filter(None, notes))
    names = distinct_names([str(name) for name in scores["model"]])
    return _Shown(scores.reset_index(drop=True), names, f" ({note})" if note else "")


def plot_deltas(comparison_scores: pd.DataFrame, perturbation: PerturbationParams) -> Any:
    """Plot accuracy on original and copies, and the difference with its interval over items.

    Source: WiCkeD, Table 1.
    """
    title = "Accuracy on the original and on the copies, and the difference"
    if comparison_scores.empty:
        return shapes.nothing(title, _NO_RESPONSES)
    shown = _choose_models(comparison_scores, perturbation)
    table, places = shown.scores, range(len(shown.scores))
    before, after, sd = (table[f"accuracy_{column}"] for column in ("original", "mean", "sd"))
    delta, low, high = (100 * table[name] for name in ("delta", "delta_low", "delta_high"))
    accuracies = [
        shapes.dots(
            before,
            places,
            KEPT,
            "original",
            hover=[f"original: {value:.1%}" for value in before],
            symbol="circle-open",
        ),
        shapes.dots(
            after,
            places,
            REMOVED,
            "copies, mean ± standard deviation over copies",
            hover=[f"copies: {value:.1%}" for value in after],
            across=(after - sd, after + sd),
        ),
    ]
    difference = shapes.dots(
        delta,
        places,
        REMOVED,
        "difference, 95% over items",
        hover=[f"{value:+.1f} points" for value in delta],
        across=(low, high),
        symbol="diamond",
    )
    return shapes.rows(
        title + shown.note,
        shown.names,
        Panel(accuracies, Scale("accuracy", ".0%")),
        Panel([difference], Scale("difference, points", zero=True)),
    )


def plot_rank_shuffle(comparison_scores: pd.DataFrame, perturbation: PerturbationParams) -> Any:
    """Plot ranks on the original (left) and on the copies (right)."""
    title = "Ranks on the original (left) and on the copies (right): blue rose, orange fell"
    if comparison_scores.empty:
        return shapes.nothing(title, _NO_RESPONSES)
    shown = _choose_models(comparison_scores, perturbation)
    if len(shown.scores) < 2:
        return shapes.nothing(title, "There is only one model to rank.")
    slopes = [
        shapes.Slope(
            name,
            row["rank_original"],
            row["rank_mean"],
            (f"{row['accuracy_original']:.1%}", f"{row['accuracy_mean']:.1%}"),
        )
        for name, row in zip(shown.names, shown.scores.to_dict("records"), strict=True)
    ]
    return shapes.slopes(title + shown.note, slopes)


_PARTS = (
    ("stayed_right", "stayed right", KEPT),
    ("became_right", "became right", "#9cc5e8"),
    ("became_wrong", "became wrong", REMOVED),
    ("stayed_wrong", "stayed wrong", "#a4a8af"),
)


def plot_transitions(
    comparison_transitions: pd.DataFrame,
    comparison_scores: pd.DataFrame,
    perturbation: PerturbationParams,
) -> Any:
    """Plot shares of altered items by change of the answer, for gold kept and removed.

    If there are instruct and base models, they form two groups, each after its mean. Source:
    WiCkeD, Figure 3.
    """
    title = "Answers to altered items, original and copies"
    if comparison_scores.empty:
        return shapes.nothing(title, _NO_RESPONSES)
    shown = _choose_models(comparison_scores, perturbation)
    rows = comparison_transitions[
        comparison_transitions["perturbation"] == shown.scores["perturbation"].iloc[0]
    ].set_index(["gold", "configuration"])
    if not rows["n"].sum():
        return shapes.nothing(title, "No item was altered.")
    configurations = shown.scores["configuration"].tolist()
    kinds = rows.loc["kept"].loc[configurations, "kind"].tolist()
    groups = _group_by_kind(kinds)
    names, headings = _name_groups(shown.names, kinds, groups)
    panels = []
    for gold in ("kept", "removed"):
        own = rows.loc[gold].loc[configurations]
        traces = []
        for column, label, colour in _PARTS:
            shares = [float(own[column].iloc[group].mean()) for group in groups]
            hover = [f"{label}: {share:.1%}" for share in shares]
            traces.append(shapes.bars(shares, colour, label, hover=hover))
        scale = Scale(f"gold option {gold} (n = {int(own['n'].max()):,})", ".0%", (0, 1))
        panels.append(Panel(traces, scale))
    return shapes.rows(title + shown.note, names, *panels, headings=headings)


def _group_by_kind(kinds: list[str]) -> list[list[int]]:
    """Return the models of each bar: one, or, before the models of a kind, all of this kind.

    Models whose kind is unknown come last. Without both kinds, the order is kept.
    """
    if not {"instruct", "base"} <= set(kinds):
        return [[row] for row in range(len(kinds))]
    groups: list[list[int]] = []
    for kind in ("instruct", "base", ""):
        members = [row for row, each in enumerate(kinds) if each == kind]
        groups += [members] * (kind != "" and len(members) > 1) + [[row] for row in members]
    return groups


def _name_groups(
    names: list[str], kinds: list[str], groups: list[list[int]]
) -> tuple[list[str], list[int]]:
    """Return the name of each bar, and which of them are means.

    Single models have their kind if there are both.
    """
    several = {"instruct", "base"} <= set(kinds)
    named, means = [], []
    for place, (first, *others) in enumerate(groups):
        if others:
            named.append(f"{kinds[first]}, mean of {1 + len(others)}")
            means.append(place)
        else:
            named.append(names[first] + (f" ({kinds[first]})" if several and kinds[first] else ""))
    return named, means


def plot_none_rates(
    comparison_none_rates: pd.DataFrame,
    comparison_scores: pd.DataFrame,
    perturbation: PerturbationParams,
) -> Any:
    """Plot detections ("none" where it is right) against false alarms (where it is wrong)."""
    title = "Choice of “none”: where it is right against where it is wrong"
    if comparison_scores.empty:
        return shapes.nothing(title, _NO_RESPONSES)
    shown = _choose_models(comparison_scores, perturbation)
    name = shown.scores["perturbation"].iloc[0]
    rows = comparison_none_rates[comparison_none_rates["perturbation"] == name]
    if rows.empty or not rows["n"].all():
        return shapes.nothing(title, "No answered item got a none-of-the-above option.")
    rates = rows.set_index(["configuration", "gold"])
    named = len(shown.scores) <= _MOST
    traces = [shapes.line([0, 1], [0, 1], QUIET, "equal rates", dash="dot")]
    for place, configuration in enumerate(shown.scores["configuration"]):
        alarm, detection = (rates.loc[(configuration, gold)] for gold in ("kept", "removed"))
        said = (
            f"{shown.names[place]}: gold option removed {_describe(detection)}; kept "
            f"{_describe(alarm)}"
        )
        traces.append(
            shapes.dots(
                [alarm["share"]],
                [detection["share"]],
                PALETTE[place] if named else QUIET,
                shown.names[place] if named else "",
                hover=[said],
                across=([alarm["low"]], [alarm["high"]]),
                up=([detection["low"]], [detection["high"]]),
            )
        )
    hint = "" if named else "; hover for names"
    return shapes.curves(
        f"{title}; 95% intervals{shown.note}{hint}",
        traces,
        Scale("“none” where the gold option is kept (false alarm)", ".0%", (-0.03, 1.03), _SHARES),
        Scale("“none” where it is removed (detection)", ".0%", (-0.03, 1.03), _SHARES),
        height=380,
    )


def _describe(row: pd.Series) -> str:
    share = f"{row['share']:.1%} [{row['low']:.1%}, {row['high']:.1%}]"
    return f"{share} of {int(row['n']):,}"
