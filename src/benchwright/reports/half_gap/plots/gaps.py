"""Δ of each model with its interval, by size (MMLU-CF, Table 1)."""

from typing import Any

import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.methods.mmlu_cf.splitting.gap import SIZE_GROUPS
from benchwright.params.mmlu_cf import HalfGapParams
from benchwright.reports.page.plot_style import (
    KEPT,
    NARROW_NAME,
    QUIET,
    REMOVED,
    axis,
    short_names,
)
from benchwright.reports.page.plots import legend_below, margin, plot, points, whiskers

_MARGINS = 8 + 96  # pixels above and below the plot: axis title, legend
_ROW = 24
_KINDS = ((False, "no alarm", KEPT, "circle"), (True, "looks leaked", REMOVED, "diamond"))


def draw_gaps(half_gap: pd.DataFrame, settings: HalfGapParams) -> Any:
    """Draw test − validation of each configuration, sizes one below the other, alarms marked."""
    table = by_size(half_gap[half_gap["field"].eq("")])
    names = [
        configuration_name(*key)
        for key in zip(table["model"], table["style"], table["shots"], strict=True)
    ]
    places, titles = _places(table["size_group"].tolist())
    labels = [*short_names(names), *(f"<b>{name}</b>" for name in titles.values())]
    narrow = [*short_names(names, NARROW_NAME), *(f"<b>{name}</b>" for name in titles.values())]
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
            ticktext=labels,
            range=[rows - 0.5, -0.5],
            showgrid=False,
            fixedrange=True,
        ),
        legend=legend_below(56, height),
        margin=margin(96),
        hovermode="closest",
        showlegend=True,
        meta={"narrow": {"layout.yaxis.ticktext": narrow, "layout.xaxis.nticks": 4}},
    )


def by_size(gaps: pd.DataFrame) -> pd.DataFrame:
    """A `HalfGap` table from the largest models down, each by accuracy on the closed half."""
    order = {group: place for place, group in enumerate(SIZE_GROUPS)}
    keyed = gaps.assign(group=gaps["size_group"].map(order))
    keys = ["group", "test", "model", "style", "shots"]
    return keyed.sort_values(keys, ascending=[True, False, True, True, True]).reset_index(drop=True)


def _places(groups: list[str]) -> tuple[list[int], dict[int, str]]:
    """The row of each model, and the rows that name a group."""
    places: list[int] = []
    titles: dict[int, str] = {}
    row = 0
    for number, group in enumerate(groups):
        if number == 0 or group != groups[number - 1]:
            titles[row] = group
            row += 1
        places.append(row)
        row += 1
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
    own = table[table["suspicious"].eq(alarm) & table["delta"].notna()]
    delta, low, high = (100 * own[name] for name in ("delta", "low", "high"))
    shown = short_names(names)
    bounds = [
        "no interval" if pd.isna(below) else f"[{below:+.1f}, {above:+.1f}]"
        for below, above in zip(low, high, strict=True)
    ]
    return points(
        delta.tolist(),
        [places[row] for row in own.index],
        "%{customdata[0]}<br>%{x:+.1f} points %{customdata[1]}",
        name=words,
        marker={"color": colour, "size": 9, "symbol": symbol},
        error_x=whiskers(delta, low, high, colour),
        customdata=[[shown[row], said] for row, said in zip(own.index, bounds, strict=True)],
    )
