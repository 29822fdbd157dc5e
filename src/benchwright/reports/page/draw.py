"""Draw a figure as SVG: a page needs no script to show it, and hovers by titles."""

import math
from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

from benchwright.reports.page.figure import Figure, Mark, Reach, Scale
from benchwright.reports.page.plot_style import faint

_WIDTH = 920  # pixels
_LETTER = 7.0  # pixels of a letter on average
_TICKS, _TITLE = 20, 20  # below the panel for its ticks, and for the title of its axis
_LABEL = 14  # the height of a label above the panel
_DASHES = {"dot": "2 3", "dash": "7 4"}
_BORDERS = {"dot": "dotted", "dash": "dashed", "solid": "solid"}
_ROUND = "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0-4.5 0Z"


class _Axis(NamedTuple):
    """An axis with its place in pixels; the first end of its reach may be the greater one."""

    scale: Scale
    reach: Reach
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the place of a value."""
        low, high = self.reach
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Return values with their texts."""
        if self.scale.ticks is not None:
            return list(self.scale.ticks.items())
        low, high = sorted(self.reach)
        apart = 90 if self.end > self.start else 45
        step = _step((high - low) / max(abs(self.end - self.start) / apart, 2))
        first = math.ceil(low / step - 1e-9)
        last = math.floor(high / step + 1e-9)
        return [(n * step, _number(n * step, self.scale.form)) for n in range(first, last + 1)]


def draw(figure: Figure) -> str:
    """Return the panel of a figure with its axes as a drawing."""
    top = 12 + _LABEL * sum(bool(line.label) for line in figure.lines)
    low = top + figure.height
    down = _Axis(figure.y, figure.reach_y(), low, top)
    left = _width_of(text for _, text in down.ticks()) + (26 if figure.y.title else 12)
    notes = [note for mark in figure.marks for note in mark.notes]
    beyond = _width_of(notes) - _WIDTH / 10  # the axis has room for the rest
    right = _width_of(figure.right.values()) + 20 if figure.right else max(24, beyond)
    across = _Axis(figure.x, figure.reach_x(), left, _WIDTH - right)
    parts = [*_axes(across, down)]
    for mark in figure.marks:
        parts += _DRAWN[mark.kind](mark, across, down)
    parts += _lines(figure, across, down)
    parts += [_text(across.end + 8, down.at(y), text) for y, text in figure.right.items()]
    if figure.why:
        parts.append(_text((left + across.end) / 2, (low + top) / 2, figure.why, anchor="middle"))
    bottom = low + _TICKS + (_TITLE if figure.x.title else 0)
    box = f"0 0 {_WIDTH} {bottom:.0f}"
    return f'<svg class="plot" viewBox="{box}" role="img">{"".join(parts)}</svg>'


def key_style(mark: Mark) -> str:
    """Return the CSS style of the mark's key in a legend: a box, a dot or a line."""
    if mark.kind == "line":
        return f"border-top: 3px {_BORDERS[mark.dash]} {mark.colour}"
    if mark.kind == "band":
        return f"background: {faint(mark.colour)}"
    return f"background: {mark.colour}; width: .7rem; border-radius: 50%"


def _axes(across: _Axis, down: _Axis) -> Iterator[str]:
    for value, text in across.ticks():
        if across.scale.ticks is None:
            yield _grid(value, f"M{across.at(value)} {down.start}V{down.end}")
        yield _text(across.at(value), down.start + 14, text, anchor="middle")
    for value, text in down.ticks():
        if down.scale.ticks is None:
            yield _grid(value, f"M{across.start} {down.at(value)}H{across.end}")
        yield _text(across.start - 7, down.at(value), text, anchor="end")
    if title := across.scale.title:
        yield _text((across.start + across.end) / 2, down.start + 33, title, anchor="middle")
    if title := down.scale.title:
        middle = (down.start + down.end) / 2
        yield _text(12, middle, title, anchor="middle", turn=f"rotate(-90 12 {middle})")


def _grid(value: float, path: str) -> str:
    return f'<path class="{"grid" if value else "zero"}" d="{path}"/>'


def _bars(mark: Mark, across: _Axis, down: _Axis) -> Iterator[str]:
    tall = 0.65 * abs(down.at(1) - down.at(0))
    for i, (start, end, y) in enumerate(_places(mark.low, mark.x, mark.y)):
        if end > start:
            width = across.at(end) - across.at(start)
            place = across.at(start), down.at(y) - tall / 2, width, tall
            yield _box(place, mark.colour, _title(mark, i))
        if mark.notes:
            yield _text(across.at(end) + 5, down.at(y), mark.notes[i])


def _band(mark: Mark, across: _Axis, down: _Axis) -> Iterator[str]:
    path = "L".join(f"{across.at(x)} {down.at(y)}" for x, y in _places(mark.x, mark.y))
    if path:
        yield f'<path fill="{faint(mark.colour)}" d="M{path}Z"/>'


def _line(mark: Mark, across: _Axis, down: _Axis) -> Iterator[str]:
    path = ""
    joined = False
    for x, y in zip(mark.x, mark.y, strict=True):
        if x is None or y is None:
            joined = False
            continue
        path += f"{'L' if joined else 'M'}{across.at(x)} {down.at(y)}"
        joined = True
    yield _stroke(path, mark.colour, mark.dash)
    if mark.dotted:
        yield from _dots(mark, across, down)


def _dots(mark: Mark, across: _Axis, down: _Axis) -> Iterator[str]:
    for low, high, row in _places(mark.low, mark.high, mark.y):
        path = f"M{across.at(low)} {down.at(row) - 4}v8m0-4H{across.at(high)}m0-4v8"
        yield _stroke(path, mark.colour, width=1.5)
    for i, (x, y) in enumerate(zip(mark.x, mark.y, strict=True)):
        if x is not None and y is not None:
            yield _dot(mark, across.at(x), down.at(y), _title(mark, i))


_DRAWN = {"bars": _bars, "band": _band, "line": _line, "dots": _dots}


def _places(*columns: Iterable[float | None]) -> Iterator[tuple[float, ...]]:
    """Return the rows of columns without a missing value; a column may be empty."""
    for row in zip(*columns, strict=False):
        known = tuple(value for value in row if value is not None)
        if len(known) == len(row):
            yield known


def _lines(figure: Figure, across: _Axis, down: _Axis) -> Iterator[str]:
    above = down.end - 9
    for line in figure.lines:
        path = f"M{across.at(line.at)} {down.start}V{down.end}"
        if line.level:
            path = f"M{across.start} {down.at(line.at)}H{across.end}"
        yield _stroke(path, line.colour, line.dash, width=1.5)
        if line.label:
            x = across.at(line.at)
            anchor = "start" if x < (across.start + across.end) / 2 else "end"
            yield _text(x, above, line.label, anchor=anchor, colour=line.colour)
            above -= _LABEL


def _box(place: tuple[float, float, float, float], colour: str, inside: str = "") -> str:
    x, y, width, height = place
    where = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect fill="{colour}" {where}>{inside}</rect>'


def _dot(mark: Mark, x: float, y: float, inside: str = "") -> str:
    scale = " scale(.7)" if mark.dotted else ""
    place = f'transform="translate({x:.1f} {y:.1f}){scale}"'
    return f'<path fill="{mark.colour}" {place} d="{_ROUND}">{inside}</path>'


def _stroke(path: str, colour: str, dash: str = "solid", width: float = 2) -> str:
    dashed = f' stroke-dasharray="{_DASHES[dash]}"' if dash in _DASHES else ""
    return f'<path fill="none" stroke="{colour}" stroke-width="{width}"{dashed} d="{path}"/>'


def _title(mark: Mark, i: int) -> str:
    """Return what is shown while the pointer is over a value."""
    return f"<title>{escape(mark.hover[i])}</title>" if mark.hover else ""


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", colour: str = "", turn: str = ""
) -> str:
    """Return a text with its middle at y."""
    look = f' text-anchor="{anchor}"' if anchor != "start" else ""
    look += f' style="fill:{colour}"' if colour else ""
    look += f' transform="{turn}"' if turn else ""
    return f'<text x="{x:.1f}" y="{y + 4:.1f}"{look}>{escape(text)}</text>'


def _width_of(texts: Iterable[str]) -> float:
    return _LETTER * max(map(len, texts), default=0)


def _number(value: float, form: str) -> str:
    written = f"{value:{form}}" if form else f"{round(value, 9):g}"
    return written.replace("-", "−")


def _step(rough: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at least as great."""
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(power * times for times in (1, 2, 5, 10) if power * times >= rough * 0.999)
