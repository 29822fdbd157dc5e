"""Plot of the items that each model completes from memory (MMLU-CF, Figure 1)."""

from typing import Any

import pandas as pd

from benchwright.params.mmlu_cf import MemorisationParams
from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED, distinct_names
from benchwright.reports.page.shapes import Panel, Scale, dots, nothing, rows

_PARTS = (
    ("exact", "all options verbatim", REMOVED, "diamond", -0.22),
    ("fuzzy", "all options similar", KEPT, "circle", 0.0),
    ("control_whole", "all options of the control similar", QUIET, "circle-open", 0.22),
)
_MOST = 60  # models beyond this are in the table alone


def plot_memorisation(memorisation_summary: pd.DataFrame, settings: MemorisationParams) -> Any:
    """Draw the shares of items and controls that each model completes, with intervals."""
    title = f"Items with all options written in place, with {settings.level:.0%} intervals"
    if memorisation_summary.empty:
        return nothing(title, "No model wrote options.")
    table = memorisation_summary.sort_values(["fuzzy", "exact", "model"], ascending=[False] * 3)
    table = table.reset_index(drop=True)
    if len(table) > _MOST:
        title += f"; the {_MOST} highest of {len(table):,} models"
        table = table[:_MOST]
    names = distinct_names([str(model) for model in table["model"]])
    traces = []
    for column, words, colour, symbol, lane in _PARTS:
        own = table[table[column].notna()]
        share, low, high = (own[f"{column}{end}"] for end in ("", "_low", "_high"))
        hover = [
            f"{names[row]}, {words}: {value:.1%} [{below:.1%}, {above:.1%}]"
            for row, value, below, above in zip(own.index, share, low, high, strict=True)
        ]
        places = own.index + lane
        traces.append(
            dots(share, places, colour, words, hover=hover, across=(low, high), symbol=symbol)
        )
    across = Scale("share of items", ".1%", zero=True)
    return rows(title, names, Panel(traces, across), row=46)
