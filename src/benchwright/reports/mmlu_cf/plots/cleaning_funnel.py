"""The cleaning funnel, rule by rule."""

from typing import Any

import pandas as pd

from benchwright.reports.page.plot_style import (
    KEPT,
    QUIET,
    REMOVED,
    empty_figure,
    plain,
)
from benchwright.reports.page.plots import bars, funnel


def draw_cleaning_funnel(cleaning_funnel: pd.DataFrame) -> Any:
    """Draws what is left after each rule, what it rejected, and how many rows it rewrote."""
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
    colours = [QUIET, *[KEPT] * len(rows)]
    traces = [
        bars(left, colours, "%{y}: %{x:,} left", y=labels, name="left"),
        bars(out, REMOVED, "%{y}: %{x:,} rejected", y=labels, name="rejected", text=notes),
    ]
    reach = (1.35 * start, 1.8 * start)
    return funnel(title, 70 + 28 * len(labels), traces, reach, rangemode="tozero")


def _note(row: dict[Any, Any]) -> str:
    if row["kind"] == "rewrite":
        return f"{row['changed']:,} rewritten" if row["changed"] else ""
    return f"−{row['rejected']:,} → {row['rows_out']:,}" if row["rejected"] else ""
