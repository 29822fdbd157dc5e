"""A figure as Plotly's JSON, which Kedro-Viz shows and lets its reader zoom."""

from html import escape
from typing import Any

from benchwright.reports.page.figure import Figure, Line, Mark, Reach, Scale, Values
from benchwright.reports.page.plot_style import GRID, INK, faint

_MODES = {"band": "none", "dots": "markers", "line": "lines"}
_PLACED = {"showarrow": False, "yref": "paper", "y": 1, "yanchor": "bottom"}


def plotly_json(figure: Figure) -> dict[str, Any]:
    """Return the figure as Plotly's JSON; texts are escaped, because Plotly reads some HTML."""
    legend = figure.legend()
    texts: list[dict[str, Any]] = []
    for line in figure.lines:
        if line.label:
            above = {"x": line.at, "yshift": 14 * len(texts), "font": {"color": line.colour}}
            texts.append(_PLACED | above | {"text": plain(line.label)})
    for place, text in figure.right.items():
        beside = {"x": 1, "xref": "paper", "y": place, "xanchor": "left", "yanchor": "middle"}
        texts.append({"showarrow": False, "text": plain(text)} | beside)
    if figure.why:
        texts.append({"showarrow": False, "text": plain(figure.why), "x": 0.5, "xref": "paper"})
    return {
        "data": [_trace(mark, listed=mark in legend) for mark in figure.marks],
        "layout": {
            "title": {"text": plain(figure.title), "font": {"size": 15}},
            "height": figure.height + 150,
            "margin": {"r": 16 + 7 * max(map(len, figure.right.values()), default=0)},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": INK, "size": 12, "family": "system-ui, sans-serif"},
            "hovermode": "closest",
            "template": "none",
            "barmode": "overlay",
            "bargap": 0.35,
            "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom"},
            "shapes": [_shape(line) for line in figure.lines],
            "annotations": texts,
            "xaxis": _axis(figure.x, figure.reach_x()),
            "yaxis": _axis(figure.y, figure.reach_y()),
        },
    }


def plain(text: str) -> str:
    """Escape a text of data."""
    return escape(text, quote=False)


def _trace(mark: Mark, *, listed: bool) -> dict[str, Any]:
    trace = {
        "x": mark.x,
        "y": mark.y,
        "name": plain(mark.name),
        "showlegend": listed,
        "hoverinfo": "text" if mark.hover else "skip",
        "hovertext": [plain(text) for text in mark.hover],
        "marker": {"color": mark.colour},
    }
    if mark.kind == "bars":
        lengths = _apart(mark.x, mark.low)
        notes = {"text": [plain(note) for note in mark.notes], "textposition": "outside"}
        return trace | notes | {"type": "bar", "orientation": "h", "x": lengths, "base": mark.low}
    trace |= {"type": "scatter", "mode": _MODES[mark.kind] + ("+markers" if mark.dotted else "")}
    if mark.kind == "band":
        return trace | {"fill": "toself", "fillcolor": faint(mark.colour)}
    if mark.high:
        ends = {"array": _apart(mark.high, mark.x), "arrayminus": _apart(mark.x, mark.low)}
        return trace | {"error_x": {"color": mark.colour, "thickness": 1.5, "width": 4, **ends}}
    return trace | {"line": {"color": mark.colour, "width": 2, "dash": mark.dash}}


def _apart(ends: Values, starts: Values) -> list[float]:
    """Return lengths, 0 where an end is missing."""
    pairs = zip(ends, starts, strict=True)
    return [0 if end is None or start is None else end - start for end, start in pairs]


def _shape(line: Line) -> dict[str, Any]:
    place = {"x0": line.at, "x1": line.at, "y0": 0, "y1": 1, "yref": "paper"}
    if line.level:
        place = {"y0": line.at, "y1": line.at, "x0": 0, "x1": 1, "xref": "paper"}
    return place | {"line": {"color": line.colour, "width": 1.5, "dash": line.dash}}


def _axis(scale: Scale, reach: Reach) -> dict[str, Any]:
    axis = {"range": list(reach), "gridcolor": GRID, "automargin": True}
    axis |= {"title": plain(scale.title), "tickformat": scale.form}
    if scale.ticks is None:
        return axis
    texts = [plain(text) for text in scale.ticks.values()]
    axis |= {"tickvals": list(scale.ticks), "ticktext": texts}
    return axis | {"showgrid": False, "zeroline": False}
