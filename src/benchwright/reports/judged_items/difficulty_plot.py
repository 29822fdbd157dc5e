"""The distribution of difficulty over the items of a benchmark (MMLU-CF, Figure 4)."""

from typing import Any

import pandas as pd

from benchwright.reports.page.plot_style import KEPT, clip
from benchwright.reports.page.shapes import PALETTE, Scale, Trace, curves, line, nothing

_LEVELS = range(10)


def plot_judged_difficulty(judged_items: pd.DataFrame, judgements: pd.DataFrame) -> Any:
    """Draw the share of each level over the items: of all judges together, and of each."""
    title = "Difficulty from 0 (easiest) to 9: share of each level"
    if judged_items["level"].isna().all():
        return nothing(title, "No item has a level of difficulty.")
    traces = [_line("all judges", KEPT, judged_items["level"])]
    single = list(judgements.groupby("judge", sort=True)["level"])
    if len(single) > 1:
        traces += [
            _line(str(judge), colour, levels)
            for (judge, levels), colour in zip(single, PALETTE[1:], strict=False)
        ]
    x = Scale("level", ticks={level: str(level) for level in _LEVELS})
    return curves(title, traces, x, Scale("share of the rated items", ".0%", zero=True))


def _line(name: str, colour: str, levels: "pd.Series[float]") -> Trace:
    known = levels.dropna()
    counts = [int((known == level).sum()) for level in _LEVELS]
    shares = [n / max(len(known), 1) for n in counts]
    who = f"{clip(name, 40)} (n = {len(known):,})"
    hover = [
        f"{who}, level {level}: {share:.1%}, n = {n:,}"
        for level, share, n in zip(_LEVELS, shares, counts, strict=True)
    ]
    return line(_LEVELS, shares, colour, who, hover=hover, markers=True)
