"""The plots of every page, in one style: rows, curves, funnels, slopes, maps, and histograms.

A shape is made of traces in panels and returns a figure of Plotly, which Kedro-Viz shows; a page
draws the same figure (`draw.py`). Texts are data and are escaped here.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchwright.reports.page.plot_style import (
    GRID,
    INK,
    KEPT,
    QUIET,
    REMOVED,
    SEQUENTIAL,
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
_ROW, _CURVE = 26, 300  # pixels of a row, and of a panel of curves
_BETWEEN, _AXIS, _LEGEND = 64, 48, 22  # below a panel, below the last, and a row of the legend
_LINE_OF_LEGEND = 110  # characters


class Scale(NamedTuple):
    """An axis; its ends are those of the data where `reach` has none."""

    title: str = ""
    form: str = ""  # a format of numbers, such as .0%
    reach: tuple[float, float] | None = None
    ticks: Mapping[Any, str] | None = None
    zero: bool = False  # whether 0 belongs to the axis
    log: bool = False


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
    colour: str | Sequence[str],
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
    colour: str | Sequence[str],
    name: str = "",
    *,
    hover: Sequence[str] = (),
    across: Bounds | None = None,
    up: Bounds | None = None,
    symbol: str = "circle",
) -> Trace:
    """Return points, with intervals `across` the horizontal axis and `up` the vertical one."""
    marker = {"color": colour, "size": 9, "symbol": symbol}
    if symbol.endswith("open"):
        marker["line"] = {"width": 2}
    trace = {"type": "scatter", "mode": "markers", "x": _known(x), "y": _known(y), "marker": marker}
    return trace | _named(name, hover) | _intervals(trace, colour, across, up)


def line(
    x: Iterable[float],
    y: Iterable[float],
    colour: str,
    name: str = "",
    *,
    hover: Sequence[str] = (),
    up: Bounds | None = None,
    dash: str = "solid",
    markers: bool = False,
) -> Trace:
    """Return a line through points, with intervals `up` the vertical axis."""
    trace = {
        "type": "scatter",
        "mode": "lines+markers" if markers else "lines",
        "x": _known(x),
        "y": _known(y),
        "line": {"color": colour, "width": 2, "dash": dash},
        "marker": {"color": colour, "size": 7},
    }
    return trace | _named(name, hover) | _intervals(trace, colour, None, up)


def band(
    x: Iterable[float], low: Iterable[float], high: Iterable[float], name: str, colour: str = QUIET
) -> Trace:
    """Return the area between two curves."""
    across, ends = _known(x), [*_known(low), *reversed(_known(high))]
    area = {"fill": "toself", "fillcolor": _faint(colour), "mode": "none"}
    return {"type": "scatter", "x": [*across, *reversed(across)], "y": ends, **area, **_named(name)}


def rows(
    title: str,
    names: Sequence[str],
    *panels: Panel,
    grouped: bool = False,
    row: int = _ROW,
    headings: Sequence[int] = (),
) -> Any:
    """Return panels side by side with a row per name, from the top.

    Bars of a row are stacked, or below each other where they are `grouped`.
    """
    n = len(names)
    texts = [plain(name) or "(none)" for name in names]
    ticks = {
        place: f"<b>{text}</b>" if place in headings else text for place, text in enumerate(texts)
    }
    down = Scale(reach=(n - 0.5, -0.5), ticks=ticks)
    shown = [_with_room(panel, stacks=not grouped)._replace(y=down) for panel in panels]
    mode = "group" if grouped else "stack"
    return _figure(title, shown, max(row * n, 60), beside=True, barmode=mode, bargap=0.35)


def _with_room(panel: Panel, *, stacks: bool) -> Panel:
    """Return the panel with an axis that holds its bars from 0, and their notes."""
    drawn = [trace for trace in panel.traces if trace["type"] == "bar"]
    if not drawn or panel.x.reach:
        return panel
    lengths = np.nan_to_num(np.array([trace["x"] for trace in drawn], dtype=np.float64))
    most = max(float((lengths.sum(axis=0) if stacks else lengths).max(initial=0)), 1e-9)
    most = max(most, *(value for trace in panel.traces for value in _values([trace], "x")))
    noted = any("text" in trace for trace in drawn)
    return panel._replace(x=panel.x._replace(reach=(0, most * (1.3 if noted else 1.02))))


def curves(
    title: str,
    traces: Sequence[Trace],
    x: Scale,
    y: Scale,
    *,
    lines: Sequence[Line] = (),
    height: int = _CURVE,
) -> Any:
    """Return one panel of curves or points."""
    return _figure(title, [Panel(traces, x, y, "", lines)], height)


def stacked(title: str, panels: Sequence[Panel], height: int = 170) -> Any:
    """Return panels one above another, each with its name."""
    return _figure(title, panels, height)


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


class Slope(NamedTuple):
    """A thing with its rank and score before and after."""

    name: str
    before: float
    after: float
    scores: tuple[str, str]


def slopes(title: str, things: Sequence[Slope]) -> Any:
    """Return a line per thing, given in the order before, from its rank on the left to the right.

    Grey lines keep their rank, blue ones rise, orange ones fall. Ties keep their order, so that
    their lines do not cross.
    """
    order = np.argsort([thing.after for thing in things], kind="stable")
    places = np.argsort(order).tolist()
    traces: list[Trace] = []
    for left, thing in enumerate(things):
        same, better = thing.after == thing.before, thing.after < thing.before
        colour = QUIET if same else KEPT if better else REMOVED
        said = (
            f"rank {rank:g}, {score}" for rank, score in zip(thing[1:3], thing.scores, strict=True)
        )
        hover = f"{thing.name}: {' → '.join(said)}"
        traces.append(line([0, 1], [left, places[left]], colour, hover=[hover] * 2, markers=True))
    before = {
        place: plain(f"{thing.name}  {thing.scores[0]}  {thing.before:g}")
        for place, thing in enumerate(things)
    }
    after = {
        place: plain(f"{things[at].after:g}  {things[at].scores[1]}  {things[at].name}")
        for place, at in enumerate(order)
    }
    reach = (len(things) - 0.5, -0.5)
    figure = _figure(
        title,
        [Panel(traces, Scale(reach=(-0.05, 1.05), ticks={}), Scale(reach=reach, ticks=before))],
        24 * len(things) + 10,
    )
    right_axis = _axis(Scale(reach=reach, ticks=after), []) | {"overlaying": "y", "side": "right"}
    figure.add_trace({"x": [1], "y": [0], "yaxis": "y2", "opacity": 0, "hoverinfo": "skip"})
    return figure.update_layout(yaxis2=right_axis, showlegend=False)


def heatmap(
    title: str,
    names: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    texts: Sequence[Sequence[str]],
    *,
    ends: tuple[float, float],
    scale: Sequence[Sequence[Any]] = SEQUENTIAL,
    unit: str = "",
) -> Any:
    """Return cells of names by columns, coloured by value and each with its text."""
    cells = {
        "type": "heatmap",
        "z": [_known(row) for row in values],
        "text": [[plain(text) for text in row] for row in texts],
        "texttemplate": "%{text}",
        "hovertemplate": "%{text}<extra></extra>",
        "x": list(range(len(columns))),
        "y": list(range(len(names))),
        "zmin": ends[0],
        "zmax": ends[1],
        "colorscale": [list(stop) for stop in scale],
        "showscale": False,
    }
    across = Scale(
        unit, reach=(-0.5, len(columns) - 0.5), ticks=dict(enumerate(map(plain, columns)))
    )
    return rows(title, names, Panel([cells], across))


def histogram(values: Iterable[float], edges: Sequence[float], name: str) -> Trace:
    """Return the numbers of values between edges as bars."""
    middle = ((np.asarray(edges)[:-1] + np.asarray(edges)[1:]) / 2).round(6).tolist()
    counts = np.histogram(list(values), edges)[0].tolist()
    look = {"color": QUIET, "opacity": 0.55, "line": {"width": 0}}
    hover = [f"{n:,} {name}" for n in counts]
    return {"type": "bar", "x": middle, "y": counts, "marker": look, **_named(name, hover)}


def nothing(title: str, why: str) -> Any:
    """Return a plot that says why there is nothing to draw."""
    figure = _figure(title, [Panel([], Scale(ticks={}), Scale(ticks={}))], 60)
    middle = {"x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper", "showarrow": False}
    return figure.update_layout(annotations=[{**middle, "text": plain(why)}])


def _figure(
    title: str, panels: Sequence[Panel], height: int, *, beside: bool = False, **more: Any
) -> Any:
    import plotly.graph_objects as go

    n = len(panels)
    total = height if beside else n * height + (n - 1) * _BETWEEN
    traces, layout = [], dict(more)
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    named: set[str] = set()
    for i, panel in enumerate(panels):
        suffix = str(i + 1) if i else ""
        x, y = f"x{suffix}", f"y{suffix}"
        top = 1 - i * (height + _BETWEEN) / total
        across = [i / n + (0.03 if i else 0), (i + 1) / n - (0.03 if i + 1 < n else 0)]
        places = (across, [0, 1]) if beside else ([0, 1], [max(top - height / total, 0), top])
        for letter, scale, place in (("x", panel.x, places[0]), ("y", panel.y, places[1])):
            own = _axis(scale, _values(panel.traces, letter))
            hidden = {"showticklabels": False} if letter == "y" and beside and i else {}
            anchor = {"anchor": f"{'y' if letter == 'x' else 'x'}{suffix}", "domain": place}
            layout[f"{letter}axis{suffix}"] = own | hidden | anchor
        for trace in panel.traces:
            name = trace.get("name", "")
            traces.append(
                {**trace, "xaxis": x, "yaxis": y, "showlegend": bool(name) and name not in named}
            )
            named |= {name} - {""}
        shapes += [_drawn(each, x, y) for each in panel.lines]
        labelled = [each for each in panel.lines if each.label]
        notes += [_above(each, x, y, 14 * place) for place, each in enumerate(labelled)]
        if panel.name:
            name = {"x": 0, "xanchor": "left", "yshift": 14 * len(labelled)}
            notes.append(_over(x, y) | name | {"text": plain(panel.name)})
    entries = -(-sum(len(name) + 8 for name in named) // _LINE_OF_LEGEND)
    above = 16 + max((note.get("yshift", 0) for note in notes), default=-10) + 10
    below = _AXIS + _LEGEND * entries
    return go.Figure(
        traces,
        {
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
    )


def _axis(scale: Scale, values: Sequence[float]) -> dict[str, Any]:
    low, high = scale.reach or _ends(values, zero=scale.zero, log=scale.log)
    axis: dict[str, Any] = {
        "range": [math.log10(low), math.log10(high)] if scale.log else [low, high],
        "gridcolor": GRID,
        "zeroline": low < 0 < high and scale.ticks is None,
        "automargin": True,
        "showgrid": scale.ticks is None,
    }
    axis |= {"type": "log"} if scale.log else {}
    axis |= {"title": {"text": plain(scale.title)}} if scale.title else {}
    axis |= {"tickformat": scale.form} if scale.form else {}
    if scale.ticks is not None:
        axis |= {"tickvals": list(scale.ticks), "ticktext": list(scale.ticks.values())}
    return axis


def _ends(values: Sequence[float], *, zero: bool, log: bool) -> tuple[float, float]:
    """Return the ends of an axis with room at both sides of the data."""
    known = [value for value in values if value > 0 or not log] or [1.0]
    low, high = min(known), max(known)
    if log:
        return low / 1.2, high * 1.2
    low, high = (min(low, 0), max(high, 0)) if zero else (low, high)
    room = 0.05 * (high - low) or 0.05 * abs(high) or 0.05
    return low - room * (not zero or low < 0), high + room * (not zero or high > 0 or low == 0)


def _values(traces: Sequence[Trace], letter: str) -> list[float]:
    """Return all values of traces along an axis, with the ends of their intervals."""
    found: list[float] = []
    for trace in traces:
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


def _intervals(
    trace: Trace, colour: str | Sequence[str], across: Bounds | None, up: Bounds | None
) -> dict[str, Any]:
    """Return intervals as errors of Plotly; none where a bound is missing."""
    errors: dict[str, Any] = {}
    for letter, bounds in (("x", across), ("y", up)):
        if bounds is None:
            continue
        middle = np.asarray(trace[letter], dtype=np.float64)
        low, high = (np.array(list(end), dtype=np.float64) for end in bounds)
        known = ~np.isnan(middle + low + high)
        errors[f"error_{letter}"] = {
            "type": "data",
            "symmetric": False,
            "array": np.where(known, high - middle, 0).round(6).tolist(),
            "arrayminus": np.where(known, middle - low, 0).round(6).tolist(),
            "color": colour if isinstance(colour, str) else INK,
            "thickness": 1.5,
            "width": 4,
        }
    return errors


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.3)"


def _drawn(each: Line, x: str, y: str) -> dict[str, Any]:
    look = {"type": "line", "line": {"color": each.colour, "width": 1.5, "dash": each.dash}}
    if each.level:
        ends = {"x0": 0, "x1": 1, "xref": f"{x} domain", "yref": y}
        return {**look, **ends, "y0": each.at, "y1": each.at}
    return {
        **look,
        "x0": each.at,
        "x1": each.at,
        "xref": x,
        "yref": f"{y} domain",
        "y0": 0,
        "y1": 1,
    }


def _above(each: Line, x: str, y: str, shift: int) -> dict[str, Any]:
    return _over(x, y) | {
        "x": each.at,
        "xref": x,
        "yshift": shift,
        "text": plain(each.label),
        "font": {"color": each.colour},
    }


def _over(x: str, y: str) -> dict[str, Any]:
    """Return an annotation just above a panel."""
    refs = {"xref": f"{x} domain", "yref": f"{y} domain"}
    return {**refs, "y": 1, "yanchor": "bottom", "showarrow": False}
