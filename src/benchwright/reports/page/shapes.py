"""The plots of every page, in one style: curves, intervals, funnels, slopes and histograms.

Each is Plotly's JSON for Kedro-Viz, whose `meta` has what pages show: caption, drawing and legend.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.reports.page.draw import draw, key_style
from benchwright.reports.page.figure import Figure, Line, Mark, Scale, Values
from benchwright.reports.page.plot_style import (
    KEPT,
    MOST_RANKED,
    QUIET,
    REMOVED,
    distinct_names,
)
from benchwright.reports.page.plotly_json import plotly_json

_ROW = 26  # pixels
_SLOPE = 24
_CURVES = 300  # pixels of a panel
_DISTRIBUTION = 170
_BINS = 40


def band(
    x: Iterable[float], low: Iterable[float], high: Iterable[float], name: str, colour: str = QUIET
) -> Mark:
    """Return the area between two curves."""
    across = list(x)
    around = [*low, *reversed(list(high))]
    return Mark("band", [*across, *reversed(across)], around, colour, name)


def curves(
    title: str, marks: Sequence[Mark], x: Scale, y: Scale, lines: Sequence[Line] = ()
) -> Any:
    """Return a plot of curves or points."""
    return _plot(Figure(title, _CURVES, marks, x=x, y=y, lines=lines))


def distribution(
    title: str, values: Sequence[float], name: str, middle: tuple[float, float], mark: Line
) -> Any:
    """Return the numbers of values as steps, the area of their middle 95%, and a line."""
    low = min(*values, mark.at)
    high = max(*values, mark.at)
    room = 0.06 * (high - low) or 0.01
    edges = np.linspace(low - room, high + room, _BINS + 1)
    counts = np.repeat(np.histogram(values, edges)[0], 2)
    most = 1.05 * counts.max()
    marks = [
        band(middle, [0, 0], [most, most], "middle 95%"),
        band(np.repeat(edges, 2)[1:-1], np.zeros(len(counts)), counts, name, KEPT),
    ]
    across = Scale(reach=(edges[0], edges[-1]))
    down = Scale(reach=(0, most), ticks={})
    return _plot(Figure(title, _DISTRIBUTION, marks, x=across, y=down, lines=[mark]))


class Step(NamedTuple):
    """A step of a funnel: how many are left after it, and how many it removed."""

    name: str
    left: int
    removed: int
    note: str  # beside its bar


def funnel(title: str, steps: Sequence[Step]) -> Any:
    """Return what is left after each step and what it removed, as bars."""
    rows = list(range(len(steps)))
    left = [step.left for step in steps]
    before = [step.left + step.removed for step in steps]
    kept = [f"{step.name}: {step.left:,} left" for step in steps]
    lost = [f"{step.name}: {step.removed:,} removed" for step in steps]
    notes = [step.note for step in steps]
    marks = [
        Mark("bars", left, rows, colour=KEPT, hover=kept, low=[0 for _ in steps]),
        Mark("bars", before, rows, colour=REMOVED, hover=lost, notes=notes, low=left),
    ]
    across = Scale(form=",.0f", reach=(0, 1.3 * max(*before, 1e-9)))
    return _rows(title, [step.name for step in steps], marks, across)


def intervals(
    title: str,
    names: Sequence[str],
    values: pd.DataFrame,
    *,
    colours: Sequence[str],
    x: Scale,
    words: Mapping[str, str] = MappingProxyType({}),
    lines: Sequence[Line] = (),
) -> Any:
    """Return a row per name with a difference in points and its interval.

    `values` has the columns difference, low and high, and `words` the meanings of the colours.
    """
    marks = []
    for colour in (KEPT, REMOVED, QUIET):
        known = values[pd.Index(colours) == colour].dropna(subset="difference")
        hover = [
            f"{names[at]}: {value:+.2f} [{low:+.2f}, {high:+.2f}]"
            for at, value, low, high in known.itertuples()
        ]
        mark = Mark(
            "dots",
            known["difference"],
            known.index,
            colour=colour,
            name=words.get(colour, ""),
            hover=hover,
            low=known["low"],
            high=known["high"],
        )
        marks.append(mark)
    return _rows(title, names, marks, x, lines)


def _rows(
    title: str,
    names: Sequence[str],
    marks: Sequence[Mark],
    x: Scale,
    lines: Sequence[Line] = (),
) -> Any:
    """Return a plot with a row per name, from the top."""
    height = max(_ROW * len(names), 60)
    texts = {place: name or "(none)" for place, name in enumerate(names)}
    return _plot(Figure(title, height, marks, x=x, y=_from_top(texts), lines=lines))


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
    columns = [f"{what}_{end}" for end in ends for what in ("rank", "accuracy")]
    rows = list(zip(names, *(table[column] for column in columns), strict=True))
    after = np.argsort(table[f"rank_{ends[1]}"].to_numpy(), kind="stable").tolist()
    marks: list[Mark] = []
    left: dict[int, str] = {}
    right: dict[int, str] = {}
    for place, (name, old, score, new, new_score) in enumerate(rows):
        colour = KEPT if new < old else REMOVED
        if new == old:
            colour = QUIET
        now = after.index(place)
        said = f"{name}: rank {old:g}, {score:.1%} → rank {new:g}, {new_score:.1%}"
        marks.append(Mark("line", [0, 1], [place, now], colour, hover=[said, said], dotted=True))
        left[place] = f"{name}  {score:.1%}  {old:g}"
        right[now] = f"{new:g}  {new_score:.1%}  {name}"
    across = Scale(reach=(-0.05, 1.05), ticks={})
    height = _SLOPE * len(names) + 10
    return _plot(Figure(title, height, marks, x=across, y=_from_top(left), right=right))


def nothing(title: str, why: str) -> Any:
    """Return a plot that says why there is nothing to draw."""
    empty = Scale(reach=(0, 1), ticks={})
    return _plot(Figure(title, 60, [], x=empty, y=empty, why=why))


def _from_top(texts: Mapping[int, str]) -> Scale:
    """Return an axis of rows from the top, each with its text."""
    return Scale(reach=(len(texts) - 0.5, -0.5), ticks=texts)


def _plot(figure: Figure) -> dict[str, Any]:
    figure = figure._replace(marks=[_plain(mark) for mark in figure.marks])
    plot = plotly_json(figure)
    legend = [(key_style(mark), mark.name) for mark in figure.legend()]
    shown = {"caption": figure.title, "drawing": draw(figure), "legend": legend}
    plot["layout"]["meta"] = shown
    return plot


def _plain(mark: Mark) -> Mark:
    """Return a mark with plain numbers, and None for missing ones."""
    x = _known(mark.x)
    y = _known(mark.y)
    return mark._replace(x=x, y=y, low=_known(mark.low), high=_known(mark.high))


def _known(values: Values) -> list[float | None]:
    rounded = np.array(list(values), dtype=np.float64).round(6).tolist()
    return [None if np.isnan(value) else value for value in rounded]
