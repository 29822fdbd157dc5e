"""What the perturbation costs each model (WiCkeD, Table 1)."""

from typing import Any

import pandas as pd

from benchwright.params.evaluation import EvaluationParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED, axis, empty_figure, layout
from benchwright.reports.wicked.plots.shown_models import Shown, choose_models

_MARGINS = 8 + 108  # pixels above and below the plots: axis titles, legend


def draw_deltas(
    draw_scores: pd.DataFrame, perturbation: PerturbationParams, evaluation: EvaluationParams
) -> Any:
    """Draw accuracy before and on the draws, and the difference with its interval over items."""
    import plotly.graph_objects as go

    title = "Accuracy before and on the draws, and the difference"
    if draw_scores.empty:
        return empty_figure(title, "No model answered the items and their draws.")
    shown = choose_models(draw_scores, perturbation, evaluation.rank_chart_models)
    rows = len(shown.scores)
    height = max(30 * rows, 60)
    down: dict[str, Any] = {
        "tickvals": list(range(rows)),
        "range": [rows - 0.5, -0.5],
        "showgrid": False,
        "fixedrange": True,
    }
    return go.Figure(
        [*_accuracies(shown), _differences(shown)],
        layout(
            title + shown.note,
            height + _MARGINS,
            xaxis=axis("accuracy", domain=[0, 0.56], anchor="y", tickformat=".0%", nticks=6),
            yaxis=axis(anchor="x", ticktext=shown.names, **down),
            xaxis2=axis(
                "difference, points", domain=[0.64, 1], anchor="y2", rangemode="tozero", nticks=6
            )
            | {"zeroline": True, "zerolinecolor": QUIET},
            yaxis2=axis(anchor="x2", ticktext=shown.names, showticklabels=False, **down),
            legend={"orientation": "h", "y": -60 / height, "yanchor": "top", "x": 0},
            margin={"l": 8, "r": 16, "t": 8, "b": 108},
            hovermode="closest",
            meta={"narrow": _stacked(height, shown.short)},
        ),
    )


def _accuracies(shown: Shown) -> list[Any]:
    import plotly.graph_objects as go

    table = shown.scores
    places = list(range(len(table)))
    ends: list[float | None] = []
    lines: list[float | None] = []
    for place, before, after in zip(
        places, table["accuracy_original"], table["accuracy_mean"], strict=True
    ):
        ends += [before, after, None]
        lines += [place, place, None]
    sd = table["accuracy_sd"]
    return [
        go.Scatter(
            x=ends,
            y=lines,
            mode="lines",
            line={"color": QUIET, "width": 1.5},
            hoverinfo="skip",
            showlegend=False,
        ),
        go.Scatter(
            x=table["accuracy_original"].tolist(),
            y=places,
            mode="markers",
            name="as they were",
            marker={"color": KEPT, "size": 9, "symbol": "circle-open", "line": {"width": 2}},
            customdata=shown.names,
            hovertemplate="%{customdata}<br>as they were: %{x:.1%}<extra></extra>",
        ),
        go.Scatter(
            x=table["accuracy_mean"].tolist(),
            y=places,
            mode="markers",
            name="draws, mean ± standard deviation over draws",
            marker={"color": REMOVED, "size": 9},
            error_x={
                "type": "data",
                "array": sd.fillna(0).tolist(),
                "color": REMOVED,
                "thickness": 1.5,
                "width": 4,
            },
            customdata=[
                [name, "unknown" if pd.isna(one) else f"{one:.1%}"]
                for name, one in zip(shown.names, sd, strict=True)
            ],
            hovertemplate="%{customdata[0]}<br>draws: %{x:.1%}, sd %{customdata[1]}<extra></extra>",
        ),
    ]


def _differences(shown: Shown) -> Any:
    import plotly.graph_objects as go

    points = 100 * shown.scores[["delta", "delta_low", "delta_high"]]
    delta = points["delta"]
    return go.Scatter(
        x=delta.tolist(),
        y=list(range(len(points))),
        xaxis="x2",
        yaxis="y2",
        mode="markers",
        name="difference, 95% over items",
        marker={"color": REMOVED, "size": 8, "symbol": "diamond"},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (points["delta_high"] - delta).fillna(0).tolist(),
            "arrayminus": (delta - points["delta_low"]).fillna(0).tolist(),
            "color": REMOVED,
            "thickness": 1.5,
            "width": 4,
        },
        customdata=[
            [name, "no interval" if pd.isna(low) else f"[{low:+.1f}, {high:+.1f}]"]
            for name, low, high in zip(
                shown.names, points["delta_low"], points["delta_high"], strict=True
            )
        ],
        hovertemplate="%{customdata[0]}<br>%{x:+.1f} points %{customdata[1]}<extra></extra>",
    )


def _stacked(height: int, names: list[str]) -> dict[str, Any]:
    """The changes that put one plot above the other where they have no room side by side."""
    between = 66
    total = 2 * height + between
    return {
        "layout.height": total + _MARGINS + 44,
        "layout.margin.b": 152,
        "layout.xaxis.domain": [0, 1],
        "layout.yaxis.domain": [1 - height / total, 1],
        "layout.xaxis2.domain": [0, 1],
        "layout.yaxis2.domain": [0, height / total],
        "layout.yaxis2.showticklabels": True,
        "layout.yaxis.ticktext": names,
        "layout.yaxis2.ticktext": names,
        "layout.xaxis.nticks": 4,
        "layout.xaxis2.nticks": 4,
        "layout.legend.y": -60 / total,
        "data.2.name": "draws, mean ± sd",
    }
