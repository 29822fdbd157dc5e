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
from benchwright.reports.page.plots import (
    legend_below,
    margin,
    one_above_the_other,
    plot,
    points,
    rows_down,
)

_MARGINS = 48 + 96  # pixels above and below the plots: title; axis, legend


def draw_neighbour_convergence(
    neighbour_convergence: pd.DataFrame, density_by_k: pd.DataFrame
) -> Any:
    """Draw the density of distances for several numbers of neighbours, and δ against them."""
    title = "Threshold δ by number of nearest neighbours k"
    table = neighbour_convergence.dropna(subset=["threshold"])
    if table.empty:
        return empty_figure(title, "The rule for similar items was off, or no density had a peak.")
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


def _curves(density_by_k: pd.DataFrame) -> list[Any]:
    """Return one curve for each k, the more neighbours the stronger its blue."""
    counts = max(density_by_k["k"].nunique(), 1)
    return [
        points(
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
    return points(
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
    return {"size": 9, "color": REMOVED, "symbol": shapes}


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
        **one_above_the_other(height, 200, 70),
        "layout.legend.y": -50 / total,
    }


def draw_encoder_overlap(encoder_overlap: pd.DataFrame) -> Any:
    """Draw for each pair of encoders how far they agree on which items are similar.

    The share of equal verdicts is shown with what two independent encoders would reach, and with
    the Jaccard index, which does not count items that both call different.
    """
    title = "Do two encoders call the same items similar?"
    if encoder_overlap.empty:
        return empty_figure(title, "There are fewer than two encoders to compare.")
    rows = encoder_overlap.to_dict("records")
    series: list[tuple[str, str, dict[str, Any]]] = [
        ("jaccard", "Jaccard index: both / either", {"color": REMOVED, "size": 11}),
        ("same_verdict", "same verdict: share of all items", {"color": KEPT, "size": 11}),
        (
            "expected_same",
            "same verdict if independent",
            {"color": QUIET, "size": 12, "symbol": "line-ns", "line": {"width": 3, "color": QUIET}},
        ),
    ]
    counts = [
        f"similar: {row['similar_a']:,} and {row['similar_b']:,} of {row['n_items']:,} items, "
        f"{row['both']:,} by both"
        for row in rows
    ]
    traces = [
        points(
            [None if pd.isna(row[column]) else row[column] for row in rows],
            list(range(len(rows))),
            f"{name}: %{{x:.1%}}<br>%{{customdata}}",
            name=name,
            marker=marker,
            customdata=counts,
        )
        for column, name, marker in series
    ]
    plots = 46 * len(rows)
    return plot(
        title,
        plots + _MARGINS,
        traces,
        xaxis=axis(range=[-0.02, 1.02], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1]),
        yaxis=rows_down([_pair(row, 34) for row in rows], showgrid=True),
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
