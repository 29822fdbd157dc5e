"""How close items are to each other, and where the line was drawn (SMART, Figure 3)."""

from typing import Any

import pandas as pd

from benchwright.reports.page.plot_style import (
    KEPT,
    QUIET,
    REMOVED,
    axis,
    empty_figure,
    label_above,
)
from benchwright.reports.page.plots import NOTES_BESIDE, plot, points, vertical_line

BRANCHES = {
    "first_peak": "the first peak of the density",
    "halved": "the only peak of the density, halved",
    "fixed": "fixed by the settings",
}
"""How the threshold came about, in words."""

_OFF = "The rule for similar items was off or could not run."


def draw_distance_distribution(
    distance_density: pd.DataFrame, similarity_threshold: dict[str, Any]
) -> Any:
    """Draw the density of distances to the nearest neighbours, its peaks and the threshold."""
    threshold = similarity_threshold.get("threshold")
    if distance_density.empty or threshold is None or pd.isna(threshold):
        return empty_figure("Distances between neighbouring items", _OFF)
    branch = BRANCHES.get(str(similarity_threshold.get("branch")), "")
    k = similarity_threshold.get("k")
    title = f"Cosine distances of each item to its {k} nearest: δ = {threshold:.3f}, {branch}"
    x, y = distance_density["x"], distance_density["y"]
    peaks = distance_density[distance_density["peak"]]
    left = distance_density[x <= threshold]
    traces = [
        {
            "type": "scatter",
            "x": left["x"].tolist(),
            "y": left["y"].tolist(),
            "fill": "tozeroy",
            "mode": "none",
            "fillcolor": "rgba(217,98,43,0.25)",
            "name": "closer than δ",
            "hoverinfo": "skip",
        },
        points(
            x.tolist(),
            y.tolist(),
            "distance %{x:.3f}",
            name="density",
            mode="lines",
            line={"color": KEPT, "width": 2},
        ),
        points(
            peaks["x"].tolist(),
            peaks["y"].tolist(),
            "peak at %{x:.3f}",
            name="peaks",
            marker={"size": 9, "color": KEPT, "symbol": "triangle-down"},
        ),
    ]
    line = {"color": REMOVED, "dash": "dot", "width": 2}
    return plot(
        title,
        380,
        traces,
        xaxis=axis("cosine distance", rangemode="tozero"),
        yaxis=axis("density", range=[0, 1.12 * float(y.max())], showticklabels=False),
        legend={"orientation": "h", "y": -0.22, "x": 0},
        shapes=[{**vertical_line(float(threshold), (0, 1), line), "yref": "paper"}],
        annotations=[label_above(float(threshold), f"δ = {threshold:.3f}", REMOVED)],
        meta={"top": 26},
    )


def draw_threshold_sensitivity(
    threshold_sensitivity: pd.DataFrame, similarity_threshold: dict[str, Any]
) -> Any:
    """Draw how many items lie within the threshold for other bandwidths of the density."""
    table = threshold_sensitivity
    if table.empty:
        return empty_figure("Items within the threshold, by bandwidth", _OFF)
    used = similarity_threshold.get("bandwidth")
    title = "Items within the threshold, by bandwidth of the density"
    chosen = [bandwidth == used for bandwidth in table["bandwidth"]]
    within = table["items_within"]
    trace = {
        "type": "bar",
        "x": [f"{bandwidth:g}" for bandwidth in table["bandwidth"]],
        "y": within.tolist(),
        "marker": {"color": [REMOVED if used else QUIET for used in chosen], "line": {"width": 0}},
        "text": [_bar_note(row) for row in table.to_dict("records")],
        **NOTES_BESIDE,
        "constraintext": "none",
        "textangle": 0,
        "hovertemplate": "bandwidth %{x}: %{y:,} items<extra></extra>",
    }
    return plot(
        title + (f" (used: {used:g})" if any(chosen) else ""),
        320,
        [trace],
        meta={"narrow": {"data.0.text": [f"{n:,}" for n in within]}},
        bargap=0.35,
        xaxis=axis("bandwidth, in standard deviations", type="category", showgrid=False),
        yaxis=axis("items", tickformat=",d", range=[0, 1.25 * max(within.max(), 1)]),
    )


def _bar_note(row: dict[Any, Any]) -> str:
    how = {"halved": "halved", "first_peak": f"{row['peaks']} peaks", "fixed": "fixed"}
    return f"{row['items_within']:,}<br>{how.get(row['branch'], '')}"
