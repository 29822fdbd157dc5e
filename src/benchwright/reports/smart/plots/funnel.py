"""From source rows to kept items, as bars that grow shorter."""

from typing import Any

import pandas as pd

from benchwright.reports.page.plot_style import (
    KEPT,
    REMOVED,
    axis,
    empty_figure,
    layout,
    plain,
)


def draw_funnel(funnel: pd.DataFrame) -> Any:
    """Draw what is left after each step that took something, and what it took."""
    import plotly.graph_objects as go

    title = "From source rows to kept items: left after each step (blue) and taken by it (orange)"
    if funnel.empty:
        return empty_figure(title, "Nothing was counted.")
    shown = funnel[(funnel["kind"] != "removed") | (funnel["removed"] > 0)]
    rows = shown.to_dict("records")
    labels = [plain(str(row["step"]).replace("_", " ")) for row in rows]
    start = max(int(funnel["left"].iloc[0]), 1)
    notes = [
        f"−{row['removed']:,} → {row['left']:,}"
        if row["kind"] == "removed"
        else f"{row['left']:,} · {row['left'] / start:.1%}"
        for row in rows
    ]
    bars = [
        go.Bar(
            y=labels,
            x=[int(row["left"]) for row in rows],
            orientation="h",
            name="left",
            marker={"color": KEPT, "line": {"width": 0}},
            hovertemplate="%{y}: %{x:,} left<extra></extra>",
        ),
        go.Bar(
            y=labels,
            x=[int(row["removed"]) for row in rows],
            orientation="h",
            name="taken",
            marker={"color": REMOVED, "line": {"width": 0}},
            text=notes,
            textposition="outside",
            cliponaxis=False,
            constraintext="none",
            hovertemplate="%{y}: %{x:,} taken<extra></extra>",
        ),
    ]
    return go.Figure(
        bars,
        layout(
            title,
            70 + 32 * len(rows),
            barmode="stack",
            bargap=0.35,
            showlegend=False,
            margin={"l": 8, "r": 8, "t": 48, "b": 30},
            xaxis=axis(range=[0, 1.3 * start], rangemode="tozero", tickformat=",d", nticks=6),
            yaxis=axis(autorange="reversed", showgrid=False),
            meta={"narrow": {"layout.xaxis.range": [0, 1.75 * start], "layout.xaxis.nticks": 4}},
        ),
    )
