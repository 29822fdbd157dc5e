"""Plots of the pages of `benchwright compare` and `benchwright gate`."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.reports.page.plot_style import INK, KEPT, QUIET, REMOVED, clip
from benchwright.reports.page.shapes import Line, Panel, Scale, curves, dots, line, rows
from benchwright.statistics.anytime import Evidence

_LONGEST = 42  # characters of a subject
_STEPS = 600  # most points of a path
_MOST = 6.0  # powers of ten of evidence that are shown beyond the threshold


def plot_differences(
    table: pd.DataFrame, level: float, allowed: float | None, width: float = 100.0
) -> Any:
    """Draw a difference per row (name, items, difference, low, high, holm), in shares.

    Blue: significantly above 0 by Holm's p-values, orange: below it, grey: neither. `allowed` is a
    gate's margin, drawn as a line at minus its value; `width` is that of the scale in points.
    """
    names = [
        f"{clip(str(row['name']).replace('_', ' '), _LONGEST)} ({row['items']:,})"
        for row in table.to_dict("records")
    ]
    values = width * table[["difference", "low", "high"]]
    shown = table["holm"] < 1 - level
    above, below = shown & (values["difference"] > 0), shown & (values["difference"] < 0)
    colours = np.select([above, below], [KEPT, REMOVED], QUIET)
    traces = []
    for colour in (KEPT, REMOVED, QUIET):
        own = values[colours == colour]
        hover = [
            f"{names[at]}: {value:+.2f} [{low:+.2f}, {high:+.2f}]"
            for at, value, low, high in own.itertuples()
        ]
        ends = (own["low"], own["high"])
        traces.append(dots(own["difference"], own.index, colour, hover=hover, across=ends))
    lines = [Line(0, colour=INK, dash="solid")]
    if allowed:
        lines.append(Line(-width * allowed, colour=REMOVED))
    dotted = f"; dotted: −{width * allowed:g}" if allowed else ""
    title = f"B − A in points with {level:.0%} intervals"
    return rows(title, names, Panel(traces, Scale(f"B − A, points{dotted}"), lines=lines))


def plot_evidence(path: Evidence, alpha: float, stopped: int, decision: str) -> Any:
    """Draw both processes over the answers, the threshold 1/α, and the decision."""
    n = len(path.worse)
    at = np.unique(np.linspace(0, n - 1, min(n, _STEPS)).round().astype(np.intp))
    most = np.log10(1 / alpha) + _MOST
    traces = []
    parts = (("not worse", path.not_worse, KEPT), ("worse", path.worse, REMOVED))
    for name, values, colour in parts:
        evidence = (10 ** np.clip(values[at] / np.log(10), -3, most)).tolist()
        answers = (at + 1).tolist()
        hover = [
            f"after {after:,} answers: {value:.3g} for {name}"
            for after, value in zip(answers, evidence, strict=True)
        ]
        traces.append(line(answers, evidence, colour, f"evidence for {name}", hover=hover))
    lines = [Line(1 / alpha, colour=INK, dash="dash", level=True)]
    if decision != "undecided":
        lines.append(Line(stopped, colour=INK))
    title = f"Evidence over the answers, until it reaches {1 / alpha:g}"
    x, y = Scale("answered items", ",d", zero=True), Scale("evidence", log=True)
    return curves(title, traces, x, y, lines=lines)
