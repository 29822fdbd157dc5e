"""Plots of distances between items and of their threshold (SMART, Figure 3, A.1 and A.5)."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.reports.page import plot_style as style
from benchwright.reports.page import plots

BRANCHES = {
    "first_peak": "the first peak of the density",
    "halved": "the only peak of the density, halved",
    "fixed": "set in the parameters",
}
"""Descriptions of how the threshold was chosen."""

_OFF = "The rule for similar items was off or could not run."


def plot_distance_distribution(
    distance_density: pd.DataFrame, similarity_threshold: dict[str, Any]
) -> Any:
    """Draw the density of distances to the nearest neighbours, its peaks and the threshold."""
    threshold = similarity_threshold.get("threshold")
    if distance_density.empty or threshold is None or pd.isna(threshold):
        return style.empty_plot("Distances between neighbouring items", _OFF)
    branch = BRANCHES.get(str(similarity_threshold.get("branch")), "")
    k = similarity_threshold.get("k")
    title = f"Cosine distances of each item to its {k} nearest: δ = {threshold:.3f}, {branch}"
    x, y = distance_density["x"], distance_density["y"]
    peaks = distance_density[distance_density["peak"]]
    left = distance_density[x <= similarity_threshold["limit"]]
    traces = [
        {
            "type": "scatter",
            "x": left["x"].tolist(),
            "y": left["y"].tolist(),
            "fill": "tozeroy",
            "mode": "none",
            "fillcolor": "rgba(217,98,43,0.25)",
            "name": "similar",
            "hoverinfo": "skip",
        },
        plots.points(
            x.tolist(),
            y.tolist(),
            "distance %{x:.3f}",
            name="density",
            mode="lines",
            line={"color": style.KEPT, "width": 2},
        ),
        plots.points(
            peaks["x"].tolist(),
            peaks["y"].tolist(),
            "peak at %{x:.3f}",
            name="peaks",
            marker={"size": 9, "color": style.KEPT, "symbol": "triangle-down"},
        ),
    ]
    line = {"color": style.REMOVED, "dash": "dot", "width": 2}
    return plots.plot(
        title,
        380,
        traces,
        xaxis=style.axis("cosine distance", rangemode="tozero"),
        yaxis=style.axis("density", range=[0, 1.12 * float(y.max())], showticklabels=False),
        legend={"orientation": "h", "y": -0.22, "x": 0},
        shapes=[{**plots.vertical_line(float(threshold), (0, 1), line), "yref": "paper"}],
        annotations=[style.label_above(float(threshold), f"δ = {threshold:.3f}", style.REMOVED)],
        meta={"top": 26},
    )


def plot_threshold_sensitivity(
    threshold_sensitivity: pd.DataFrame, similarity_threshold: dict[str, Any]
) -> Any:
    """Draw the number of items within the threshold by bandwidth of the density."""
    table = threshold_sensitivity
    if table.empty:
        return style.empty_plot("Items within the threshold, by bandwidth", _OFF)
    used = similarity_threshold.get("bandwidth")
    title = "Items within the threshold, by bandwidth of the density"
    chosen = [bandwidth == used for bandwidth in table["bandwidth"]]
    within = table["items_within"]
    trace = {
        "type": "bar",
        "x": [f"{bandwidth:g}" for bandwidth in table["bandwidth"]],
        "y": within.tolist(),
        "marker": {
            "color": [style.REMOVED if used else style.QUIET for used in chosen],
            "line": {"width": 0},
        },
        "text": [_bar_note(row) for row in table.to_dict("records")],
        **plots.NOTES_BESIDE,
        "constraintext": "none",
        "textangle": 0,
        "hovertemplate": "bandwidth %{x}: %{y:,} items<extra></extra>",
    }
    return plots.plot(
        title + (f" (used: {used:g})" if any(chosen) else ""),
        320,
        [trace],
        meta={"narrow": {"data.0.text": [f"{n:,}" for n in within]}},
        bargap=0.35,
        xaxis=style.axis("bandwidth, in standard deviations", type="category", showgrid=False),
        yaxis=style.axis("items", tickformat=",d", range=[0, 1.25 * max(within.max(), 1)]),
    )


def _bar_note(row: dict[Any, Any]) -> str:
    how = {"halved": "halved", "first_peak": f"{row['peaks']} peaks", "fixed": "fixed"}
    return f"{row['items_within']:,}<br>{how.get(row['branch'], '')}"


_MARGINS = 48 + 96  # pixels above and below the plots: title; axis, legend


def plot_neighbour_convergence(
    neighbour_convergence: pd.DataFrame, density_by_k: pd.DataFrame
) -> Any:
    """Draw the density of distances for several numbers of neighbours, and δ against them."""
    title = "Threshold δ by number of nearest neighbours k"
    table = neighbour_convergence.dropna(subset=["threshold"])
    if table.empty:
        return style.empty_plot(
            title, "The rule for similar items was off, or no density had a peak."
        )
    rows = table.to_dict("records")
    first, last = rows[0], rows[-1]
    if len(rows) > 1:
        title += (
            f": {first['threshold']:.3f} at k = {first['k']}, "
            f"{last['threshold']:.3f} at k = {last['k']}"
        )
    if {row["branch"] for row in rows} == {"halved", "first_peak"}:
        title += " (squares: a single peak, halved)"
    traces = [
        *_curves(density_by_k),
        _thresholds_on_curves(rows, density_by_k),
        plots.points(
            [row["k"] for row in rows],
            [row["threshold"] for row in rows],
            "k = %{x}: δ = %{y:.3f}, %{customdata[0]}<br>%{customdata[1]} items closer",
            xaxis="x2",
            yaxis="y2",
            mode="lines+markers",
            line={"color": style.REMOVED, "width": 1.5, "dash": "dot"},
            marker=_marker(rows),
            showlegend=False,
            customdata=[[_branch(row), f"{row['items_within']:,}"] for row in rows],
        ),
    ]
    counts = [row["k"] for row in rows]
    height = 260
    return plots.plot(
        title,
        height + _MARGINS,
        traces,
        xaxis=style.axis("cosine distance", domain=[0, 0.58], anchor="y", rangemode="tozero"),
        yaxis=style.axis("density", anchor="x", showticklabels=False, rangemode="tozero"),
        xaxis2=style.axis(
            "k",
            domain=[0.68, 1],
            anchor="y2",
            type="log",
            tickvals=counts,
            ticktext=[str(k) for k in counts],
            tickangle=0,
            range=[np.log10(counts[0] * 0.8), np.log10(counts[-1] * 1.25)],
            showgrid=False,
        ),
        yaxis2=style.axis("δ", anchor="x2", rangemode="tozero"),
        legend=plots.legend_below(50, height),
        margin=plots.margin(96, top=48),
        hovermode="closest",
        meta={"narrow": _stacked(height)},
    )


def _curves(density_by_k: pd.DataFrame) -> list[Any]:
    """Return one curve for each k, the more neighbours the stronger its blue."""
    counts = max(density_by_k["k"].nunique(), 1)
    return [
        plots.points(
            curve["x"].tolist(),
            curve["y"].tolist(),
            f"k = {k}<br>distance %{{x:.3f}}",
            mode="lines",
            name=f"k = {k}",
            line={"color": f"rgba(59,130,196,{0.3 + 0.7 * (number + 1) / counts:.2f})", "width": 2},
        )
        for number, (k, curve) in enumerate(density_by_k.groupby("k"))
    ]


def _thresholds_on_curves(rows: list[dict[Any, Any]], density_by_k: pd.DataFrame) -> Any:
    curve_of = dict(list(density_by_k.groupby("k")))
    shown = [row for row in rows if row["k"] in curve_of]
    heights = [
        float(np.interp(row["threshold"], curve_of[row["k"]]["x"], curve_of[row["k"]]["y"], left=0))
        for row in shown
    ]
    return plots.points(
        [row["threshold"] for row in shown],
        heights,
        "k = %{customdata[0]}: δ = %{x:.3f}, %{customdata[1]}",
        name="δ",
        marker=_marker(shown),
        customdata=[[row["k"], _branch(row)] for row in shown],
    )


def _marker(rows: list[dict[Any, Any]]) -> dict[str, Any]:
    symbols = {"halved": "square", "first_peak": "circle", "fixed": "diamond"}
    shapes = [symbols.get(row["branch"], "x") for row in rows]
    return {"size": 9, "color": style.REMOVED, "symbol": shapes}


def _branch(row: dict[Any, Any]) -> str:
    words = {"halved": "the only peak, halved", "first_peak": f"first of {row['peaks']} peaks"}
    if row["branch"] == "first_peak" and row["peaks"] == 1:
        return "the only peak"
    return words.get(row["branch"], str(row["branch"]))


def _stacked(height: int) -> dict[str, Any]:
    total = height + 70 + 200
    return {
        "layout.height": total + _MARGINS + 30,
        "layout.margin.b": 126,
        **plots.one_above_the_other(height, 200, 70),
        "layout.legend.y": -50 / total,
    }


def plot_encoder_overlap(encoder_overlap: pd.DataFrame) -> Any:
    """Draw how far pairs of encoders agree on which items are similar.

    The share of equal verdicts is shown with its value for independent encoders, and with the
    Jaccard index, which ignores items that both encoders call different.
    """
    title = "Agreement of encoders on similar items"
    if encoder_overlap.empty:
        return style.empty_plot(title, "There are fewer than two encoders to compare.")
    rows = encoder_overlap.to_dict("records")
    series: list[tuple[str, str, dict[str, Any]]] = [
        ("jaccard", "Jaccard index: both / either", {"color": style.REMOVED, "size": 11}),
        ("same_verdict", "same verdict: share of all items", {"color": style.KEPT, "size": 11}),
        (
            "expected_same",
            "same verdict if independent",
            {
                "color": style.QUIET,
                "size": 12,
                "symbol": "line-ns",
                "line": {"width": 3, "color": style.QUIET},
            },
        ),
    ]
    counts = [
        f"similar: {row['similar_a']:,} and {row['similar_b']:,} of {row['n_items']:,} items, "
        f"{row['both']:,} by both"
        for row in rows
    ]
    traces = [
        plots.points(
            [None if pd.isna(row[column]) else row[column] for row in rows],
            list(range(len(rows))),
            f"{name}: %{{x:.1%}}<br>%{{customdata}}",
            name=name,
            marker=marker,
            customdata=counts,
        )
        for column, name, marker in series
    ]
    plot_height = 46 * len(rows)
    return plots.plot(
        title,
        plot_height + _MARGINS,
        traces,
        xaxis=style.axis(range=[-0.02, 1.02], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1]),
        yaxis=plots.rows_down([_pair(row, 34) for row in rows], showgrid=True),
        legend=plots.legend_below(36, plot_height),
        margin=plots.margin(96, top=48),
        hovermode="closest",
        meta={
            "narrow": {
                "layout.yaxis.ticktext": [_pair(row, 18) for row in rows],
                "layout.xaxis.tickvals": [0, 0.5, 1],
                "layout.margin.b": 126,
                "layout.height": plot_height + _MARGINS + 30,
            }
        },
    )


def _pair(row: dict[Any, Any], most: int) -> str:
    return "<br>".join(
        style.plain(style.clip(str(row[side]), most)) for side in ("encoder_a", "encoder_b")
    )
