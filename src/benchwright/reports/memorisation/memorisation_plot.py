"""Plot of the items that each model completes from memory (MMLU-CF, Figure 1)."""

from typing import Any

import pandas as pd

from benchwright.params.mmlu_cf import MemorisationParams
from benchwright.reports.page.plot_style import (
    KEPT,
    NARROW_NAME,
    QUIET,
    REMOVED,
    axis,
    empty_plot,
    short_names,
)
from benchwright.reports.page.plots import legend_below, margin, plot, points, rows_down, whiskers

_PARTS = (
    ("exact", "all options verbatim", REMOVED, "diamond", -0.22),
    ("fuzzy", "all options similar", KEPT, "circle", 0.0),
    ("control_whole", "all options of the control similar", QUIET, "circle-open", 0.22),
)
_MARGINS = 8 + 122  # pixels above and below the plot: axis title, legend
_MOST = 60  # models beyond this are in the table alone


def plot_memorisation(memorisation_summary: pd.DataFrame, settings: MemorisationParams) -> Any:
    """Draw the shares of items and controls that each model completes, with intervals."""
    title = f"Items with all options written in place, with {settings.level:.0%} intervals"
    if memorisation_summary.empty:
        return empty_plot(title, "No model wrote options.")
    table = memorisation_summary.sort_values(["fuzzy", "exact", "model"], ascending=[False] * 3)
    if len(table) > _MOST:
        title += f"; the {_MOST} highest of {len(table):,} models"
        table = table[:_MOST]
    names = [str(model) for model in table["model"]]
    height = max(46 * len(table), 60)
    narrow = {"layout.yaxis.ticktext": short_names(names, NARROW_NAME), "layout.xaxis.nticks": 4}
    return plot(
        title,
        height + _MARGINS,
        [_points(table, *part) for part in _PARTS],
        xaxis=axis("share of items", tickformat=".1~%", rangemode="tozero", nticks=7),
        yaxis=rows_down(short_names(names), fixedrange=True),
        legend=legend_below(56, height),
        margin=margin(122),
        hovermode="closest",
        meta={"narrow": narrow},
    )


def _points(
    table: pd.DataFrame, column: str, words: str, colour: str, symbol: str, lane: float
) -> dict[str, Any]:
    known = table[column].notna().to_numpy()
    share, low, high = (table.loc[known, f"{column}{end}"] for end in ("", "_low", "_high"))
    names = short_names([str(model) for model in table.loc[known, "model"]])
    bounds = [f"[{below:.1%}, {above:.1%}]" for below, above in zip(low, high, strict=True)]
    return points(
        share.tolist(),
        [place + lane for place, there in enumerate(known) if there],
        f"%{{customdata[0]}}<br>{words}: %{{x:.1%}} %{{customdata[1]}}",
        name=words,
        marker={"color": colour, "size": 9, "symbol": symbol, "line": {"width": 2}},
        error_x=whiskers(share, low, high, colour),
        customdata=[list(pair) for pair in zip(names, bounds, strict=True)],
    )
