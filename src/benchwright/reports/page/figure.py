"""What a plot shows: marks on two axes and lines across them, in the values of the data."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from benchwright.reports.page.plot_style import QUIET

Kind = Literal["bars", "dots", "line", "band"]
Values = Iterable[float | None]
Reach = tuple[float, float]
NO_TEXTS: Mapping[int, str] = MappingProxyType({})


class Mark(NamedTuple):
    """Horizontal bars, dots, a line or a filled band; None stands for a missing value."""

    kind: Kind
    x: Values  # of bars, their ends
    y: Values
    colour: str
    name: str = ""  # in the legend, once
    hover: Sequence[str] = ()  # what is said of each value
    notes: Sequence[str] = ()  # at the end of each bar
    dash: str = "solid"
    dotted: bool = False  # whether a line has dots
    low: Values = ()  # where bars or intervals begin
    high: Values = ()  # where intervals end


class Scale(NamedTuple):
    """An axis; its ends are those of the data where `reach` has none."""

    title: str = ""
    form: str = ""  # a format of numbers, such as .0%
    reach: Reach | None = None
    ticks: Mapping[int, str] | None = None
    zero: bool = False  # whether 0 belongs to the axis


class Line(NamedTuple):
    """A line across the plot: upright at x, or level at y; a label stands above an upright one."""

    at: float
    label: str = ""
    colour: str = QUIET
    dash: str = "dot"
    level: bool = False


class Figure(NamedTuple):
    """A plot of one panel."""

    title: str
    height: int  # of the panel, in pixels
    marks: Sequence[Mark]
    x: Scale
    y: Scale
    lines: Sequence[Line] = ()
    right: Mapping[int, str] = NO_TEXTS  # texts at the right end, by their place on y
    why: str = ""  # there is nothing to show

    def reach_x(self) -> Reach:
        """Return the ends of the horizontal axis."""
        values = [line.at for line in self.lines if not line.level]
        for mark in self.marks:
            values += _known([*mark.x, *mark.low, *mark.high])
        return self.x.reach or _with_room(values, zero=self.x.zero)

    def reach_y(self) -> Reach:
        """Return the ends of the vertical axis; the first is at the bottom."""
        values = [line.at for line in self.lines if line.level]
        for mark in self.marks:
            values += _known(mark.y)
        return self.y.reach or _with_room(values, zero=self.y.zero)

    def legend(self) -> list[Mark]:
        """Return the first mark of each name."""
        named: dict[str, Mark] = {}
        for mark in self.marks:
            if mark.name:
                named.setdefault(mark.name, mark)
        return list(named.values())


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _with_room(values: Sequence[float], *, zero: bool) -> Reach:
    """Return the ends of an axis with room at both sides of the data, but none beyond a 0."""
    known = list(values) or [1.0]
    if zero:
        known.append(0.0)
    low = min(known)
    high = max(known)
    room = 0.05 * (high - low) or 0.05 * abs(high) or 0.05
    if not zero:
        return low - room, high + room
    return low - room if low < 0 else low, high + room if high > 0 or low == 0 else high
