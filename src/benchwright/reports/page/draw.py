"""Draw a figure of `shapes` as SVG: a page needs no script to show it, and hovers by titles.

Each plot is drawn for a wide and for a narrow screen, of which the style sheet shows one.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape, unescape
from itertools import pairwise
from typing import Any, NamedTuple

_WIDTHS = {"wide": 920, "narrow": 400}  # pixels
_LETTER = 7.0  # pixels of a letter on average
_UNDER, _TITLE = 20, 20  # below a panel for its ticks, and for the title of an axis
_LONGEST = {"wide": 60, "narrow": 20}  # letters of a tick
_DASHES = {"dot": "2 3", "dash": "7 4", "dashdot": "7 3 2 3"}
_SYMBOLS = {
    "diamond": "M0-6L6 0L0 6L-6 0Z",
    "triangle-down": "M0 6L6-5H-6Z",
    "line-ns-open": "M0-8V8",
}
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
        if self.spec.get("type") == "log":
            value = math.log10(max(value, 1e-300))
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Return values with their texts."""
        if "tickvals" in self.spec:
            return list(zip(self.spec["tickvals"], self.spec["ticktext"], strict=True))
        low, high = sorted(self.spec["range"])
        if self.spec.get("type") == "log":
            powers = range(math.ceil(low), math.floor(high) + 1)
            return [(10.0**power, f"{10.0**power:,g}") for power in powers]
        most = max(abs(self.end - self.start) / (90 if self.end > self.start else 45), 2)
        step = _step((high - low) / most)
        first = math.ceil(low / step - 1e-9)
        values = [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]
        form = self.spec.get("tickformat", "").replace(",d", ",.0f")
        return [(value, _number(value, form)) for value in values]


def draw(figure: Json) -> str:
    """Return a figure as two drawings, of a wide and of a narrow screen."""
    return "".join(_drawing(figure, screen) for screen in _WIDTHS)


def _drawing(figure: Json, screen: str) -> str:
    layout, width = figure["layout"], _WIDTHS[screen]
    suffixes = [""] + [str(n) for n in range(2, 20) if f"xaxis{n}" in layout]
    beside = len(suffixes) > 1 and layout["xaxis2"]["domain"][0] > 0
    columns = len(suffixes) if beside and screen == "wide" else 1
    whole = layout["height"] - layout["meta"]["top"] - layout["margin"]["b"]
    shared = layout["yaxis"]["domain"]
    tall = (shared[1] - shared[0]) * whole
    left, right = _margins(figure, suffixes, screen)
    room = (width - left - right - 30 * (columns - 1)) / columns
    titled = [_TITLE if layout[f"xaxis{suffix}"].get("title") else 0 for suffix in suffixes]
    parts: list[str] = []
    top = float(layout["meta"]["top"])
    for i, suffix in enumerate(suffixes):
        start = left + (i % columns) * (room + 30)
        if i and i % columns == 0:
            top += tall + _UNDER + titled[i - 1] + layout["meta"]["top"]
        across = _Axis(layout[f"xaxis{suffix}"], start, start + room)
        down = _Axis(layout[f"yaxis{suffix}"], top + tall, top)
        parts += _axes(across, down, screen, named=i % columns == 0)
        parts += _marks(figure, suffix, across, down)
    if "overlaying" in layout.get("yaxis2", {}):
        other = _Axis(layout["yaxis2"], top + tall, top)
        parts += [
            _text(width - right + 8, other.at(value), text, longest=_LONGEST[screen])
            for value, text in other.ticks()
        ]
    bottom = top + tall + _UNDER + max(titled[-columns:])
    legend, bottom = _legend(figure, width, bottom)
    body = "".join([*parts, *legend])
    return (
        f'<svg class="plot {screen}" viewBox="0 0 {width} {bottom:.0f}" role="img" '
        f'style="max-width:{width}px">{body}</svg>'
    )


def _margins(figure: Json, suffixes: Sequence[str], screen: str) -> tuple[float, float]:
    """Return the room for the texts left and right of the panels."""
    layout = figure["layout"]

    def longest(axis: Json) -> float:
        texts = [_plain(text) for _, text in _Axis(axis, 300, 0).ticks()]
        letters = min(max(map(len, texts), default=0), _LONGEST[screen])
        return _LETTER * letters + (26 if axis.get("title") else 12)

    other = layout.get("yaxis2", {})
    notes = [
        len(_plain(note))
        for bars in figure["data"]
        for note in bars.get("text", ())
        if bars["type"] == "bar"
    ]
    beyond = (
        _LETTER * max(notes, default=0) - _WIDTHS[screen] / 10
    )  # the axis has room for the rest
    right = longest(other) + 8 if "overlaying" in other else max(24, beyond)
    return max(longest(layout[f"yaxis{suffix}"]) for suffix in suffixes), right


def _axes(across: _Axis, down: _Axis, screen: str, *, named: bool) -> Iterator[str]:
    low, high, left, right = down.start, down.end, across.start, across.end
    for axis, path in ((across, "M{0} {1}V{2}"), (down, "M{3} {0}H{4}")):
        grid = axis.ticks() if axis.spec.get("showgrid", True) else []
        for value in [tick for tick, _ in grid] + [0] * bool(axis.spec.get("zeroline")):
            place = path.format(axis.at(value), low, high, left, right)
            yield f'<path class="{"grid" if value else "zero"}" d="{place}"/>'
    for value, text in across.ticks():
        yield _text(across.at(value), low + 14, text, anchor="middle")
    if named:
        for value, text in down.ticks():
            yield _text(left - 7, down.at(value), text, anchor="end", longest=_LONGEST[screen])
    if title := across.spec.get("title"):
        yield _text((left + right) / 2, low + 33, title["text"], anchor="middle")
    if named and (title := down.spec.get("title")):
        middle = (low + high) / 2
        yield _text(12, middle, title["text"], anchor="middle", turn=f"rotate(-90 12 {middle})")


def _marks(figure: Json, suffix: str, across: _Axis, down: _Axis) -> Iterator[str]:
    layout, own = figure["layout"], (f"x{suffix}", f"y{suffix}")
    traces = [trace for trace in figure["data"] if trace.get("yaxis", "y") == own[1]]
    bars = [trace for trace in traces if trace["type"] == "bar" and "orientation" in trace]
    yield from _bars(bars, across, down, stacked=layout.get("barmode") == "stack")
    for trace in traces:
        if trace["type"] == "heatmap":
            yield from _cells(trace, across, down)
        elif trace["type"] == "bar" and "orientation" not in trace:
            yield from _columns(trace, across, down)
        elif trace["type"].startswith("scatter"):
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


def _bars(traces: Sequence[Json], across: _Axis, down: _Axis, *, stacked: bool) -> Iterator[str]:
    lanes = 1 if stacked else max(len(traces), 1)
    tall = abs(down.at(1) - down.at(0)) * 0.65 / lanes
    ends: dict[float, float] = {}
    for lane, trace in enumerate(traces):
        for i, (length, place) in enumerate(zip(trace["x"], trace["y"], strict=True)):
            start = ends.get(place, 0.0) if stacked else 0.0
            end = start + (length or 0)
            ends[place] = end
            y = down.at(place) - tall * (lanes / 2 - lane % lanes)
            x = across.at(start)
            if length:
                box = (x, y, max(across.at(end) - x, 0), tall)
                yield _box(box, _fill(trace["marker"], i), _said(trace, i))
            if trace.get("text"):
                yield _text(across.at(end) + 5, y + tall / 2, trace["text"][i])


def _columns(trace: Json, across: _Axis, down: _Axis) -> Iterator[str]:
    places = [across.at(x) for x in trace["x"]]
    width = min((b - a for a, b in pairwise(places)), default=20) * 0.94
    for i, (x, height) in enumerate(zip(places, trace["y"], strict=True)):
        if height:
            y = down.at(height)
            box = (x - width / 2, y, width, down.start - y)
            yield _box(box, _fill(trace["marker"], i), _said(trace, i))


def _cells(trace: Json, across: _Axis, down: _Axis) -> Iterator[str]:
    width, tall = (abs(axis.at(1) - axis.at(0)) - 2 for axis in (across, down))
    stops = trace["colorscale"]
    for i, row in enumerate(trace["z"]):
        for j, value in enumerate(row):
            if value is None:
                continue
            x, y = across.at(j), down.at(i)
            share = (value - trace["zmin"]) / ((trace["zmax"] - trace["zmin"]) or 1)
            colour = _between(stops, min(max(share, 0), 1))
            text = trace["text"][i][j]
            dark = "#fff" if sum(colour) < 330 else "#1d2126"
            box = (x - width / 2, y - tall / 2, width, tall)
            yield _box(box, f'fill="rgb{colour}"', f"<title>{text}</title>")
            if len(text) * _LETTER < width + 4:
                yield _text(x, y, text, anchor="middle", colour=dark)


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
        yield f'<path {_stroke(trace["line"])} d="{path}">{_said(trace)}</path>'
    yield from _errors(trace, across, down)
    if "markers" in mode:
        marker = trace["marker"]
        for i, pair in enumerate(pairs):
            if pair is not None:
                yield _symbol(marker, pair, i, _said(trace, i))


def _errors(trace: Json, across: _Axis, down: _Axis) -> Iterator[str]:
    for letter, axis in (("x", across), ("y", down)):
        error = trace.get(f"error_{letter}")
        if not error:
            continue
        for i, (x, y) in enumerate(zip(trace["x"], trace["y"], strict=True)):
            if x is None or y is None or not (error["array"][i] or error["arrayminus"][i]):
                continue
            value = x if letter == "x" else y
            low, high = axis.at(value - error["arrayminus"][i]), axis.at(value + error["array"][i])
            flat = down.at(y) if letter == "x" else across.at(x)
            path = (
                f"M{low} {flat - 4}v8m0-4H{high}m0-4v8"
                if letter == "x"
                else f"M{flat - 4} {low}h8m-4 0V{high}m-4 0h8"
            )
            yield f'<path fill="none" stroke="{error["color"]}" stroke-width="1.5" d="{path}"/>'


def _legend(figure: Json, width: float, top: float) -> tuple[list[str], float]:
    """Return the legend below the panels, and where it ends."""
    if figure["layout"].get("showlegend") is False:
        return [], top + 6
    parts: list[str] = []
    left = 8.0
    x, y = left, top + 12
    named = [trace for trace in figure["data"] if trace.get("showlegend") and trace.get("name")]
    for trace in named:
        name = _plain(trace["name"])
        wide = 40 + _LETTER * len(name)
        if x > left and x + wide > width:
            x, y = left, y + 20
        parts += [*_key(trace, x, y), _text(x + 22, y, trace["name"], longest=int(width / 7))]
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


def _symbol(marker: Json, at: tuple[float, float], i: int = 0, inside: str = "") -> str:
    name = marker.get("symbol", "circle")
    path = _SYMBOLS.get(name, _SYMBOLS.get(name.removesuffix("-open"), _ROUND))
    small = " scale(.7)" if marker.get("size", 9) < 9 else ""
    place = f'transform="translate({at[0]:.1f} {at[1]:.1f}){small}"'
    return f'<path {_fill(marker, i)} {place} d="{path}">{inside}</path>'


def _fill(marker: Json, i: int = 0) -> str:
    colour = marker["color"]
    colour = colour if isinstance(colour, str) else colour[i]
    if marker.get("symbol", "").endswith("-open"):
        return f'fill="none" stroke="{colour}" stroke-width="2.5"'
    opacity = marker.get("opacity", 1)
    return f'fill="{colour}"' + (f' opacity="{opacity}"' if opacity != 1 else "")


def _stroke(line: Json) -> str:
    dash = _DASHES.get(line.get("dash", ""), "")
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'fill="none" stroke="{line["color"]}" stroke-width="{line["width"]}"{dashed}'


def _said(trace: Json, i: int | None = None) -> str:
    """Return what is shown while the pointer is over a mark."""
    hover = trace.get("hovertext")
    if not hover:
        return ""
    text = hover[0] if i is None and len(set(hover)) == 1 else "" if i is None else hover[i]
    return f"<title>{text}</title>" if text else ""


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    colour: str = "",
    turn: str = "",
    longest: int = 400,
) -> str:
    """Return a text with its middle at y; a longer one is cut in its middle."""
    bold = text.startswith("<b>")
    shown = _plain(text)
    if len(shown) > longest:
        half = longest // 2
        shown = f"{shown[:half]}…{shown[half + 1 - longest :]}"
    look = f' text-anchor="{anchor}"' if anchor != "start" else ""
    look += f' style="fill:{colour}"' if colour else ""
    look += ' font-weight="700"' if bold else ""
    look += f' transform="{turn}"' if turn else ""
    return f'<text x="{x:.1f}" y="{y + 4:.1f}"{look}>{escape(shown)}</text>'


def _plain(text: str) -> str:
    return unescape(text.replace("<b>", "").replace("</b>", "").replace("<br>", " "))


def _number(value: float, form: str) -> str:
    written = f"{value:{form}}" if form else f"{round(value, 9):g}"
    return written.replace("-", "−")


def _step(rough: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at least as great."""
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(power * times for times in (1, 2, 5, 10) if power * times >= rough * 0.999)


def _between(stops: Sequence[Sequence[Any]], share: float) -> tuple[int, ...]:
    """Return the red, green and blue of a share on a scale of colours."""
    for (low, first), (high, second) in pairwise(stops):
        if share <= high:
            part = (share - low) / (high - low)
            return tuple(
                round(a + part * (b - a)) for a, b in zip(_rgb(first), _rgb(second), strict=True)
            )
    return _rgb(stops[-1][1])


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))
