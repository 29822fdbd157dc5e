"""The distribution of difficulty over the items of a benchmark (MMLU-CF, Figure 4)."""

from typing import Any

import pandas as pd

from benchwright.reports.page.plot_style import KEPT, axis, clip, empty_plot, plain
from benchwright.reports.page.plots import PALETTE, legend_below, margin, plot

_LEVELS = range(10)
_BELOW = 96  # pixels below the plot: axis title, legend


def plot_judged_difficulty(judged_items: pd.DataFrame, judgements: pd.DataFrame) -> Any:
    """Draw the share of each level over the items: of all judges together, and of each."""
    title = "Difficulty from 0 (easiest) to 9: share of each level"
    if judged_items["level"].isna().all():
        return empty_plot(title, "No item has a level of difficulty.")
    whole = [("all judges", KEPT, judged_items["level"])]
    single = [
        (str(judge), colour, part["level"])
        for (judge, part), colour in zip(
            judgements.groupby("judge", sort=True), PALETTE[1:], strict=False
        )
    ]
    shown = whole + (single if len(single) > 1 else [])
    return plot(
        title,
        300 + _BELOW,
        [_line(*line, width=3 if line[0] == "all judges" else 1.5) for line in shown],
        xaxis=axis("level", type="category", showgrid=False),
        yaxis=axis("share of the rated items", tickformat=".0%", rangemode="tozero", nticks=6),
        legend=legend_below(56, 292),
        showlegend=True,
        margin=margin(_BELOW),
        hovermode="closest",
        meta={"narrow": {"layout.yaxis.title.text": "share"}},
    )


def _line(name: str, colour: str, levels: "pd.Series[float]", width: float) -> dict[str, Any]:
    known = levels.dropna()
    counts = [int((known == level).sum()) for level in _LEVELS]
    who = plain(clip(name, 40))
    return {
        "x": [str(level) for level in _LEVELS],
        "y": [n / max(len(known), 1) for n in counts],
        "customdata": counts,
        "mode": "lines+markers",
        "name": f"{who} (n = {len(known):,})",
        "line": {"color": colour, "width": width},
        "marker": {"color": colour, "size": 7},
        "hovertemplate": f"{who}, level %{{x}}: %{{y:.1%}}, n = %{{customdata:,}}<extra></extra>",
    }
