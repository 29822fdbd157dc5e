"""How many replies of the judges could be read."""

from typing import Any

import pandas as pd

from benchwright.methods.mmlu_cf.summary.parse_rates import AGAIN, ParseRate, parse_rates
from benchwright.reports.page.plot_style import (
    KEPT,
    NARROW_NAME,
    QUIET,
    REMOVED,
    axis,
    clip,
    empty_figure,
    layout,
    plain,
)

_SHORT = {AGAIN: "again"}


def draw_parse_rates(
    field_rounds: pd.DataFrame,
    difficulty_rounds: pd.DataFrame,
    checking_rounds: pd.DataFrame,
    difficulty_again_rounds: pd.DataFrame,
) -> Any:
    """Draw the share of messages answered readably: at once, when asked again, never."""
    import plotly.graph_objects as go

    title = "Replies of the judges: read at once (blue), when asked again (grey), never (orange)"
    rates = parse_rates(field_rounds, difficulty_rounds, checking_rounds, difficulty_again_rounds)
    if not rates:
        return empty_figure(title, "No judge was asked.")
    rows = list(range(len(rates)))
    names = [_name(rate, 34) for rate in rates]
    parts = (
        ("at once", [rate.first for rate in rates], KEPT),
        ("when asked again", [rate.read - rate.first for rate in rates], QUIET),
        ("never", [1 - rate.read for rate in rates], REMOVED),
    )
    return go.Figure(
        [
            go.Bar(
                y=rows,
                x=shares,
                orientation="h",
                marker={"color": colour, "line": {"width": 0}},
                customdata=[
                    f"{name} ({rate.asked:,} asked)"
                    for name, rate in zip(names, rates, strict=True)
                ],
                hovertemplate=f"%{{customdata}}<br>{what}: %{{x:.1%}}<extra></extra>",
            )
            for what, shares, colour in parts
        ],
        layout(
            title,
            60 + 30 * len(rows),
            barmode="stack",
            bargap=0.35,
            showlegend=False,
            margin={"l": 8, "r": 16, "t": 8, "b": 30},
            xaxis=axis(range=[0, 1], tickformat=".0%", nticks=6),
            yaxis=axis(
                tickvals=rows, ticktext=names, range=[len(rows) - 0.5, -0.5], showgrid=False
            ),
            meta={
                "narrow": {
                    "layout.xaxis.nticks": 4,
                    "layout.yaxis.ticktext": [_name(rate, NARROW_NAME - 8) for rate in rates],
                }
            },
        ),
    )


def _name(rate: ParseRate, most: int) -> str:
    return plain(f"{_SHORT.get(rate.task, rate.task)}: {clip(rate.judge, most)}")
