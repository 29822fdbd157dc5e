"""How difficult the questions are after each step (MMLU-CF, Figures 4 and 8)."""

from typing import Any

import pandas as pd

from benchwright.methods.mmlu_cf.summary.levels import known_share
from benchwright.reports.mmlu_cf.plots.colours import POOLS
from benchwright.reports.page.plot_style import QUIET, axis, empty_figure, layout

_SYMBOLS = {"rated": "circle", "sampled": "square", "checked": "diamond", "final": "triangle-up"}
_UNKNOWN = "?"
_LEVELS = [str(level) for level in range(10)]


def draw_difficulty_levels(difficulty_counts: pd.DataFrame) -> Any:
    """Draw the share of each level among the questions of each step, with the sample's target."""
    import plotly.graph_objects as go

    title = "Difficulty from 0 (easiest) to 9: share of each level after each step, and the target"
    if not any(known_share(difficulty_counts, pool) for pool in POOLS):
        return empty_figure(title, "Nobody judged how difficult the questions are.")
    unknown = bool(difficulty_counts.loc[difficulty_counts["level"] < 0, "n"].sum())
    levels = [*_LEVELS, *([_UNKNOWN] if unknown else [])]
    traces = [_target(difficulty_counts)]
    traces += [_line(difficulty_counts, pool, unknown=unknown) for pool in POOLS]
    below = 118
    return go.Figure(
        [trace for trace in traces if trace is not None],
        layout(
            f"{title}; ? is not known" if unknown else title,
            320 + below,
            xaxis=axis("level", type="category", categoryarray=levels, showgrid=False),
            yaxis=axis("share of the step", tickformat=".0%", rangemode="tozero", nticks=6),
            legend={"orientation": "h", "y": -60 / 312, "yanchor": "top", "x": 0},
            margin={"l": 8, "r": 16, "t": 8, "b": below},
            hovermode="closest",
            meta={
                "narrow": {
                    "layout.legend.orientation": "v",
                    "layout.margin.b": below + 66,
                    "layout.height": 320 + below + 66,
                    "layout.yaxis.title.text": "share",
                }
            },
        ),
    )


def _line(counts: pd.DataFrame, pool: str, *, unknown: bool) -> Any:
    import plotly.graph_objects as go

    own = counts[counts["pool"] == pool].set_index("level")
    total = int(own["n"].sum())
    if not total:
        return None
    known = [int(level) for level in _LEVELS]
    n = own["n"].reindex([*known, -1]).fillna(0).astype(int).tolist()
    share: list[float | None] = own["share"].reindex([*known, -1]).fillna(0).tolist()
    x = list(_LEVELS)
    if unknown:
        # A gap, so that no line joins the levels to "not known", which is none.
        x, n, share = [*x, _UNKNOWN, _UNKNOWN], [*n[:-1], 0, n[-1]], [*share[:-1], None, share[-1]]
    colour = POOLS[pool]
    return go.Scatter(
        x=x,
        y=share[: len(x)],
        customdata=n[: len(x)],
        mode="lines+markers",
        connectgaps=False,
        name=f"{pool} (n = {total:,})",
        line={"color": colour, "width": 2},
        marker={"color": colour, "size": 8, "symbol": _SYMBOLS[pool]},
        hovertemplate=f"{pool}, level %{{x}}: %{{y:.1%}}, n = %{{customdata:,}}<extra></extra>",
    )


def _target(counts: pd.DataFrame) -> Any:
    import plotly.graph_objects as go

    own = counts[(counts["pool"] == "sampled") & (counts["level"] >= 0)]
    own = own[own["expected"].notna()].sort_values("level")
    if own.empty:
        return None
    return go.Scatter(
        x=[str(level) for level in own["level"]],
        y=own["expected"].tolist(),
        mode="lines",
        name="target of the sample",
        line={"color": QUIET, "width": 2, "dash": "dot"},
        hovertemplate="target, level %{x}: %{y:.1%}<extra></extra>",
    )
