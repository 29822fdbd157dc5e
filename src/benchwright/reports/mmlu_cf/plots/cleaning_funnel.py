"""The cleaning funnel, rule by rule."""

from typing import Any

import pandas as pd

from benchwright.reports.page.plot_style import (
    KEPT,
    QUIET,
    REMOVED,
    axis,
    empty_figure,
    layout,
    plain,
)


def draw_cleaning_funnel(cleaning_funnel: pd.DataFrame) -> Any:
    """Draws what is left after each rule, what it rejected, and how many rows it rewrote."""
    import plotly.graph_objects as go

    title = "From raw to clean items: left after each rule (blue) and rejected by it (orange)"
    if cleaning_funnel.empty:
        return empty_figure(title, "No rule ran.")
    start = int(cleaning_funnel["rows_in"].iloc[0])
    if not start:
        return empty_figure(title, "No question was found in the documents.")
    rows = cleaning_funnel.to_dict("records")
    labels = ["raw items", *(plain(str(row["rule"]).replace("_", " ")) for row in rows)]
    left = [start, *(int(row["rows_out"]) for row in rows)]
    out = [0, *(int(row["rejected"]) for row in rows)]
    notes = [f"{start:,}", *map(_note, rows)]
    notes[-1] = f"{notes[-1] or f'{left[-1]:,}'} · {left[-1] / start:.1%}"
    bars = [
        go.Bar(
            y=labels,
            x=left,
            orientation="h",
            name="left",
            marker={"color": [QUIET, *[KEPT] * len(rows)], "line": {"width": 0}},
            hovertemplate="%{y}: %{x:,} left<extra></extra>",
        ),
        go.Bar(
            y=labels,
            x=out,
            orientation="h",
            name="rejected",
            marker={"color": REMOVED, "line": {"width": 0}},
            text=notes,
            textposition="outside",
            cliponaxis=False,
            constraintext="none",
            hovertemplate="%{y}: %{x:,} rejected<extra></extra>",
        ),
    ]
    return go.Figure(
        bars,
        layout(
            title,
            70 + 28 * len(labels),
            barmode="stack",
            bargap=0.35,
            showlegend=False,
            margin={"l": 8, "r": 8, "t": 48, "b": 30},
            xaxis=axis(range=[0, 1.35 * start], rangemode="tozero", tickformat=",d", nticks=6),
            yaxis=axis(autorange="reversed", showgrid=False),
            meta={"narrow": {"layout.xaxis.range": [0, 1.8 * start], "layout.xaxis.nticks": 4}},
        ),
    )


def _note(row: dict[Any, Any]) -> str:
    if row["kind"] == "rewrite":
        return f"{row['changed']:,} rewritten" if row["changed"] else ""
    return f"−{row['rejected']:,} → {row['rows_out']:,}" if row["rejected"] else ""
