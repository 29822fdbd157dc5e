"""The fields of both halves side by side (MMLU-CF, Figure 6)."""

from typing import Any

import pandas as pd

from benchwright.reports.mmlu_cf.plots.colours import CLOSED, PUBLIC
from benchwright.reports.page.plot_style import NARROW_NAME, axis, clip, empty_figure, layout, plain

_HALVES = (("validation", "public half", PUBLIC), ("test", "closed half", CLOSED))


def draw_field_halves(keyed_split_assignment: pd.DataFrame) -> Any:
    """Draw how many questions of each field stand in each half, the most frequent field first."""
    import plotly.graph_objects as go

    title = "Questions of each field in the public and in the closed half"
    if keyed_split_assignment.empty:
        return empty_figure(title, "The halves have no questions.")
    counts = count_field_halves(keyed_split_assignment)
    names = [plain(clip(name or "no field", 40)) for name in counts.index]
    rows = list(range(len(names)))
    bars = [
        go.Bar(
            y=rows,
            x=counts[half].tolist(),
            orientation="h",
            name=name,
            marker={"color": colour, "line": {"width": 0}},
            text=[f"{n:,}" for n in counts[half]],
            textposition="outside",
            cliponaxis=False,
            customdata=names,
            hovertemplate=f"%{{customdata}}: %{{x:,}} in the {name}<extra></extra>",
        )
        for half, name, colour in _HALVES
    ]
    height = 34 * len(rows)
    return go.Figure(
        bars,
        layout(
            title,
            height + 78,
            barmode="group",
            bargap=0.3,
            xaxis=axis(range=[0, 1.12 * int(counts.to_numpy().max())], tickformat=",d", nticks=6),
            yaxis=axis(
                tickvals=rows, ticktext=names, range=[len(rows) - 0.5, -0.5], showgrid=False
            ),
            legend={"orientation": "h", "y": -36 / height, "yanchor": "top", "x": 0},
            margin={"l": 8, "r": 16, "t": 8, "b": 70},
            meta={
                "narrow": {
                    "layout.xaxis.nticks": 4,
                    "layout.yaxis.ticktext": [
                        plain(clip(name or "no field", NARROW_NAME)) for name in counts.index
                    ],
                }
            },
        ),
    )


def count_field_halves(assignment: pd.DataFrame) -> pd.DataFrame:
    """Questions by field (rows, most frequent first) and half (columns validation, test)."""
    counts = pd.crosstab(assignment["field"], assignment["half"])
    counts = counts.reindex(columns=[half for half, _, _ in _HALVES], fill_value=0)
    order = counts.sum(axis=1).sort_values(ascending=False, kind="stable").index
    return counts.loc[order]
