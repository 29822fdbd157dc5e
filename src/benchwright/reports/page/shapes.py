"""The plots of every page, in one style: rows, curves, funnels, slopes and histograms.

A shape is made of traces in panels and returns a figure as Plotly's JSON, which Kedro-Viz shows; a
page draws the same figure (`draw.py`). Texts are data and are escaped here.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.reports.page.plot_style import (
    GRID,
    INK,
    KEPT,
    MOST_RANKED,
    QUIET,
    REMOVED,
    distinct_names,
    plain,
)

Trace = dict[str, Any]
Bounds = tuple[Iterable[float], Iterable[float]]
"""Lower and upper ends of intervals."""

PALETTE = (
    *("#3b82c4", "#d9622b", "#2f9e77", "#b0568f", "#c29a1f", "#6f6bd1"),
    *("#4fa9b8", "#a3684a", "#7ba13a", "#d17ba3", "#6b7d8f", "#8f5bb3"),
)
"""Colours of things side by side, readable on white and on black."""
_ROW, _CURVE, _PANEL = 26, 300, 170  # pixels of a row, of a panel of curves, and of others
_BETWEEN, _AXIS, _LEGEND = 64, 48, 22  # below a panel, below the last, and a row of the legend
_LINE_OF_LEGEND = 110  # characters


class Scale(NamedTuple):
    """An axis; its ends are those of the data where `reach` has none."""

    title: str = ""
    form: str = ""  # a format of numbers, such as .0%
    reach: tuple[float, float] | None = None
    ticks: Mapping[Any, str] | None = None
    zero: bool = False  # whether 0 belongs to the axis


class Line(NamedTuple):
    """A line across a panel: upright at x, or level at y; a label stands above an upright one."""

    at: float
    label: str = ""
    colour: str = QUIET
    dash: str = "dot"
    level: bool = False


class Panel(NamedTuple):
    """Traces on two axes, with a name above them."""

    traces: Sequence[Trace]
    x: Scale = Scale()
    y: Scale = Scale()
    name: str = ""
    lines: Sequence[Line] = ()


def bars(
    lengths: Iterable[float],
    colour: str,
    name: str = "",
    *,
    hover: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Trace:
    """Return a horizontal bar per row from the top; notes stand at the ends of bars."""
    known = _known(lengths)
    beside = {
        "text": [plain(note) for note in notes],
        "textposition": "outside",
        "cliponaxis": False,
    }
    return {
        "type": "bar",
        "orientation": "h",
        "x": known,
        "y": list(range(len(known))),
        "marker": {"color": colour, "line": {"width": 0}},
        **_named(name, hover),
        **(beside if notes else {}),
    }


def dots(
    x: Iterable[float],
    y: Iterable[float],
    colour: str,
    name: str = "",
    *,
    hover: Sequence[str] = (),
    across: Bounds | None = None,
) -> Trace:
    """Return points, with intervals `across` the horizontal axis."""
    marker = {"color": colour, "size": 9}
    trace = {"type": "scatter", "mode": "markers", "x": _known(x), "y": _known(y), "marker": marker}
    return trace | _named(name, hover) | (_intervals(trace, colour, across) if across else {})


def line(
    x: Iterable[float],
    y: Iterable[float],
    colour: str,
    name: str = "",
    *,
    hover: Sequence[str] = (),
    dash: str = "solid",
    markers: bool = False,
) -> Trace:
    """Return a line through points."""
    trace = {
        "type": "scatter",
        "mode": "lines+markers" if markers else "lines",
        "x": _known(x),
        "y": _known(y),
        "line": {"color": colour, "width": 2, "dash": dash},
        "marker": {"color": colour, "size": 7},
    }
    return trace | _named(name, hover)


def band(
    x: Iterable[float], low: Iterable[float], high: Iterable[float], name: str, colour: str = QUIET
) -> Trace:
    """Return the area between two curves."""
    across, ends = _known(x), [*_known(low), *reversed(_known(high))]
    area = {"fill": "toself", "fillcolor": _faint(colour), "mode": "none"}
    return {"type": "scatter", "x": [*across, *reversed(across)], "y": ends, **area, **_named(name)}


def rows(title: str, names: Sequence[str], panel: Panel) -> Any:
    """Return a panel with a row per name, from the top; bars of a row are stacked."""
    n = len(names)
    ticks = {place: plain(name) or "(none)" for place, name in enumerate(names)}
    shown = _with_room(panel)._replace(y=Scale(reach=(n - 0.5, -0.5), ticks=ticks))
    return _figure(title, [shown], max(_ROW * n, 60), barmode="stack", bargap=0.35)


def _with_room(panel: Panel) -> Panel:
    """Return the panel with an axis that holds its bars from 0, and their notes."""
    drawn = [trace for trace in panel.traces if trace["type"] == "bar"]
    if not drawn or panel.x.reach:
        return panel
    most = max(*np.sum([trace["x"] for trace in drawn], axis=0), 1e-9)
    noted = any("text" in trace for trace in drawn)
    return panel._replace(x=panel.x._replace(reach=(0, most * (1.3 if noted else 1.02))))


def curves(
    title: str,
    traces: Sequence[Trace],
    x: Scale,
    y: Scale,
    lines: Sequence[Line] = (),
) -> Any:
    """Return one panel of curves or points."""
    return _figure(title, [Panel(traces, x, y, "", lines)], _CURVE)


def stacked(title: str, panels: Sequence[Panel]) -> Any:
    """Return panels one above another, each with its name."""
    return _figure(title, panels, _PANEL)


def funnel(title: str, steps: Sequence[tuple[str, int, int, str]]) -> Any:
    """Return what is left after each step and what it removed: (name, left, removed, note)."""
    names, left, removed, notes = map(list, zip(*steps, strict=True))
    parts = [
        bars(numbers, colour, hover=[f"{name}: {n:,} {what}" for name, n in pairs], notes=text)
        for numbers, colour, what, text in (
            (left, KEPT, "left", ()),
            (removed, REMOVED, "removed", notes),
        )
        for pairs in [list(zip(names, numbers, strict=True))]
    ]
    return rows(title, names, Panel(parts, Scale(form=",d")))


def slopes(title: str, table: pd.DataFrame, ends: tuple[str, str]) -> Any:
    """Return a line per model from its rank on the left to its rank on the right.

    `table` has, in order of the ranks on the left, `model`, and `rank_…` and `accuracy_…` of both
    ends; 60 of more models are shown, evenly along the ranking. Grey lines keep their rank, blue
    ones rise, orange ones fall. Ties keep their order, so that their lines do not cross.
    """
    if len(table) > MOST_RANKED:
        title += f"; {MOST_RANKED} of {len(table):,} models, evenly along the ranking"
        table = table.iloc[np.linspace(0, len(table) - 1, MOST_RANKED).round().astype(int)]
    names = distinct_names([str(model) for model in table["model"]])
    before, after = (table[f"rank_{end}"].tolist() for end in ends)
    scores = [[f"{score:.1%}" for score in table[f"accuracy_{end}"]] for end in ends]
    order = np.argsort(after, kind="stable").tolist()
    traces: list[Trace] = []
    for left, (name, old, new) in enumerate(zip(names, before, after, strict=True)):
        colour = QUIET if new == old else KEPT if new < old else REMOVED
        said = f"{name}: rank {old:g}, {scores[0][left]} → rank {new:g}, {scores[1][left]}"
        ranks = [left, order.index(left)]
        traces.append(line([0, 1], ranks, colour, hover=[said] * 2, markers=True))
    ticks = [
        {i: plain(f"{names[i]}  {scores[0][i]}  {before[i]:g}") for i in range(len(names))},
        {i: plain(f"{after[at]:g}  {scores[1][at]}  {names[at]}") for i, at in enumerate(order)},
    ]
    down, right = (Scale(reach=(len(names) - 0.5, -0.5), ticks=texts) for texts in ticks)
    panel = Panel(traces, Scale(reach=(-0.05, 1.05), ticks={}), down)
    figure = _figure(title, [panel], 24 * len(names) + 10)
    unseen = {"type": "scatter", "x": [1], "y": [0], "yaxis": "y2", "opacity": 0}
    figure["data"].append(unseen | {"hoverinfo": "skip"})
    beside = _axis(right, []) | {"overlaying": "y", "side": "right"}
    figure["layout"] |= {"yaxis2": beside, "showlegend": False}
    return figure


def intervals(
    title: str,
    names: Sequence[str],
    values: pd.DataFrame,
    colours: Sequence[str],
    x: Scale,
    words: Mapping[str, str] = MappingProxyType({}),
    lines: Sequence[Line] = (),
) -> Any:
    """Return a row per name with a difference in points and its interval.

    `values` has the columns difference, low and high, and `words` the meanings of the colours.
    """
    traces = []
    for colour in dict.fromkeys((KEPT, REMOVED, QUIET)):
        own = values[np.asarray(colours) == colour]
        known = own[own["difference"].notna()]
        hover = [
            f"{names[at]}: {value:+.2f} [{low:+.2f}, {high:+.2f}]"
            for at, value, low, high in known.itertuples()
        ]
        ends = (known["low"], known["high"])
        word = words.get(colour, "")
        traces.append(
            dots(known["difference"], known.index, colour, word, hover=hover, across=ends)
        )
    return rows(title, names, Panel(traces, x, lines=lines))


def histogram(values: Iterable[float], edges: Sequence[float], name: str) -> Trace:
    """Return the numbers of values between edges as an area of steps."""
    counts = np.repeat(np.histogram(list(values), edges)[0], 2)
    return band(np.repeat(edges, 2)[1:-1], np.zeros(len(counts)), counts, name, KEPT)


def nothing(title: str, why: str) -> Any:
    """Return a plot that says why there is nothing to draw."""
    figure = _figure(title, [Panel([], Scale(ticks={}), Scale(ticks={}))], 60)
    middle = {"x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper", "showarrow": False}
    figure["layout"]["annotations"] = [{**middle, "text": plain(why)}]
    return figure


def _figure(title: str, panels: Sequence[Panel], height: int, **more: Any) -> Any:
    n = len(panels)
    total = n * height + (n - 1) * _BETWEEN
    traces, layout = [], dict(more)
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    named: set[str] = set()
    for i, panel in enumerate(panels):
        suffix = str(i + 1) if i else ""
        x, y = f"x{suffix}", f"y{suffix}"
        top = 1 - i * (height + _BETWEEN) / total
        down = [max(top - height / total, 0), top]
        for letter, scale, anchor, place in (("x", panel.x, y, [0, 1]), ("y", panel.y, x, down)):
            own = _axis(scale, _values(panel, letter))
            layout[f"{letter}axis{suffix}"] = own | {"anchor": anchor, "domain": place}
        for trace in panel.traces:
            name = trace.get("name", "")
            traces.append(
                {**trace, "xaxis": x, "yaxis": y, "showlegend": bool(name) and name not in named}
            )
            named |= {name} - {""}
        shapes += [_drawn(each, x, y) for each in panel.lines]
        labelled = [each for each in panel.lines if each.label]
        notes += [
            _over(x, y)
            | {"x": each.at, "xref": x, "yshift": 14 * place, "text": plain(each.label)}
            | {"font": {"color": each.colour}}
            for place, each in enumerate(labelled)
        ]
        if panel.name:
            name = {"x": 0, "xanchor": "left", "yshift": 14 * len(labelled)}
            notes.append(_over(x, y) | name | {"text": plain(panel.name)})
    entries = -(-sum(len(name) + 8 for name in named) // _LINE_OF_LEGEND)
    above = 16 + max((note.get("yshift", 0) for note in notes), default=-10) + 10
    below = _AXIS + _LEGEND * entries
    return {
        "data": traces,
        "layout": {
            "title": {"text": plain(title), "font": {"size": 15}, "x": 0, "xref": "container"},
            "height": total + above + below,
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": INK, "size": 12, "family": "system-ui, sans-serif"},
            "margin": {"l": 8, "r": 16, "t": above + 38, "b": below},
            "hovermode": "closest",
            "template": "none",
            "shapes": shapes,
            "annotations": notes,
            "legend": {"orientation": "h", "x": 0, "y": -_AXIS / total, "yanchor": "top"},
            "meta": {"caption": title, "top": above},
            **layout,
        },
    }


def _axis(scale: Scale, values: Sequence[float]) -> dict[str, Any]:
    low, high = scale.reach or _ends(values, zero=scale.zero)
    axis: dict[str, Any] = {
        "range": [low, high],
        "gridcolor": GRID,
        "zeroline": low < 0 < high and scale.ticks is None,
        "automargin": True,
        "showgrid": scale.ticks is None,
    }
    axis |= {"title": {"text": plain(scale.title)}} if scale.title else {}
    axis |= {"tickformat": scale.form} if scale.form else {}
    if scale.ticks is not None:
        axis |= {"tickvals": list(scale.ticks), "ticktext": list(scale.ticks.values())}
    return axis


def _ends(values: Sequence[float], *, zero: bool) -> tuple[float, float]:
    """Return the ends of an axis with room at both sides of the data."""
    known = [*(values or [1.0]), *[0.0] * zero]
    low, high = min(known), max(known)
    room = 0.05 * (high - low) or 0.05 * abs(high) or 0.05
    return low - room * (not zero or low < 0), high + room * (not zero or high > 0 or low == 0)


def _values(panel: Panel, letter: str) -> list[float]:
    """Return all values and lines along an axis, with the ends of intervals."""
    found = [line.at for line in panel.lines if line.level == (letter == "y")]
    for trace in panel.traces:
        middle = [value for value in trace[letter] if value is not None]
        error = trace.get(f"error_{letter}")
        found += middle
        if error:
            ends = zip(trace[letter], error["array"], error["arrayminus"], strict=True)
            found += [e for v, up, down in ends if v is not None for e in (v - down, v + up)]
    return found


def _known(values: Iterable[float]) -> list[float | None]:
    """Return plain numbers, with None for missing ones."""
    array = np.array(list(values), dtype=np.float64)
    return [None if math.isnan(value) else value for value in array.round(6).tolist()]


def _named(name: str, hover: Sequence[str] = ()) -> dict[str, Any]:
    if not len(hover):
        return {"name": plain(name), "hoverinfo": "skip"}
    said = {"hovertext": [plain(text) for text in hover], "hoverinfo": "text"}
    return {"name": plain(name), **said}


def _intervals(trace: Trace, colour: str, across: Bounds) -> dict[str, Any]:
    """Return intervals as errors of Plotly; none where a bound is missing."""
    middle = np.asarray(trace["x"], dtype=np.float64)
    low, high = (np.array(list(end), dtype=np.float64) for end in across)
    known = ~np.isnan(middle + low + high)
    error = {
        "type": "data",
        "symmetric": False,
        "array": np.where(known, high - middle, 0).round(6).tolist(),
        "arrayminus": np.where(known, middle - low, 0).round(6).tolist(),
        "color": colour,
        "thickness": 1.5,
        "width": 4,
    }
    return {"error_x": error}


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.3)"


def _drawn(each: Line, x: str, y: str) -> dict[str, Any]:
    look = {"type": "line", "line": {"color": each.colour, "width": 1.5, "dash": each.dash}}
    along, across, ref = ("x", "y", y) if each.level else ("y", "x", x)
    other = x if each.level else y
    whole = {f"{along}0": 0, f"{along}1": 1, f"{along}ref": f"{other} domain"}
    return look | whole | {f"{across}0": each.at, f"{across}1": each.at, f"{across}ref": ref}


def _over(x: str, y: str) -> dict[str, Any]:
    """Return an annotation just above a panel."""
    refs = {"xref": f"{x} domain", "yref": f"{y} domain"}
    return {**refs, "y": 1, "yanchor": "bottom", "showarrow": False}
