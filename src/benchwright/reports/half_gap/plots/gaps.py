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
    layout,
    short_names,
)

_MARGINS = 8 + 96  # pixels above and below the plot: axis title, legend
_ROW = 24
_KINDS = ((False, "no alarm", KEPT, "circle"), (True, "looks leaked", REMOVED, "diamond"))


def draw_gaps(half_gap: pd.DataFrame, settings: HalfGapParams) -> Any:
    """Draw test − validation of each configuration, sizes one below the other, alarms marked."""
    import plotly.graph_objects as go

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
    return go.Figure(
        [
            _points(table, names, places, alarm, words, colour, symbol)
            for alarm, words, colour, symbol in _KINDS
            if alarm in set(table["suspicious"]) or not alarm
        ],
        layout(
            f"Test − validation in points, {settings.level:.0%} intervals, by size of the model",
            height + _MARGINS,
            xaxis=axis("test − validation, points", rangemode="tozero", nticks=8)
            | {"zeroline": True, "zerolinecolor": QUIET},
            yaxis=axis(
                tickvals=[*places, *titles],
                ticktext=labels,
                range=[rows - 0.5, -0.5],
                showgrid=False,
                fixedrange=True,
            ),
            legend={"orientation": "h", "y": -56 / height, "yanchor": "top", "x": 0},
            margin={"l": 8, "r": 16, "t": 8, "b": 96},
            hovermode="closest",
            showlegend=True,
            meta={"narrow": {"layout.yaxis.ticktext": narrow, "layout.xaxis.nticks": 4}},
        ),
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
) -> Any:
    import plotly.graph_objects as go

    own = table[table["suspicious"].eq(alarm) & table["delta"].notna()]
    delta, low, high = (100 * own[name] for name in ("delta", "low", "high"))
    return go.Scatter(
        x=delta.tolist(),
        y=[places[row] for row in own.index],
        mode="markers",
        name=words,
        marker={"color": colour, "size": 9, "symbol": symbol},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (high - delta).fillna(0).tolist(),
            "arrayminus": (delta - low).fillna(0).tolist(),
            "color": colour,
            "thickness": 1.5,
            "width": 4,
        },
        customdata=[
            [
                short_names(names)[row],
                "no interval" if pd.isna(below) else f"[{below:+.1f}, {above:+.1f}]",
            ]
            for row, below, above in zip(own.index, low, high, strict=True)
        ],
        hovertemplate="%{customdata[0]}<br>%{x:+.1f} points %{customdata[1]}<extra></extra>",
    )
