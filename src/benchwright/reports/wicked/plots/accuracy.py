"""Accuracy of models on perturbed copies (WiCkeD, Table 1) and by transform (MMLU-CF)."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.methods.wicked.comparison import compared_responses
from benchwright.params.evaluation import EvaluationParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page import plot_style as style
from benchwright.reports.page import plots

NO_RESPONSES = "No model answered both the original items and their copies."
_MOST = 12  # more lines are hard to distinguish
_DASHES = ("solid", "dot", "dash", "dashdot")


class Shown(NamedTuple):
    """The rows of `ComparisonScores` in a plot."""

    scores: pd.DataFrame  # of one asking style, best original accuracy first
    names: list[str]  # of the models, for labels, escaped
    short: list[str]  # the same for small screens
    note: str  # addition to the caption: asking style, number of models shown


def choose_models(
    comparison_scores: pd.DataFrame, perturbation: PerturbationParams, most: int
) -> Shown:
    """Return models of one asking style on the main perturbation, at most `most`."""
    name = compared_responses.main_perturbation(
        sorted(set(comparison_scores["perturbation"])), perturbation
    )
    scores = comparison_scores[comparison_scores["perturbation"] == name]
    asking_style = next(iter(compared_responses.asking_styles(scores["configuration"].tolist())))
    scores = scores[(scores["asking_style"] == asking_style) & scores["rank_original"].notna()]
    scores = scores.sort_values(["accuracy_original", "configuration"], ascending=[False, True])
    note = compared_responses.describe_asking(asking_style)
    if len(scores) > most:
        note = f"{note}; " if note else ""
        note += f"{most} of {len(scores):,} models, evenly along the ranking"
        scores = scores.iloc[np.linspace(0, len(scores) - 1, most).round().astype(int)]
    labels = [
        str(name)
        for name in scores["configuration" if asking_style == compared_responses.MIXED else "model"]
    ]
    note = f" ({note})" if note else ""
    names, short = style.short_names(labels), style.short_names(labels, style.NARROW_NAME)
    return Shown(scores.reset_index(drop=True), names, short, note)


def two_panels(
    shown: Shown,
    title: str,
    traces: list[dict[str, Any]],
    axes: tuple[dict[str, Any], dict[str, Any]],
    *,
    below: tuple[int, int],
    narrow: tuple[dict[str, Any], dict[str, Any]] = ({}, {}),
    legend: dict[str, Any] | None = None,
    **more: Any,
) -> Any:
    """Return two panels with a row per model, side by side, or stacked on a small screen.

    `axes` are the horizontal axes of the left and the right panel. `below` is the number of pixels
    under the panels, and the additional number where they are stacked. `narrow` has further
    changes of axes and traces for a small screen, `more` other settings of the layout.
    """
    (left, right), (room, more_room), (of_axes, of_traces) = axes, below, narrow
    height = max(30 * len(shown.scores), 60)
    stacked = 2 * height + 66
    down: dict[str, Any] = {"names": shown.names, "fixedrange": True}
    changes = {
        "layout.height": stacked + 8 + room + more_room,
        "layout.margin.b": room + more_room,
        **plots.one_above_the_other(height, height, 66),
        "layout.yaxis2.showticklabels": True,
        "layout.yaxis.ticktext": shown.short,
        "layout.yaxis2.ticktext": shown.short,
        **of_axes,
        "layout.legend.y": -60 / stacked,
        **of_traces,
    }
    return plots.plot(
        title + shown.note,
        height + 8 + room,
        traces,
        xaxis=style.axis(**left, anchor="y"),
        yaxis=plots.rows_down(**down, anchor="x"),
        xaxis2=style.axis(**right, anchor="y2"),
        yaxis2=plots.rows_down(**down, anchor="x2", showticklabels=False),
        legend=plots.legend_below(60, height, **(legend or {})),
        meta={"narrow": changes},
        **more,
    )


def plot_deltas(
    comparison_scores: pd.DataFrame, perturbation: PerturbationParams, evaluation: EvaluationParams
) -> Any:
    """Plot accuracy on original and copies, and the difference with its interval over items."""
    title = "Accuracy on the original and on the copies, and the difference"
    if comparison_scores.empty:
        return style.empty_plot(title, NO_RESPONSES)
    shown = choose_models(comparison_scores, perturbation, evaluation.rank_chart_models)
    accuracy = {"title": "accuracy", "domain": [0, 0.56], "tickformat": ".0%", "nticks": 6}
    difference = {"title": "difference, points", "domain": [0.64, 1], "rangemode": "tozero"}
    fewer = {"layout.xaxis.nticks": 4, "layout.xaxis2.nticks": 4}
    return two_panels(
        shown,
        title,
        [*_accuracies(shown), _differences(shown)],
        (accuracy, {**difference, "nticks": 6, "zeroline": True, "zerolinecolor": style.QUIET}),
        below=(108, 44),
        narrow=(fewer, {"data.2.name": "copies, mean ± sd"}),
        margin=plots.margin(108),
        hovermode="closest",
    )


def _accuracies(shown: Shown) -> list[dict[str, Any]]:
    table = shown.scores
    sd = [
        [name, "unknown" if pd.isna(deviation) else f"{deviation:.1%}"]
        for name, deviation in zip(shown.names, table["accuracy_sd"], strict=True)
    ]
    hollow = {"color": style.KEPT, "size": 9, "symbol": "circle-open", "line": {"width": 2}}
    rows = list(range(len(table)))
    return [
        {
            **plots.spans(table["accuracy_original"], table["accuracy_mean"]),
            "mode": "lines",
            "line": {"color": style.QUIET, "width": 1.5},
            "hoverinfo": "skip",
            "showlegend": False,
        },
        plots.points(
            table["accuracy_original"].tolist(),
            rows,
            "%{customdata}<br>original: %{x:.1%}",
            name="original",
            marker=hollow,
            customdata=shown.names,
        ),
        plots.points(
            table["accuracy_mean"].tolist(),
            rows,
            "%{customdata[0]}<br>copies: %{x:.1%}, sd %{customdata[1]}",
            name="copies, mean ± standard deviation over copies",
            marker={"color": style.REMOVED, "size": 9},
            error_x=plots.deviations(table["accuracy_sd"], style.REMOVED),
            customdata=sd,
        ),
    ]


def _differences(shown: Shown) -> dict[str, Any]:
    changes = 100 * shown.scores[["delta", "delta_low", "delta_high"]]
    delta, low, high = (changes[name] for name in changes)
    interval = [
        [name, "no interval" if pd.isna(start) else f"[{start:+.1f}, {end:+.1f}]"]
        for name, start, end in zip(shown.names, low, high, strict=True)
    ]
    return plots.points(
        delta.tolist(),
        list(range(len(changes))),
        "%{customdata[0]}<br>%{x:+.1f} points %{customdata[1]}",
        xaxis="x2",
        yaxis="y2",
        name="difference, 95% over items",
        marker={"color": style.REMOVED, "size": 8, "symbol": "diamond"},
        error_x=plots.whiskers(delta, low, high, style.REMOVED),
        customdata=interval,
    )


def plot_rule_ablation(rule_ablation: pd.DataFrame) -> Any:
    """Plot accuracy with no transform, the first, the first two, and so on.

    Source: MMLU-CF, Table 2 and Figure 7.
    """
    title = "Accuracy with one more transform at each step, mean ± standard deviation over copies"
    if rule_ablation.empty:
        return style.empty_plot(
            title, "Not measured: this needs cumulative: true and two or more transforms."
        )
    table = rule_ablation.sort_values(["configuration", "step"])
    start = table[table["step"] == 0].sort_values(["accuracy", "configuration"], ascending=False)
    if len(start) > _MOST:
        title += f"; the best {_MOST} of {len(start):,} configurations"
    steps = table[["step", "rule"]].drop_duplicates().sort_values("step")
    labels = [_step(int(step), str(rule)) for step, rule in steps.itertuples(index=False)]
    colours = {
        model: plots.PALETTE[i % len(plots.PALETTE)]
        for i, model in enumerate(start["model"].unique())
    }
    styles = sorted(set(zip(start["style"], start["shots"], strict=True)))
    dashes = {each: _DASHES[i % len(_DASHES)] for i, each in enumerate(styles)}
    lines, narrow = [], {}
    for place, first in enumerate(start.head(_MOST).itertuples()):
        rows = table[table["configuration"] == first.configuration]
        colour = colours[first.model]
        name, short = (
            style.plain(style.clip(str(first.configuration), most))
            for most in (48, 2 * style.NARROW_NAME)
        )
        lines.append(
            plots.points(
                rows["step"].tolist(),
                rows["accuracy"].tolist(),
                f"{name}<br>%{{y:.1%}}",
                mode="lines+markers",
                name=name,
                line={"width": 2, "color": colour, "dash": dashes[first.style, first.shots]},
                marker={"size": 8},
                error_y=plots.deviations(rows["accuracy_sd"], colour),
            )
        )
        narrow[f"data.{place}.name"] = short
    below = 76 + 22 * len(lines)
    return plots.plot(
        title,
        320 + below,
        lines,
        xaxis=style.axis(
            tickvals=list(range(len(labels))),
            ticktext=labels,
            range=[-0.3, len(labels) - 0.7],
            tickangle=0,
            showgrid=False,
        ),
        yaxis=style.axis("accuracy", tickformat=".0%"),
        legend=plots.legend_below(70, 312, orientation="v"),
        margin=plots.margin(below),
        hovermode="closest",
        meta={"narrow": narrow},
    )


def _step(step: int, rule: str) -> str:
    words = style.plain(rule.replace("_", " "))
    return "original" if not step else "+ " + words.replace(" ", "<br>")
