"""Whole items written from memory, model by model (MMLU-CF, Figure 1)."""

from typing import Any

import pandas as pd

from benchwright.params.mmlu_cf import MemorisationParams
from benchwright.reports.page.plot_style import (
    KEPT,
    NARROW_NAME,
    QUIET,
    REMOVED,
    axis,
    empty_figure,
    layout,
    short_names,
)

_PARTS = (
    ("exact", "all options verbatim", REMOVED, "diamond", -0.22),
    ("fuzzy", "all options similar", KEPT, "circle", 0.0),
    ("control_whole", "all options of the control similar", QUIET, "circle-open", 0.22),
)
_MARGINS = 8 + 122  # pixels above and below the plot: axis title, legend
_MOST = 60  # models beyond this are in the table alone


def draw_memorisation(memorisation_summary: pd.DataFrame, settings: MemorisationParams) -> Any:
    """Draw the shares of items that each model writes whole, and of controls, with intervals."""
    import plotly.graph_objects as go

    title = f"Items whose options are all written in place, with {settings.level:.0%} intervals"
    if memorisation_summary.empty:
        return empty_figure(title, "No model wrote options.")
    table = memorisation_summary.sort_values(["fuzzy", "exact", "model"], ascending=[False] * 3)
    if len(table) > _MOST:
        title += f"; the {_MOST} highest of {len(table):,} models"
        table = table[:_MOST]
    names = [str(model) for model in table["model"]]
    rows = len(table)
    height = max(46 * rows, 60)
    return go.Figure(
        [_points(table, *part) for part in _PARTS],
        layout(
            title,
            height + _MARGINS,
            xaxis=axis("share of items", tickformat=".1~%", rangemode="tozero", nticks=7),
            yaxis=axis(
                tickvals=list(range(rows)),
                ticktext=short_names(names),
                range=[rows - 0.5, -0.5],
                showgrid=False,
                fixedrange=True,
            ),
            legend={"orientation": "h", "y": -56 / height, "yanchor": "top", "x": 0},
            margin={"l": 8, "r": 16, "t": 8, "b": 122},
            hovermode="closest",
            meta={
                "narrow": {
                    "layout.yaxis.ticktext": short_names(names, NARROW_NAME),
                    "layout.xaxis.nticks": 4,
                }
            },
        ),
    )


def _points(
    table: pd.DataFrame, column: str, words: str, colour: str, symbol: str, lane: float
) -> Any:
    import plotly.graph_objects as go

    known = table[column].notna().to_numpy()
    own = table[known]
    share = own[column]
    low, high = own[f"{column}_low"], own[f"{column}_high"]
    return go.Scatter(
        x=share.tolist(),
        y=[place + lane for place, there in enumerate(known) if there],
        mode="markers",
        name=words,
        marker={"color": colour, "size": 9, "symbol": symbol, "line": {"width": 2}},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (high - share).tolist(),
            "arrayminus": (share - low).tolist(),
            "color": colour,
            "thickness": 1.5,
            "width": 4,
        },
        customdata=[
            [name, f"[{below:.1%}, {above:.1%}]"]
            for name, below, above in zip(
                short_names([str(model) for model in own["model"]]), low, high, strict=True
            )
        ],
        hovertemplate=f"%{{customdata[0]}}<br>{words}: %{{x:.1%}} %{{customdata[1]}}"
        "<extra></extra>",
    )
