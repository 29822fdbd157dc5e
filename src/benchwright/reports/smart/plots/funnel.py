"""From source rows to kept items, as bars that grow shorter."""

from typing import Any

import pandas as pd

from benchwright.reports.page.plot_style import (
    KEPT,
    REMOVED,
    empty_figure,
    plain,
)
from benchwright.reports.page.plots import bars
from benchwright.reports.page.plots import funnel as funnel_of


def draw_funnel(funnel: pd.DataFrame) -> Any:
    """Draw what is left after each step that took something, and what it took."""
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
    traces = [
        bars(
            [int(row[part]) for row in rows],
            colour,
            f"%{{y}}: %{{x:,}} {words}",
            **{"y": labels, "name": words, **more},
        )
        for part, words, colour, more in (
            ("left", "left", KEPT, {}),
            ("removed", "taken", REMOVED, {"text": notes}),
        )
    ]
    reach = (1.3 * start, 1.75 * start)
    return funnel_of(title, 70 + 32 * len(rows), traces, reach, rangemode="tozero")
