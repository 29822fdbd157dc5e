"""What became of the answers to altered items (WiCkeD, Figure 3)."""

from typing import Any

import pandas as pd

from benchwright.params.evaluation import EvaluationParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page.plot_style import KEPT, REMOVED, axis, empty_figure, layout
from benchwright.reports.wicked.plots.shown_models import choose_models

_PARTS = (
    ("stayed_right", "stayed right", KEPT),
    ("became_right", "became right", "#9cc5e8"),
    ("became_wrong", "became wrong", REMOVED),
    ("stayed_wrong", "stayed wrong", "#a4a8af"),
)
_PANELS = (("kept", "right option still there", ""), ("removed", "right option gone", "2"))
_MARGINS = 8 + 104


def draw_transitions(
    draw_transitions: pd.DataFrame,
    draw_scores: pd.DataFrame,
    perturbation: PerturbationParams,
    evaluation: EvaluationParams,
) -> Any:
    """Draw the shares of altered items by what became of the answer, for gold kept and removed."""
    import plotly.graph_objects as go

    title = "Answers to altered items, before and after"
    if draw_scores.empty:
        return empty_figure(title, "No model answered the items and their draws.")
    shown = choose_models(draw_scores, perturbation, evaluation.rank_chart_models)
    own = draw_transitions[
        draw_transitions["perturbation"] == shown.scores["perturbation"].iloc[0]
    ].set_index(["gold", "configuration"])
    if not own["n"].sum():
        return empty_figure(title, "No item was altered.")
    rows = len(shown.scores)
    height = max(30 * rows, 60)
    down: dict[str, Any] = {
        "tickvals": list(range(rows)),
        "range": [rows - 0.5, -0.5],
        "showgrid": False,
        "fixedrange": True,
    }
    across: dict[str, Any] = {
        "range": [0, 1],
        "tickformat": ".0%",
        "tickvals": [0, 0.5, 1],
        "tickangle": 0,
    }
    traces = [
        go.Bar(
            x=[
                float(own.loc[(gold, configuration), column])
                for configuration in shown.scores["configuration"]
            ],
            y=list(range(rows)),
            xaxis=f"x{suffix}",
            yaxis=f"y{suffix}",
            orientation="h",
            name=label,
            legendgroup=label,
            showlegend=gold == "kept",
            marker={"color": colour, "line": {"width": 0}},
            customdata=shown.names,
            hovertemplate=f"%{{customdata}}<br>{label}: %{{x:.1%}} ({words})<extra></extra>",
        )
        for gold, words, suffix in _PANELS
        for column, label, colour in _PARTS
    ]
    counts = {gold: int(own.loc[gold, "n"].max()) for gold, *_ in _PANELS}
    titles = {gold: f"{words} (n = {counts[gold]:,})" for gold, words, _ in _PANELS}
    return go.Figure(
        traces,
        layout(
            f"{title}{shown.note}",
            height + _MARGINS,
            barmode="stack",
            bargap=0.35,
            xaxis=axis(titles["kept"], domain=[0, 0.465], anchor="y", **across),
            yaxis=axis(anchor="x", ticktext=shown.names, **down),
            xaxis2=axis(titles["removed"], domain=[0.535, 1], anchor="y2", **across),
            yaxis2=axis(anchor="x2", ticktext=shown.names, showticklabels=False, **down),
            legend={
                "orientation": "h",
                "y": -60 / height,
                "yanchor": "top",
                "x": 0,
                "traceorder": "normal",
            },
            margin={"l": 8, "r": 20, "t": 8, "b": 104},
            meta={"narrow": _stacked(height, shown.short)},
        ),
    )


def _stacked(height: int, names: list[str]) -> dict[str, Any]:
    """The changes that put one plot above the other where they have no room side by side."""
    between = 66
    total = 2 * height + between
    return {
        "layout.height": total + _MARGINS + 20,
        "layout.margin.b": 124,
        "layout.xaxis.domain": [0, 1],
        "layout.yaxis.domain": [1 - height / total, 1],
        "layout.xaxis2.domain": [0, 1],
        "layout.yaxis2.domain": [0, height / total],
        "layout.yaxis2.showticklabels": True,
        "layout.yaxis.ticktext": names,
        "layout.yaxis2.ticktext": names,
        "layout.legend.y": -60 / total,
    }
