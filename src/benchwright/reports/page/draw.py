"""Draw a figure of `shapes` as SVG: a page needs no script to show it, and hovers by titles."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape, unescape
from typing import Any, NamedTuple

_WIDTH = 920  # pixels
_LETTER = 7.0  # pixels of a letter on average
_UNDER, _TITLE = 20, 20  # below a panel for its ticks, and for the title of an axis
_DASHES = {"dot": "2 3", "dash": "7 4"}
_ROUND = "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0-4.5 0Z"

Json = Mapping[str, Any]


class _Axis(NamedTuple):
    """An axis with its place in pixels; `low` may be the greater end."""

    spec: Json
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the place of a value."""
        low, high = self.spec["range"]
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Return values with their texts."""
        if "tickvals" in self.spec:
            return list(zip(self.spec["tickvals"], self.spec["ticktext"], strict=True))
        low, high = sorted(self.spec["range"])
        most = max(abs(self.end - self.start) / (90 if self.end > self.start else 45), 2)
        step = _step((high - low) / most)
        first = math.ceil(low / step - 1e-9)
        values = [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]
        form = self.spec.get("tickformat", "").replace(",d", ",.0f")
        return [(value, _number(value, form)) for value in values]


def draw(figure: Json) -> str:
    """Return a figure as a drawing: its panels one above another, then the legend."""
    layout = figure["layout"]
    suffixes = [""] + [str(n) for n in range(2, 20) if f"xaxis{n}" in layout]
    left, right = _margins(figure, suffixes)
    whole = layout["height"] - layout["meta"]["top"] - layout["margin"]["b"]
    shared = layout["yaxis"]["domain"]
    tall, bottom = (shared[1] - shared[0]) * whole, 0.0
    parts: list[str] = []
    for suffix in suffixes:
        top = bottom + layout["meta"]["top"]
        across = _Axis(layout[f"xaxis{suffix}"], left, _WIDTH - right)
        down = _Axis(layout[f"yaxis{suffix}"], top + tall, top)
        parts += [*_axes(across, down), *_marks(figure, suffix, across, down)]
        bottom = top + tall + _UNDER + (_TITLE if across.spec.get("title") else 0)
    if "overlaying" in layout.get("yaxis2", {}):
        other = _Axis(layout["yaxis2"], down.start, down.end)
        parts += [_text(_WIDTH - right + 8, other.at(v), text) for v, text in other.ticks()]
    legend, bottom = _legend(figure, bottom)
    return (
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {bottom:.0f}" role="img">'
        f"{''.join([*parts, *legend])}</svg>"
    )


def _margins(figure: Json, suffixes: Sequence[str]) -> tuple[float, float]:
    """Return the room for the texts left and right of the panels."""
    layout = figure["layout"]

    def longest(axis: Json) -> float:
        letters = max((len(unescape(text)) for _, text in _Axis(axis, 300, 0).ticks()), default=0)
        return _LETTER * letters + (26 if axis.get("title") else 12)

    other = layout.get("yaxis2", {})
    bars = [trace for trace in figure["data"] if trace["type"] == "bar"]
    notes = [len(unescape(note)) for trace in bars for note in trace.get("text", ())]
    beyond = _LETTER * max(notes, default=0) - _WIDTH / 10  # the axis has room for the rest
    right = longest(other) + 8 if "overlaying" in other else max(24, beyond)
    return max(longest(layout[f"yaxis{suffix}"]) for suffix in suffixes), right


def _axes(across: _Axis, down: _Axis) -> Iterator[str]:
    low, high, left, right = down.start, down.end, across.start, across.end
    for axis, path in ((across, "M{0} {1}V{2}"), (down, "M{3} {0}H{4}")):
        grid = axis.ticks() if axis.spec.get("showgrid", True) else []
        for value in [tick for tick, _ in grid] + [0] * bool(axis.spec.get("zeroline")):
            place = path.format(axis.at(value), low, high, left, right)
            yield f'<path class="{"grid" if value else "zero"}" d="{place}"/>'
    for value, text in across.ticks():
        yield _text(across.at(value), low + 14, text, anchor="middle")
    for value, text in down.ticks():
        yield _text(left - 7, down.at(value), text, anchor="end")
    if title := across.spec.get("title"):
        yield _text((left + right) / 2, low + 33, title["text"], anchor="middle")
    if title := down.spec.get("title"):
        middle = (low + high) / 2
        yield _text(12, middle, title["text"], anchor="middle", turn=f"rotate(-90 12 {middle})")


def _marks(figure: Json, suffix: str, across: _Axis, down: _Axis) -> Iterator[str]:
    layout, own = figure["layout"], (f"x{suffix}", f"y{suffix}")
    traces = [trace for trace in figure["data"] if trace.get("yaxis", "y") == own[1]]
    yield from _bars([trace for trace in traces if trace["type"] == "bar"], across, down)
    for trace in traces:
        if trace["type"] == "scatter":
            yield from _points(trace, across, down)
    for shape in layout.get("shapes", ()):
        if shape["yref"].split()[0] == own[1]:
            upright = f"M{across.at(shape['x0'])} {down.start}V{down.end}"
            level = f"M{across.start} {down.at(shape['y0'])}H{across.end}"
            path = upright if shape["x0"] == shape["x1"] else level
            yield f'<path {_stroke(shape["line"])} d="{path}"/>'
    middle = (across.start + across.end) / 2
    for note in layout.get("annotations", ()):
        text, named = note["text"], "domain" in note["xref"]
        if note["xref"] == "paper":
            yield _text(middle, (down.start + down.end) / 2, text, anchor="middle")
        elif note["yref"].split()[0] == own[1]:
            x = across.start if named else across.at(note["x"])
            anchor = "start" if named or x < middle else "end"
            colour = note.get("font", {}).get("color", "")
            yield _text(x, down.end - 9 - note.get("yshift", 0), text, anchor=anchor, colour=colour)


def _bars(traces: Sequence[Json], across: _Axis, down: _Axis) -> Iterator[str]:
    tall = abs(down.at(1) - down.at(0)) * 0.65
    ends: dict[float, float] = {}
    for trace in traces:
        for i, (length, place) in enumerate(zip(trace["x"], trace["y"], strict=True)):
            start = ends.get(place, 0.0)
            ends[place] = start + length
            x, end, y = across.at(start), across.at(ends[place]), down.at(place)
            if length:
                box = (x, y - tall / 2, end - x, tall)
                yield _box(box, _fill(trace["marker"]), _said(trace, i))
            if trace.get("text"):
                yield _text(end + 5, y, trace["text"][i])


def _points(trace: Json, across: _Axis, down: _Axis) -> Iterator[str]:
    if trace.get("opacity") == 0:
        return
    pairs = [
        None if x is None or y is None else (across.at(x), down.at(y))
        for x, y in zip(trace["x"], trace["y"], strict=True)
    ]
    if trace.get("fill"):
        path = "L".join(f"{x} {y}" for x, y in filter(None, pairs))
        yield f'<path fill="{trace["fillcolor"]}" d="M{path}Z"/>' if path else ""
    mode = trace["mode"]
    if "lines" in mode:
        path = ""
        before: tuple[float, float] | None = None
        for pair in pairs:
            if pair is not None:
                path += f"{'L' if before else 'M'}{pair[0]} {pair[1]}"
            before = pair
        yield f'<path {_stroke(trace["line"])} d="{path}"/>'
    if "error_x" in trace:
        yield from _errors(trace, across, down)
    if "markers" in mode:
        marker = trace["marker"]
        for i, pair in enumerate(pairs):
            if pair is not None:
                yield _symbol(marker, pair, _said(trace, i))


def _errors(trace: Json, across: _Axis, down: _Axis) -> Iterator[str]:
    error = trace["error_x"]
    ends = zip(trace["x"], trace["y"], error["arrayminus"], error["array"], strict=True)
    for x, y, below, above in ends:
        if x is not None and (below or above):
            path = f"M{across.at(x - below)} {down.at(y) - 4}v8m0-4H{across.at(x + above)}m0-4v8"
            yield f'<path fill="none" stroke="{error["color"]}" stroke-width="1.5" d="{path}"/>'


def _legend(figure: Json, top: float) -> tuple[list[str], float]:
    """Return the legend below the panels, and where it ends."""
    if figure["layout"].get("showlegend") is False:
        return [], top + 6
    parts: list[str] = []
    left = 8.0
    x, y = left, top + 12
    named = [trace for trace in figure["data"] if trace.get("showlegend") and trace.get("name")]
    for trace in named:
        name = unescape(trace["name"])
        wide = 40 + _LETTER * len(name)
        if x > left and x + wide > _WIDTH:
            x, y = left, y + 20
        parts += [*_key(trace, x, y), _text(x + 22, y, trace["name"])]
        x += wide
    return parts, (y + 14 if named else top + 6)


def _key(trace: Json, x: float, y: float) -> Iterator[str]:
    if trace["type"] == "bar" or trace.get("fill"):
        look = _fill(trace["marker"]) if "marker" in trace else f'fill="{trace["fillcolor"]}"'
        yield _box((x, y - 6, 14, 11), look)
        return
    if "lines" in trace["mode"]:
        yield f'<path {_stroke(trace["line"])} d="M{x} {y}h17"/>'
    if "markers" in trace["mode"]:
        yield _symbol(trace["marker"], (x + 8, y))


def _box(box: tuple[float, float, float, float], look: str, inside: str = "") -> str:
    x, y, width, height = box
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f"<rect {look} {place}>{inside}</rect>"


def _symbol(marker: Json, at: tuple[float, float], inside: str = "") -> str:
    small = " scale(.7)" if marker.get("size", 9) < 9 else ""
    place = f'transform="translate({at[0]:.1f} {at[1]:.1f}){small}"'
    return f'<path {_fill(marker)} {place} d="{_ROUND}">{inside}</path>'


def _fill(marker: Json) -> str:
    return f'fill="{marker["color"]}"'


def _stroke(line: Json) -> str:
    dash = _DASHES.get(line.get("dash", ""), "")
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'fill="none" stroke="{line["color"]}" stroke-width="{line["width"]}"{dashed}'


def _said(trace: Json, i: int) -> str:
    """Return what is shown while the pointer is over a mark."""
    text = trace.get("hovertext", {i: ""})[i]
    return f"<title>{text}</title>" if text else ""


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", colour: str = "", turn: str = ""
) -> str:
    """Return a text with its middle at y."""
    look = f' text-anchor="{anchor}"' if anchor != "start" else ""
    look += f' style="fill:{colour}"' if colour else ""
    look += f' transform="{turn}"' if turn else ""
    return f'<text x="{x:.1f}" y="{y + 4:.1f}"{look}>{escape(unescape(text))}</text>'


def _number(value: float, form: str) -> str:
    written = f"{value:{form}}" if form else f"{round(value, 9):g}"
    return written.replace("-", "−")


def _step(rough: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at least as great."""
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(power * times for times in (1, 2, 5, 10) if power * times >= rough * 0.999)
