"""Δ of each model in each field."""

from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.reports.half_gap.plots.gaps import by_size
from benchwright.reports.page.plot_style import (
    INK,
    KEPT,
    NARROW_NAME,
    REMOVED,
    axis,
    empty_figure,
    layout,
    plain,
    short_names,
)

_TITLE = "Test − validation in points by field; ! marks fields that look leaked"
_CELL = 26


def draw_gaps_by_field(half_gap: pd.DataFrame) -> Any:
    """Draw Δ of models × fields as a map: orange where the public half is the better one."""
    import plotly.graph_objects as go

    own = by_size(half_gap[half_gap["field"].ne("")])
    if own.empty:
        return empty_figure(_TITLE, "No field is told by itself in both halves.")
    own = own.assign(
        name=[
            configuration_name(*key)
            for key in zip(own["model"], own["style"], own["shots"], strict=True)
        ]
    )
    # In the order of the other figure: of all fields together.
    whole = by_size(half_gap[half_gap["field"].eq("")])
    names = [
        configuration_name(*key)
        for key in zip(whole["model"], whole["style"], whole["shots"], strict=True)
    ]
    names = [name for name in names if name in set(own["name"])]
    fields = sorted(own["field"].unique())
    placed = own.set_index(["name", "field"]).reindex(pd.MultiIndex.from_product([names, fields]))
    cells = 100 * placed["delta"].to_numpy(np.float64).reshape(len(names), len(fields))
    marks = placed["suspicious"].to_numpy().reshape(cells.shape).tolist()
    texts = [
        [_written(*cell) for cell in zip(*row, strict=True)]
        for row in zip(cells, marks, strict=True)
    ]
    reach = max(float(np.nanmax(np.abs(cells), initial=0)), 1.0)
    height = max(_CELL * len(names), 60)
    below = 30 + 6 * max(len(field) for field in fields)
    return go.Figure(
        [
            go.Heatmap(
                z=[[None if isnan(value) else value for value in row] for row in cells.tolist()],
                text=texts,
                texttemplate="%{text}" if len(fields) <= 16 else "",
                textfont={"size": 11},
                x=[plain(field) for field in fields],
                y=list(range(len(names))),
                zmin=-reach,
                zmax=reach,
                colorscale=[[0, REMOVED], [0.5, "rgba(128,128,128,0.06)"], [1, KEPT]],
                colorbar={"thickness": 10, "title": {"text": "points"}, "outlinewidth": 0},
                customdata=[[name] * len(fields) for name in short_names(names)],
                hovertemplate="%{customdata}<br>%{x}: %{z:+.1f} points<extra></extra>",
                xgap=1,
                ygap=1,
            )
        ],
        layout(
            _TITLE,
            height + below + 20,
            xaxis=axis(tickangle=-45, tickfont={"color": INK}, showgrid=False),
            yaxis=axis(
                tickvals=list(range(len(names))),
                ticktext=short_names(names),
                range=[len(names) - 0.5, -0.5],
                showgrid=False,
                fixedrange=True,
            ),
            margin={"l": 8, "r": 8, "t": 8, "b": below},
            meta={
                "narrow": {
                    "layout.yaxis.ticktext": short_names(names, NARROW_NAME),
                    "data.0.texttemplate": "",
                }
            },
        ),
    )


def _written(delta: float, mark: Any) -> str:
    if isnan(delta):
        return ""
    return f"{delta:+.1f}{'!' if mark is True else ''}".replace("-", "−")
