"""How the threshold of similar items depends on neighbours and encoders (SMART, A.1 and A.5)."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.reports.page.plot_style import (
    KEPT,
    QUIET,
    REMOVED,
    axis,
    clip,
    empty_figure,
    plain,
)
from benchwright.reports.page.plots import legend_below, margin, plot, points, rows_down

_MARGINS = 48 + 96  # pixels above and below the plots: title; axis, legend
_SYMBOLS = {"halved": "square", "first_peak": "circle", "fixed": "diamond"}
_BLUE = "59,130,196"  # KEPT in parts


def draw_neighbour_convergence(
    neighbour_convergence: pd.DataFrame, density_by_k: pd.DataFrame
) -> Any:
    """Draw the density of distances for several numbers of neighbours, and δ against them."""
    title = "Threshold δ by number of nearest neighbours k"
    table = neighbour_convergence.dropna(subset=["threshold"])
    if table.empty:
        why = "The rule for similar items was off, or no density had a peak."
        return empty_figure(title, why)
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
        *_curves(density_by_k, density_by_k["k"].nunique()),
        _thresholds_on_curves(rows, density_by_k),
        points(
            [row["k"] for row in rows],
            [row["threshold"] for row in rows],
            "k = %{x}: δ = %{y:.3f}, %{customdata[0]}<br>%{customdata[1]} items closer",
            xaxis="x2",
            yaxis="y2",
            mode="lines+markers",
            line={"color": REMOVED, "width": 1.5, "dash": "dot"},
            marker=_marker(rows),
            showlegend=False,
            customdata=[[_branch(row), f"{row['items_within']:,}"] for row in rows],
        ),
    ]
    counts = [row["k"] for row in rows]
    height = 260
    return plot(
        title,
        height + _MARGINS,
        traces,
        xaxis=axis("cosine distance", domain=[0, 0.58], anchor="y", rangemode="tozero"),
        yaxis=axis("density", anchor="x", showticklabels=False, rangemode="tozero"),
        xaxis2=axis(
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
        yaxis2=axis("δ", anchor="x2", rangemode="tozero"),
        legend=legend_below(50, height),
        margin=margin(96, top=48),
        hovermode="closest",
        meta={"narrow": _stacked(height)},
    )


def _curves(density_by_k: pd.DataFrame, counts: int) -> list[Any]:
    """One curve for each k, the more neighbours the stronger."""
    return [
        points(
            curve["x"].tolist(),
            curve["y"].tolist(),
            f"k = {k}<br>distance %{{x:.3f}}",
            mode="lines",
            name=f"k = {k}",
            line={"color": _blue(number, counts), "width": 2},
        )
        for number, (k, curve) in enumerate(density_by_k.groupby("k"))
    ]


def _blue(number: int, counts: int) -> str:
    """The colour of the curves, from faint to full."""
    return f"rgba({_BLUE},{0.3 + 0.7 * (number + 1) / max(counts, 1):.2f})"


def _thresholds_on_curves(rows: list[dict[Any, Any]], density_by_k: pd.DataFrame) -> Any:
    """δ of each k, as a point on its curve."""
    curve_of = dict(list(density_by_k.groupby("k")))
    shown = [row for row in rows if row["k"] in curve_of]
    heights = [
        float(np.interp(row["threshold"], curve_of[row["k"]]["x"], curve_of[row["k"]]["y"], left=0))
        for row in shown
    ]
    return points(
        [row["threshold"] for row in shown],
        heights,
        "k = %{customdata[0]}: δ = %{x:.3f}, %{customdata[1]}",
        name="δ",
        marker=_marker(shown),
        customdata=[[row["k"], _branch(row)] for row in shown],
    )


def _marker(rows: list[dict[Any, Any]]) -> dict[str, Any]:
    """Orange points whose shape tells how δ came about."""
    symbols = [_SYMBOLS.get(row["branch"], "x") for row in rows]
    return {"size": 9, "color": REMOVED, "symbol": symbols}


def _branch(row: dict[Any, Any]) -> str:
    words = {"halved": "the only peak, halved", "first_peak": f"first of {row['peaks']} peaks"}
    if row["branch"] == "first_peak" and row["peaks"] == 1:
        return "the only peak"
    return words.get(row["branch"], str(row["branch"]))


def _stacked(height: int) -> dict[str, Any]:
    """The changes that put one plot above the other where they have no room side by side."""
    between, below = 70, 200
    total = height + between + below
    return {
        "layout.height": total + _MARGINS + 30,
        "layout.margin.b": 126,
        "layout.xaxis.domain": [0, 1],
        "layout.yaxis.domain": [1 - height / total, 1],
        "layout.xaxis2.domain": [0, 1],
        "layout.yaxis2.domain": [0, below / total],
        "layout.legend.y": -50 / total,
    }


def draw_encoder_overlap(encoder_overlap: pd.DataFrame) -> Any:
    """Draw for each pair of encoders how far they agree on which items are similar.

    The share of equal verdicts stands beside what two independent encoders would reach, and beside
    the Jaccard index, which items that both call different do not raise.
    """
    title = "Do two encoders call the same items similar?"
    table = encoder_overlap
    if table.empty:
        return empty_figure(title, "There are fewer than two encoders to compare.")
    rows = table.to_dict("records")
    places = list(range(len(rows)))
    names = [_pair(row, 34) for row in rows]
    series: list[tuple[str, str, dict[str, Any]]] = [
        ("jaccard", "Jaccard index: both / either", {"color": REMOVED, "size": 11}),
        ("same_verdict", "same verdict: share of all items", {"color": KEPT, "size": 11}),
        (
            "expected_same",
            "same verdict if independent",
            {"color": QUIET, "size": 12, "symbol": "line-ns", "line": {"width": 3, "color": QUIET}},
        ),
    ]
    traces = [
        points(
            [None if pd.isna(row[column]) else row[column] for row in rows],
            places,
            f"{name}: %{{x:.1%}}<br>%{{customdata}}",
            name=name,
            marker=marker,
            customdata=[_counts(row) for row in rows],
        )
        for column, name, marker in series
    ]
    plots = 46 * len(rows)
    return plot(
        title,
        plots + _MARGINS,
        traces,
        xaxis=axis(range=[-0.02, 1.02], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1]),
        yaxis=rows_down(names, showgrid=True),
        legend=legend_below(36, plots),
        margin=margin(96, top=48),
        hovermode="closest",
        meta={
            "narrow": {
                "layout.yaxis.ticktext": [_pair(row, 18) for row in rows],
                "layout.xaxis.tickvals": [0, 0.5, 1],
                "layout.margin.b": 126,
                "layout.height": plots + _MARGINS + 30,
            }
        },
    )


def _pair(row: dict[Any, Any], most: int) -> str:
    return "<br>".join(plain(clip(str(row[side]), most)) for side in ("encoder_a", "encoder_b"))


def _counts(row: dict[Any, Any]) -> str:
    return (
        f"similar: {row['similar_a']:,} and {row['similar_b']:,} of {row['n_items']:,} items, "
        f"{row['both']:,} by both"
    )
