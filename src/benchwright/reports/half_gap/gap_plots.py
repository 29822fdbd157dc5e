"""Δ of each model with its interval, by size (MMLU-CF, Table 1), and Δ in each field."""

from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.methods.mmlu_cf.splitting.gap import SIZE_GROUPS
from benchwright.params.mmlu_cf import HalfGapParams
from benchwright.reports.page.plot_style import KEPT, REMOVED, distinct_names
from benchwright.reports.page.shapes import Panel, Scale, dots, heatmap, nothing, rows

_KINDS = ((False, "no alarm", KEPT, "circle"), (True, "looks leaked", REMOVED, "diamond"))
_CELLS = [[0, "#ef9a6f"], [0.5, "#d5d8dc"], [1, "#8bbbe6"]]


def plot_gaps(half_gap: pd.DataFrame, settings: HalfGapParams) -> Any:
    """Draw test − validation of each configuration, grouped by size, with alarms marked."""
    table = by_size(half_gap[half_gap["field"].eq("")])
    shown = distinct_names(_names(table))
    names: list[str] = []
    places: list[int] = []
    headings = []
    for group, own in table.groupby("size_group", sort=False):
        headings.append(len(names))
        places += range(len(names) + 1, len(names) + 1 + len(own))
        names += [str(group), *(shown[row] for row in own.index)]
    traces = []
    for alarm, words, colour, symbol in _KINDS:
        own = table[table["suspicious"].eq(alarm) & table["delta"].notna()]
        if alarm and own.empty:
            continue
        delta, low, high = (100 * own[name] for name in ("delta", "low", "high"))
        hover = [
            f"{shown[row]}: {value:+.1f} points "
            + ("no interval" if isnan(below) else f"[{below:+.1f}, {above:+.1f}]")
            for row, value, below, above in zip(own.index, delta, low, high, strict=True)
        ]
        at = [places[row] for row in own.index]
        traces.append(
            dots(delta, at, colour, words, hover=hover, across=(low, high), symbol=symbol)
        )
    title = f"Test − validation in points, {settings.level:.0%} intervals, by size of the model"
    across = Scale("test − validation, points", zero=True)
    return rows(title, names, Panel(traces, across), headings=headings)


def by_size(gaps: pd.DataFrame) -> pd.DataFrame:
    """Sort a `HalfGap` table from the largest models down, then by accuracy on the closed half."""
    keyed = gaps.assign(group=gaps["size_group"].map(SIZE_GROUPS.index))
    keys = ["group", "test", "model", "style", "shots"]
    return keyed.sort_values(keys, ascending=[True, False, True, True, True]).reset_index(drop=True)


def _names(table: pd.DataFrame) -> list[str]:
    keys = zip(table["model"], table["style"], table["shots"], strict=True)
    return [configuration_name(*key) for key in keys]


def plot_gaps_by_field(half_gap: pd.DataFrame) -> Any:
    """Draw Δ of models × fields as a heat map, orange where the public half is better."""
    title = "Test − validation in points by field; ! marks fields that look leaked"
    of_fields = by_size(half_gap[half_gap["field"].ne("")])
    if of_fields.empty:
        return nothing(title, "No field is reported separately in both halves.")
    of_fields = of_fields.assign(name=_names(of_fields)).set_index(["name", "field"])
    # The order of the other plot, by all fields together.
    whole = _names(by_size(half_gap[half_gap["field"].eq("")]))
    names = [name for name in whole if name in of_fields.index]
    fields = sorted(of_fields.index.unique("field"))
    placed = of_fields.reindex(pd.MultiIndex.from_product([names, fields]))
    cells = 100 * placed["delta"].to_numpy(np.float64).reshape(len(names), len(fields))
    marks = placed["suspicious"].to_numpy().reshape(cells.shape)
    texts = [
        [_written(*cell) for cell in zip(*row, strict=True)]
        for row in zip(cells.tolist(), marks.tolist(), strict=True)
    ]
    reach = max(float(np.nanmax(np.abs(cells), initial=0)), 1.0)
    ends = (-reach, reach)
    shown = distinct_names(names)
    return heatmap(title, shown, fields, cells.tolist(), texts, ends=ends, scale=_CELLS)


def _written(delta: float, mark: Any) -> str:
    if isnan(delta):
        return ""
    return f"{delta:+.1f}{'!' if mark is True else ''}".replace("-", "−")
