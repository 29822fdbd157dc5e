"""What each size gives: standard error, detectable difference, rank agreement."""

from typing import Any

import pandas as pd

from benchwright.methods.dele.planning import Plan, Wanted
from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED, axis, layout

_TITLES = {
    "standard_error_benchmark": "Standard error of a score, for the score on all these items",
    "standard_error_ability": "Standard error of a score, for all items of this kind",
    "detectable_difference": "Smallest difference of two models that is found",
    "tau_b": "Kendall's tau-b with the order on all items",
    "spearman": "Spearman's correlation with the order on all items",
}
_COLOURS = {"random": KEPT, "stratified": REMOVED}
_DASHES = {"worst model": "dot", "95% of pairs": "dot", "low": "dot", "high": "dot"}


def draw_plan(plan: Plan, wanted: Wanted) -> dict[str, Any]:
    """A figure for each thing that the plan's curve has; wanted values are lines across."""
    lines = {
        "standard_error_benchmark": wanted.standard_errors,
        "standard_error_ability": wanted.standard_errors,
        "detectable_difference": wanted.differences,
        "tau_b": wanted.tau_b,
        "spearman": wanted.spearman,
    }
    return {
        name: _draw(title, plan.curve[plan.curve["figure"] == name], lines[name])
        for name, title in _TITLES.items()
        if (plan.curve["figure"] == name).any() and lines[name]
    }


def _draw(title: str, rows: pd.DataFrame, wanted: tuple[float, ...]) -> Any:
    import plotly.graph_objects as go

    traces = []
    for (sampler, whose), own in rows.groupby(["sampler", "whose"], sort=False):
        line = own.sort_values("items")
        traces.append(
            go.Scatter(
                x=line["items"].tolist(),
                y=line["value"].tolist(),
                name=f"{whose}, {sampler}",
                mode="lines",
                line={"color": _COLOURS[str(sampler)], "dash": _DASHES.get(str(whose), "solid")},
                hovertemplate="%{x} items: %{y:.4f}",
            )
        )
    shapes = [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": value,
            "y1": value,
            "line": {"color": QUIET, "dash": "dash", "width": 1},
        }
        for value in wanted
    ]
    return go.Figure(
        traces,
        layout(
            title,
            360,
            xaxis=axis("items", type="log"),
            yaxis=axis(rangemode="tozero" if "error" in title or "diff" in title else "normal"),
            shapes=shapes,
            legend={"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0},
            margin={"l": 8, "r": 16, "t": 8, "b": 96},
            hovermode="x unified",
            showlegend=True,
        ),
    )
