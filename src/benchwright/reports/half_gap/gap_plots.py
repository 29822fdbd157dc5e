"""Δ of each model with its interval, by size (MMLU-CF, Table 1), and Δ in each field."""

from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.methods.mmlu_cf.splitting.gap import SIZE_GROUPS
from benchwright.params.mmlu_cf import HalfGapParams
from benchwright.reports.page.plot_style import (
    INK,
    KEPT,
    NARROW_NAME,
    QUIET,
    REMOVED,
    axis,
    empty_plot,
    plain,
    short_names,
)
from benchwright.reports.page.plots import legend_below, margin, plot, points, rows_down, whiskers

_MARGINS = 8 + 96  # pixels above and below the plot: axis title, legend
_ROW = 24
_KINDS = ((False, "no alarm", KEPT, "circle"), (True, "looks leaked", REMOVED, "diamond"))


def plot_gaps(half_gap: pd.DataFrame, settings: HalfGapParams) -> Any:
    """Draw test − validation of each configuration, grouped by size, with alarms marked."""
    table = by_size(half_gap[half_gap["field"].eq("")])
    names = _names(table)
    places, titles = _places(table["size_group"].tolist())
    bold = [f"<b>{name}</b>" for name in titles.values()]
    rows = len(places) + len(titles)
    height = max(_ROW * rows, 60)
    across = axis("test − validation, points", rangemode="tozero", nticks=8)
    traces = [
        _points(table, names, places, *kind)
        for kind in _KINDS
        if kind[0] in set(table["suspicious"]) or not kind[0]
    ]
    return plot(
        f"Test − validation in points, {settings.level:.0%} intervals, by size of the model",
        height + _MARGINS,
        traces,
        xaxis=across | {"zeroline": True, "zerolinecolor": QUIET},
        yaxis=axis(
            tickvals=[*places, *titles],
            ticktext=[*short_names(names), *bold],
            range=[rows - 0.5, -0.5],
            showgrid=False,
            fixedrange=True,
        ),
        legend=legend_below(56, height),
        margin=margin(96),
        hovermode="closest",
        showlegend=True,
        meta={
            "narrow": {
                "layout.yaxis.ticktext": [*short_names(names, NARROW_NAME), *bold],
                "layout.xaxis.nticks": 4,
            }
        },
    )


def by_size(gaps: pd.DataFrame) -> pd.DataFrame:
    """Sort a `HalfGap` table from the largest models down, then by accuracy on the closed half."""
    keyed = gaps.assign(group=gaps["size_group"].map(SIZE_GROUPS.index))
    keys = ["group", "test", "model", "style", "shots"]
    return keyed.sort_values(keys, ascending=[True, False, True, True, True]).reset_index(drop=True)


def _names(table: pd.DataFrame) -> list[str]:
    keys = zip(table["model"], table["style"], table["shots"], strict=True)
    return [configuration_name(*key) for key in keys]


def _places(groups: list[str]) -> tuple[list[int], dict[int, str]]:
    """Return the row of each model, and the name of each group by its row."""
    places: list[int] = []
    titles: dict[int, str] = {}
    for number, group in enumerate(groups):
        if number == 0 or group != groups[number - 1]:
            titles[number + len(titles)] = group
        places.append(number + len(titles))
    return places, titles


def _points(
    table: pd.DataFrame,
    names: list[str],
    places: list[int],
    alarm: bool,
    words: str,
    colour: str,
    symbol: str,
) -> dict[str, Any]:
    known = table[table["suspicious"].eq(alarm) & table["delta"].notna()]
    delta, low, high = (100 * known[name] for name in ("delta", "low", "high"))
    shown = short_names(names)
    bounds = [
        "no interval" if pd.isna(below) else f"[{below:+.1f}, {above:+.1f}]"
        for below, above in zip(low, high, strict=True)
    ]
    return points(
        delta.tolist(),
        [places[row] for row in known.index],
        "%{customdata[0]}<br>%{x:+.1f} points %{customdata[1]}",
        name=words,
        marker={"color": colour, "size": 9, "symbol": symbol},
        error_x=whiskers(delta, low, high, colour),
        customdata=[[shown[row], bound] for row, bound in zip(known.index, bounds, strict=True)],
    )


_TITLE = "Test − validation in points by field; ! marks fields that look leaked"
_CELL = 26


def plot_gaps_by_field(half_gap: pd.DataFrame) -> Any:
    """Draw Δ of models × fields as a heat map, orange where the public half is better."""
    of_fields = by_size(half_gap[half_gap["field"].ne("")])
    if of_fields.empty:
        return empty_plot(_TITLE, "No field is reported separately in both halves.")
    of_fields = of_fields.assign(name=_names(of_fields))
    # The order of the other plot, by all fields together.
    whole = by_size(half_gap[half_gap["field"].eq("")])
    names = [name for name in _names(whole) if name in set(of_fields["name"])]
    fields = sorted(of_fields["field"].unique())
    placed = of_fields.set_index(["name", "field"]).reindex(
        pd.MultiIndex.from_product([names, fields])
    )
    cells = 100 * placed["delta"].to_numpy(np.float64).reshape(len(names), len(fields))
    marks = placed["suspicious"].to_numpy().reshape(cells.shape).tolist()
    texts = [
        [_written(*cell) for cell in zip(*row, strict=True)]
        for row in zip(cells, marks, strict=True)
    ]
    reach = max(float(np.nanmax(np.abs(cells), initial=0)), 1.0)
    height = max(_CELL * len(names), 60)
    below = 30 + 6 * max(len(field) for field in fields)
    short = short_names(names)
    cells_shown = {
        "type": "heatmap",
        "z": [[None if isnan(value) else value for value in row] for row in cells.tolist()],
        "text": texts,
        "texttemplate": "%{text}" if len(fields) <= 16 else "",
        "textfont": {"size": 11},
        "x": [plain(field) for field in fields],
        "y": list(range(len(names))),
        "zmin": -reach,
        "zmax": reach,
        "colorscale": [[0, REMOVED], [0.5, "rgba(128,128,128,0.06)"], [1, KEPT]],
        "colorbar": {"thickness": 10, "title": {"text": "points"}, "outlinewidth": 0},
        "customdata": [[name] * len(fields) for name in short],
        "hovertemplate": "%{customdata}<br>%{x}: %{z:+.1f} points<extra></extra>",
        "xgap": 1,
        "ygap": 1,
    }
    narrow = {"layout.yaxis.ticktext": short_names(names, NARROW_NAME), "data.0.texttemplate": ""}
    return plot(
        _TITLE,
        height + below + 20,
        [cells_shown],
        xaxis=axis(tickangle=-45, tickfont={"color": INK}, showgrid=False),
        yaxis=rows_down(short, fixedrange=True),
        margin=margin(below, right=8),
        meta={"narrow": narrow},
    )


def _written(delta: float, mark: Any) -> str:
    if isnan(delta):
        return ""
    return f"{delta:+.1f}{'!' if mark is True else ''}".replace("-", "−")
