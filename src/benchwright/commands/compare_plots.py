"""Plots of the pages of `benchwright compare` and `benchwright gate`."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.reports.page.plot_style import INK, KEPT, QUIET, REMOVED, axis, clip, plain
from benchwright.reports.page.plots import (
    legend_below,
    margin,
    plot,
    points,
    rows_down,
    vertical_line,
    whiskers,
)
from benchwright.statistics.anytime import Evidence

_ROW = 22  # pixels, as all below
_TOP, _TICKS = 8, 56
_LONGEST = 42  # characters of a subject
_STEPS = 600  # most points of a path
_MOST = 6.0  # powers of ten of evidence that are shown beyond the threshold


def plot_differences(rows: pd.DataFrame, level: float, allowed: float | None) -> Any:
    """Draw a difference with its interval per row (name, items, difference, low, high), in shares.

    The first row is that of all items. Blue: the interval lies above 0, orange: below it, grey:
    around it. `allowed` is a gate's margin, drawn as a line at minus its value.
    """
    title = f"B − A in points with {level:.0%} intervals"
    names = [
        f"{plain(clip(str(row['name']).replace('_', ' '), _LONGEST))} ({row['items']:,})"
        for row in rows.to_dict("records")
    ]
    values = 100 * rows[["difference", "low", "high"]]
    above, below = values["low"] > 0, values["high"] < 0
    colours = np.select([above, below], [KEPT, REMOVED], QUIET)
    traces = []
    for colour in (KEPT, REMOVED, QUIET):
        own = values[colours == colour]
        traces.append(
            points(
                own["difference"].round(3).tolist(),
                own.index.tolist(),
                "%{customdata}",
                customdata=[
                    f"{names[at]}<br>{value:+.2f} [{low:+.2f}, {high:+.2f}]"
                    for at, value, low, high in own.itertuples()
                ],
                marker={"color": colour, "size": [11 if at == 0 else 7 for at in own.index]},
                error_x=whiskers(own["difference"], own["low"], own["high"], colour),
            )
        )
    ends = (-0.5, len(rows) - 0.5)
    shapes = [vertical_line(0, ends, {"color": INK, "width": 1})]
    if allowed:
        dotted = {"color": REMOVED, "width": 1.5, "dash": "dot"}
        shapes.append(vertical_line(-100 * allowed, ends, dotted))
    return plot(
        title,
        _TOP + _TICKS + _ROW * max(len(rows), 3),
        traces,
        shapes=shapes,
        showlegend=False,
        xaxis=axis("B − A, points" + (f"; dotted: −{100 * allowed:g}" if allowed else "")),
        yaxis=rows_down(names),
        margin=margin(_TICKS, top=_TOP),
    )


def plot_evidence(path: Evidence, alpha: float, stopped: int, decision: str) -> Any:
    """Draw both processes over the answers, the threshold 1/α, and the decision."""
    n = len(path.worse)
    at = np.unique(np.linspace(0, n - 1, min(n, _STEPS)).round().astype(np.intp))
    most = np.log10(1 / alpha) + _MOST
    traces = []
    for name, values, colour in (
        ("not worse", path.not_worse, KEPT),
        ("worse", path.worse, REMOVED),
    ):
        powers = np.clip(values[at] / np.log(10), -3, most)
        traces.append(
            points(
                (at + 1).tolist(),
                (10.0**powers).tolist(),
                f"after %{{x:,}} answers: %{{y:.3g}} for {name}",
                mode="lines",
                name=f"evidence for {name}",
                line={"color": colour, "width": 2},
            )
        )
    line = {"color": INK, "width": 1, "dash": "dash"}
    needed = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1 / alpha, "y1": 1 / alpha}
    shapes = [{**needed, "line": line}]
    if decision != "undecided":
        here = vertical_line(stopped, (0, 1), {"color": INK, "width": 1, "dash": "dot"})
        shapes.append({**here, "yref": "paper"})
    height = 300
    return plot(
        f"Evidence over the answers, until it reaches {1 / alpha:g}",
        height + 90,
        traces,
        shapes=shapes,
        showlegend=True,
        legend=legend_below(48, height),
        xaxis=axis("answered items", rangemode="tozero", tickformat=",d"),
        yaxis=axis("evidence", type="log", exponentformat="power"),
        margin=margin(90),
    )
