"""Spread of scores under difficulty samplers, winners of choices, errors of estimates."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.methods.dele.evidence.choice import EVERYONE
from benchwright.methods.dele.evidence.score_spread import ALL_ITEMS
from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.wording import PANELS
from benchwright.reports.page.plot_style import (
    KEPT,
    QUIET,
    REMOVED,
    axis,
    empty_figure,
    layout,
    plain,
)

_ROW = 28  # pixels


def draw_score_spread(score_spread: pd.DataFrame, sampling: SamplingParams) -> Any:
    """Draw the distribution of models' scores on harder items, beside random ones of the size."""
    import plotly.graph_objects as go

    title = "Scores on items chosen for difficulty"
    rate = sampling.evidence.main_rate
    own = score_spread[(score_spread["rate"] == rate) | (score_spread["sampler"] == ALL_ITEMS)]
    if own.empty:
        return empty_figure(title, "No model judges.")
    own = own.reset_index(drop=True)
    names = [plain(name) for name in own["sampler"]]
    first = own.iloc[0]
    title += (
        f": {rate:g}% of the items, {int(first['n_models']):,} {PANELS[str(first['panel'])]}; "
        "5–95% and 25–75% of the models, the median as a dot"
    )
    traces: list[Any] = []
    for low, high, width, label in (("q05", "q95", 4, "5–95%"), ("q25", "q75", 11, "25–75%")):
        x: list[float | None] = []
        y: list[int | None] = []
        for place, row in enumerate(own.to_dict("records")):
            x += [float(row[low]), float(row[high]), None]
            y += [place, place, None]
        line = {"color": KEPT, "width": width}
        traces.append(
            go.Scatter(
                x=x, y=y, mode="lines", line=line, opacity=0.55, name=label, hoverinfo="skip"
            )
        )
    traces.append(
        go.Scatter(
            x=own["median"].round(3).tolist(),
            y=list(range(len(own))),
            mode="markers",
            marker={"color": REMOVED, "size": 8},
            name="median",
            customdata=np.stack([own["sd"], own["random_sd_low"], own["random_sd_high"]], 1)
            .round(2)
            .tolist(),
            text=names,
            hovertemplate="%{text}: median %{x:.1f}, sd %{customdata[0]:.1f}; random "
            "[%{customdata[1]:.1f}, %{customdata[2]:.1f}]<extra></extra>",
        )
    )
    return _rows(go, traces, names, title, "score, in points")


def draw_winners(sampler_choice: pd.DataFrame, subject_winners: pd.DataFrame) -> Any:
    """Draw how often each sampler was chosen, over subjects where there are any, else splits."""
    import plotly.graph_objects as go

    by_subject = len(subject_winners) > 0
    over = "subjects" if by_subject else "splits of the models"
    title = f"How often each sampler was chosen, over {over}"
    splits = sampler_choice[sampler_choice["split"] != EVERYONE]
    winners = (subject_winners if by_subject else splits)["winner"]
    counts = winners[winners.ne("")].value_counts()
    if counts.empty:
        return empty_figure(title, "No sampler was chosen: too few models, or no figures.")
    counts = counts.sort_index().sort_values(ascending=False, kind="stable")
    names = [plain(name) for name in counts.index]
    bars = go.Bar(
        x=counts.tolist(),
        y=list(range(len(counts))),
        orientation="h",
        marker={"color": [QUIET if name == "random" else KEPT for name in counts.index]},
        hovertemplate="%{x}<extra></extra>",
        showlegend=False,
    )
    return _rows(go, [bars], names, title, f"of {int(counts.sum()):,}")


def _rows(go: Any, traces: list[Any], names: list[str], title: str, unit: str) -> Any:
    height = _ROW * len(names) + 90
    down = axis(
        tickvals=list(range(len(names))),
        ticktext=names,
        range=[len(names) - 0.4, -0.6],
        showgrid=False,
        fixedrange=True,
    )
    return go.Figure(
        traces,
        layout(
            title,
            height,
            xaxis=axis(unit, fixedrange=True),
            yaxis=down,
            hovermode="closest",
            legend={"orientation": "h", "x": 0, "y": -62 / (height - 90), "yanchor": "top"},
            margin={"l": 8, "r": 16, "t": 8, "b": 82},
        ),
    )
