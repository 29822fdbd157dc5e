"""Changes of answers by kind of model (WiCkeD, Figure 3), and detection of removed gold options."""

from typing import Any

import pandas as pd

from benchwright.params.evaluation import EvaluationParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page import plot_style as style
from benchwright.reports.page import plots
from benchwright.reports.wicked.plots.accuracy import NO_RESPONSES, Shown, choose_models, two_panels

_PARTS = (
    ("stayed_right", "stayed right", style.KEPT),
    ("became_right", "became right", "#9cc5e8"),
    ("became_wrong", "became wrong", style.REMOVED),
    ("stayed_wrong", "stayed wrong", "#a4a8af"),
)
_PANELS = (("kept", "gold option kept", ""), ("removed", "gold option removed", "2"))
_NAMED = 16  # with more models the legend is unreadable
_SYMBOLS = ("circle", "diamond", "square", "triangle-up", "x")


def plot_transitions(
    comparison_transitions: pd.DataFrame,
    comparison_scores: pd.DataFrame,
    perturbation: PerturbationParams,
    evaluation: EvaluationParams,
) -> Any:
    """Plot shares of altered items by change of the answer, for gold kept and removed.

    If there are instruct and base models, they form two groups, each after its mean.
    """
    title = "Answers to altered items, original and copies"
    if comparison_scores.empty:
        return style.empty_plot(title, NO_RESPONSES)
    shown = choose_models(comparison_scores, perturbation, evaluation.rank_chart_models)
    rows = comparison_transitions[
        comparison_transitions["perturbation"] == shown.scores["perturbation"].iloc[0]
    ].set_index(["gold", "configuration"])
    if not rows["n"].sum():
        return style.empty_plot(title, "No item was altered.")
    configurations = shown.scores["configuration"].tolist()
    kinds = rows.loc["kept"].loc[configurations, "kind"].tolist()
    groups = _group_by_kind(kinds)
    names, short = (_row_names(each, kinds, groups) for each in (shown.names, shown.short))
    models = shown.scores.iloc[[group[0] for group in groups]]
    shown = shown._replace(scores=models, names=names, short=short)
    shares = {"range": [0, 1], "tickformat": ".0%", "tickvals": [0, 0.5, 1], "tickangle": 0}
    left, right = (
        {"title": f"{words} (n = {int(rows.loc[gold, 'n'].max()):,})", "domain": domain, **shares}
        for (gold, words, _), domain in zip(_PANELS, ([0, 0.465], [0.535, 1]), strict=True)
    )
    traces = [
        plots.bars(
            [
                float(rows.loc[gold].loc[[configurations[row] for row in group], column].mean())
                for group in groups
            ],
            colour,
            f"%{{customdata}}<br>{label}: %{{x:.1%}} ({words})",
            xaxis=f"x{suffix}",
            yaxis=f"y{suffix}",
            name=label,
            legendgroup=label,
            showlegend=gold == "kept",
            customdata=shown.names,
        )
        for gold, words, suffix in _PANELS
        for column, label, colour in _PARTS
    ]
    return two_panels(
        shown,
        title,
        traces,
        (left, right),
        below=(104, 20),
        legend={"traceorder": "normal"},
        barmode="stack",
        bargap=0.35,
        margin=plots.margin(104, right=20),
    )


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


def _row_names(names: list[str], kinds: list[str], groups: list[list[int]]) -> list[str]:
    """Return the name of each bar; single models have their kind if there are both."""
    several = {"instruct", "base"} <= set(kinds)
    return [
        f"<b>{kinds[group[0]]}, mean of {len(group)}</b>"
        if len(group) > 1
        else names[group[0]] + (f" ({kinds[group[0]]})" if several and kinds[group[0]] else "")
        for group in groups
    ]


def plot_none_rates(
    comparison_none_rates: pd.DataFrame,
    comparison_scores: pd.DataFrame,
    perturbation: PerturbationParams,
    evaluation: EvaluationParams,
) -> Any:
    """Plot detections ("none" where it is right) against false alarms (where it is wrong)."""
    title = "Choice of “none”: where it is right against where it is wrong"
    if comparison_scores.empty:
        return style.empty_plot(title, NO_RESPONSES)
    shown = choose_models(comparison_scores, perturbation, evaluation.rank_chart_models)
    name = shown.scores["perturbation"].iloc[0]
    rows = comparison_none_rates[comparison_none_rates["perturbation"] == name]
    if rows.empty or not rows["n"].all():
        return style.empty_plot(title, "No answered item got a none-of-the-above option.")
    rates = rows.set_index(["configuration", "gold"])
    named = len(shown.scores) <= _NAMED
    line = {
        "x": [0, 1],
        "y": [0, 1],
        "mode": "lines",
        "name": "equal rates",
        "line": {"color": style.QUIET, "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
    }
    models = [_point(rates, shown, place, named=named) for place in range(len(shown.scores))]
    below = 60 + 22 * ((len(models) if named else 0) + 1)
    square = {"range": [-0.03, 1.03], "tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1]}
    hint = "" if named else "; hover for names, or see the table"
    narrow = {
        "layout.xaxis.title.text": "false alarm",
        "layout.yaxis.title.text": "detection",
        **{f"data.{place + 1}.name": short for place, short in enumerate(shown.short)},
    }
    return plots.plot(
        f"{title}; 95% intervals{shown.note}{hint}",
        380 + below,
        [line, *models],
        xaxis=style.axis("“none” where the gold option is kept (false alarm)", **square),
        yaxis=style.axis("“none” where it is removed (detection)", **square),
        legend=plots.legend_below(60, 372, orientation="v"),
        margin=plots.margin(below),
        hovermode="closest",
        meta={"narrow": narrow},
    )


def _point(rates: pd.DataFrame, shown: Shown, place: int, *, named: bool) -> dict[str, Any]:
    configuration = shown.scores["configuration"].iloc[place]
    alarm, detection = (rates.loc[(configuration, gold)] for gold in ("kept", "removed"))
    colour = plots.PALETTE[place % len(plots.PALETTE)] if named else style.QUIET
    symbol = _SYMBOLS[place // len(plots.PALETTE) % len(_SYMBOLS)] if named else "circle"
    return plots.points(
        [float(alarm["share"])],
        [float(detection["share"])],
        f"{shown.names[place]}<br>gold option removed: {_describe(detection)}"
        f"<br>gold option kept: {_describe(alarm)}",
        name=shown.names[place],
        showlegend=named,
        marker={
            "color": colour,
            "size": 10,
            "symbol": symbol,
            "line": {"color": style.GRID, "width": 1},
        },
        error_x=_error(alarm, colour),
        error_y=_error(detection, colour),
    )


def _error(row: pd.Series, colour: str) -> dict[str, Any]:
    share, low, high = (float(row[name]) for name in ("share", "low", "high"))
    reach = {"array": [high - share], "arrayminus": [share - low]}
    return {
        "type": "data",
        "symmetric": False,
        **reach,
        "color": colour,
        "thickness": 1,
        "width": 0,
    }


def _describe(row: pd.Series) -> str:
    share = f"{row['share']:.1%} [{row['low']:.1%}, {row['high']:.1%}]"
    return style.plain(f"{share} of {int(row['n']):,}")
