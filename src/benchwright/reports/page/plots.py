"""Plots and the parts that they share, as dictionaries that Plotly reads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED, axis, layout

PALETTE = ("#3b82c4", "#d9622b", "#3f9b6c", "#a66bbe", "#b08a1e", "#cc5a86", "#4aa3a8", "#8a8f98")
"""Of models side by side: readable on white and on black."""

NOTES_BESIDE: Mapping[str, Any] = {"textposition": "outside", "cliponaxis": False}
"""Of bars whose `text` stands at their ends."""


UNSEEN_ON_THE_RIGHT: Mapping[str, Any] = {
    "type": "scatter",
    "mode": "markers",
    "x": [1],
    "y": [0],
    "yaxis": "y2",
    "marker": {"opacity": 0},
    "showlegend": False,
    "hoverinfo": "skip",
}
"""A trace for a second y axis, which exists only when a trace uses it."""


def plot(title: str, height: int, traces: Iterable[dict[str, Any]], **more: Any) -> Any:
    """Return a plot in the base layout; `more` is of the layout."""
    import plotly.graph_objects as go

    return go.Figure(list(traces), layout(title, height, **more))


def rows_down(names: Sequence[str], **more: Any) -> dict[str, Any]:
    """Return a vertical axis of named rows from the top.

    Rows are numbers from 0, so that two names that look alike stay two rows.
    """
    n = len(names)
    base = {"tickvals": list(range(n)), "range": [n - 0.5, -0.5], "showgrid": False}
    return axis(**{**base, "ticktext": names, **more})


def bars(
    lengths: Sequence[float], colour: str | Sequence[str], hover: str, **more: Any
) -> dict[str, Any]:
    """Return horizontal bars from the top; `more` is of the trace."""
    return {
        "type": "bar",
        "orientation": "h",
        "x": lengths,
        "y": list(range(len(lengths))),
        "marker": {"color": colour, "line": {"width": 0}},
        "hovertemplate": f"{hover}<extra></extra>",
        **more,
    }


def points(x: Sequence[Any], y: Sequence[Any], hover: str, **more: Any) -> dict[str, Any]:
    """Return points, or lines by another `mode`; `more` is of the trace."""
    base = {"type": "scatter", "mode": "markers", "x": x, "y": y}
    return {**base, "hovertemplate": f"{hover}<extra></extra>"} | more


def whiskers(
    value: "pd.Series[float]", low: "pd.Series[float]", high: "pd.Series[float]", colour: str
) -> dict[str, Any]:
    """Return intervals around values, as an error of Plotly; none where a bound is missing."""
    reach = {
        "array": (high - value).fillna(0).tolist(),
        "arrayminus": (value - low).fillna(0).tolist(),
    }
    return {"type": "data", "symmetric": False, **reach, **_whisker(colour)}


def deviations(sd: "pd.Series[float]", colour: str) -> dict[str, Any]:
    """Return standard deviations around values, as an error of Plotly; none where missing."""
    return {"type": "data", "array": sd.fillna(0).tolist(), **_whisker(colour)}


def _whisker(colour: str) -> dict[str, Any]:
    return {"color": colour, "thickness": 1.5, "width": 4}


def spans(low: Iterable[float], high: Iterable[float]) -> dict[str, list[float | None]]:
    """Return the coordinates of one line per row from `low` to `high`."""
    coordinates: dict[str, list[float | None]] = {"x": [], "y": []}
    for row, (start, end) in enumerate(zip(low, high, strict=True)):
        coordinates["x"] += [start, end, None]
        coordinates["y"] += [row, row, None]
    return coordinates


def vertical_line(x: float, y: tuple[float, float], line: dict[str, Any]) -> dict[str, Any]:
    """Return a line at `x` as a shape of the layout."""
    return {"type": "line", "x0": x, "x1": x, "y0": y[0], "y1": y[1], "line": line}


def places_by_rank(ranks: Iterable[float]) -> list[int]:
    """Return the place of each rank, from 0; ties keep their order, so that lines do not cross."""
    order = np.argsort(np.asarray(list(ranks)), kind="stable")
    return [int(place) for place in np.argsort(order)]


def rank_colour(before: float, after: float) -> str:
    """Return grey for an unchanged rank, blue for a better one, orange for a worse one."""
    if before == after:
        return QUIET
    return KEPT if after < before else REMOVED


def one_above_the_other(upper: float, lower: float, between: float) -> dict[str, list[float]]:
    """Return the changes that stack two plots, given in pixels, on a narrow page."""
    total = upper + between + lower
    return {
        "layout.xaxis.domain": [0, 1],
        "layout.yaxis.domain": [1 - upper / total, 1],
        "layout.xaxis2.domain": [0, 1],
        "layout.yaxis2.domain": [0, lower / total],
    }


def legend_below(pixels: float, height: float, **more: Any) -> dict[str, Any]:
    """Return a legend `pixels` below plots that are `height` pixels high."""
    return {"orientation": "h", "x": 0, "y": -pixels / height, "yanchor": "top", **more}


def margin(bottom: int, *, top: int = 8, right: int = 16) -> dict[str, int]:
    """Return the margins of a plot, whose axes make room for their labels."""
    return {"l": 8, "r": right, "t": top, "b": bottom}


def funnel(
    title: str,
    height: int,
    left_and_taken: Sequence[dict[str, Any]],
    reach: tuple[float, float],
    **across: Any,
) -> Any:
    """Return a funnel: a bar per step with the number left, and the number removed with a note.

    `left_and_taken` are two traces of `bars`, the second one with `text`; `reach` is the end of the
    horizontal axis on wide and narrow pages, `across` further settings of that axis.
    """
    left, taken = left_and_taken
    wide, narrow = reach
    return plot(
        title,
        height,
        [left, {**taken, **NOTES_BESIDE, "constraintext": "none"}],
        barmode="stack",
        bargap=0.35,
        showlegend=False,
        margin=margin(30, top=48, right=8),
        xaxis=axis(range=[0, wide], tickformat=",d", nticks=6, **across),
        yaxis=axis(autorange="reversed", showgrid=False),
        meta={"narrow": {"layout.xaxis.range": [0, narrow], "layout.xaxis.nticks": 4}},
    )
