"""The shared style of plots: readable on light and dark pages, with escaped data."""

from collections.abc import Sequence
from html import escape
from typing import Any

KEPT = "#3b82c4"
REMOVED = "#d9622b"
QUIET = "#8a8f98"
INK = "#7d828a"  # mid-grey: readable on white and on black
NARROW_NAME = 18  # characters of a name on a small screen
GRID = "rgba(128,128,128,0.22)"
SEQUENTIAL = [[0, "#f3f7fb"], [0.5, "#a3c8e6"], [1, "#1c4a75"]]


def plain(text: object) -> str:
    """Escape text for a plot: Plotly reads some HTML in labels, and data must stay text."""
    return escape(str(text), quote=False)


def short_names(names: list[str], most: int = 40) -> list[str]:
    """Return distinct names, escaped."""
    return [plain(name) for name in distinct_names(names, most)]


def distinct_names(names: Sequence[str], most: int = 40) -> list[str]:
    """Return model names without organisation where they stay distinct, clipped."""
    tails = [name.rsplit("/", 1)[-1] for name in names]
    distinct = [
        tail if tails.count(tail) == 1 else name for tail, name in zip(tails, names, strict=True)
    ]
    return [clip(name, most) for name in distinct]


def clip(text: str, most: int) -> str:
    """Shorten text to `most` characters in its middle, because names differ at both ends."""
    if len(text) <= most:
        return text
    head = most // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


def label_above(x: float, text: str, colour: str) -> dict[str, Any]:
    """Return the name of a vertical line at `x`, just above the plot."""
    return {
        "x": x,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
        "text": text,
        "font": {"color": colour},
    }


def layout(title: str, height: int, **more: Any) -> dict[str, Any]:
    """Return the base layout; the report shows the caption of `meta` in place of the title."""
    meta = {"caption": title, **more.pop("meta", {})}
    return {
        "title": {"text": plain(title), "font": {"size": 15}, "x": 0, "xref": "container"},
        "height": height,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": INK, "size": 12, "family": "system-ui, sans-serif"},
        "margin": {"l": 8, "r": 16, "t": 48, "b": 40},
        "hoverlabel": {"font": {"family": "system-ui, sans-serif"}, "align": "left"},
        "template": "none",
        "meta": meta,
        **more,
    }


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """Return an axis with quiet lines that makes room for its own labels."""
    base = {
        "gridcolor": GRID,
        "zeroline": False,
        "automargin": True,
        "linecolor": GRID,
        "ticks": "",
    }
    return {**base, **({"title": {"text": title}} if title else {}), **more}


def empty_plot(title: str, why: str) -> Any:
    """Return a plot that says why there is nothing to draw."""
    import plotly.graph_objects as go

    hidden = {"visible": False, "range": [0, 1], "fixedrange": True}
    note = {
        "x": 0.5,
        "y": 0.5,
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        "text": plain(why),
        "font": {"size": 14},
    }
    plot = layout(title, 180, xaxis=hidden, yaxis=hidden, annotations=[note])
    return go.Figure(layout=plot)
