"""Figures and the parts that they share, as dictionaries that Plotly reads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from benchwright.reports.page.plot_style import axis, layout

PALETTE = ("#3b82c4", "#d9622b", "#3f9b6c", "#a66bbe", "#b08a1e", "#cc5a86", "#4aa3a8", "#8a8f98")
"""Of models side by side: readable on white and on black."""

NOTES_BESIDE: Mapping[str, Any] = {"textposition": "outside", "cliponaxis": False}
"""Of bars whose `text` stands at their ends."""


def plot(title: str, height: int, traces: Iterable[dict[str, Any]], **more: Any) -> Any:
    """A figure in the base layout; `more` is of the layout."""
    import plotly.graph_objects as go

    return go.Figure(list(traces), layout(title, height, **more))


def rows_down(names: Sequence[str], **more: Any) -> dict[str, Any]:
    """A vertical axis of named rows from the top.

    Rows are numbers from 0, so that two names that look alike stay two rows.
    """
    n = len(names)
    base = {"tickvals": list(range(n)), "range": [n - 0.5, -0.5], "showgrid": False}
    return axis(**{**base, "ticktext": names, **more})


def bars(
    lengths: Sequence[float], colour: str | Sequence[str], hover: str, **more: Any
) -> dict[str, Any]:
    """Horizontal bars from the top; `more` is of the trace."""
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
    """Points, or lines by another `mode`; `more` is of the trace."""
    base = {"type": "scatter", "mode": "markers", "x": x, "y": y}
    return {**base, "hovertemplate": f"{hover}<extra></extra>"} | more


def whiskers(
    value: "pd.Series[float]", low: "pd.Series[float]", high: "pd.Series[float]", colour: str
) -> dict[str, Any]:
    """Intervals around values, as an error of Plotly; none where a bound is missing."""
    reach = {
        "array": (high - value).fillna(0).tolist(),
        "arrayminus": (value - low).fillna(0).tolist(),
    }
    return {"type": "data", "symmetric": False, **reach, **_whisker(colour)}


def deviations(sd: "pd.Series[float]", colour: str) -> dict[str, Any]:
    """Standard deviations around values, as an error of Plotly; none where it is missing."""
    return {"type": "data", "array": sd.fillna(0).tolist(), **_whisker(colour)}


def _whisker(colour: str) -> dict[str, Any]:
    return {"color": colour, "thickness": 1.5, "width": 4}


def spans(low: Iterable[float], high: Iterable[float]) -> dict[str, list[float | None]]:
    """Coordinates of one line per row from `low` to `high`."""
    found: dict[str, list[float | None]] = {"x": [], "y": []}
    for row, (start, end) in enumerate(zip(low, high, strict=True)):
        found["x"] += [start, end, None]
        found["y"] += [row, row, None]
    return found


def legend_below(pixels: float, height: float, **more: Any) -> dict[str, Any]:
    """A legend so many pixels under plots that are `height` pixels high."""
    return {"orientation": "h", "x": 0, "y": -pixels / height, "yanchor": "top", **more}


def margin(bottom: int, *, top: int = 8, right: int = 16) -> dict[str, int]:
    """The margins of a figure, whose axes make room for their labels."""
    return {"l": 8, "r": right, "t": top, "b": bottom}


def funnel(
    title: str,
    height: int,
    left_and_taken: Sequence[dict[str, Any]],
    reach: tuple[float, float],
    **across: Any,
) -> Any:
    """Steps as bars that grow shorter: what each left, then what it took with a note at its end.

    Args:
        title: of the figure.
        height: in pixels.
        left_and_taken: two traces of `bars`, the second one with `text`.
        reach: where the horizontal axis ends, on a wide and on a narrow page.
        across: more of the horizontal axis.
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
