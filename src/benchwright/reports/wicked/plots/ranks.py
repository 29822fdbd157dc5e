"""Ranks of models on the original and on the copies, as lines between two rankings."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.params.evaluation import EvaluationParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page import plot_style as style
from benchwright.reports.page import plots
from benchwright.reports.wicked.plots.accuracy import NO_RESPONSES, choose_models

_LANES = 8  # intervals side by side, so that neighbours do not overlap
_LANE = 0.02


def plot_rank_shuffle(
    comparison_scores: pd.DataFrame, perturbation: PerturbationParams, evaluation: EvaluationParams
) -> Any:
    """Plot ranks on the original (left) and on the copies (right), with intervals over items."""
    title = "Ranks on the original (left) and on the copies (right): blue rose, orange fell"
    if comparison_scores.empty:
        return style.empty_plot(title, NO_RESPONSES)
    shown = choose_models(comparison_scores, perturbation, evaluation.rank_chart_models)
    if len(shown.scores) < 2:
        return style.empty_plot(title, "There is only one model to rank.")
    rows = shown.scores.to_dict("records")
    right = plots.places_by_rank(shown.scores["rank_mean"])
    ranks = {
        side: sorted(float(row[f"rank_{side}"]) for row in rows) for side in ("original", "mean")
    }
    traces = []
    for left, (name, row) in enumerate(zip(shown.names, rows, strict=True)):
        colour = plots.rank_colour(row["rank_original"], row["rank_mean"])
        hover = (
            f"{name}<br>original: {_describe(row, 'original')}<br>copies: {_describe(row, 'mean')}"
        )
        look = {"line": {"color": colour, "width": 2}, "marker": {"size": 6}}
        traces.append(
            plots.points([0, 1], [left, right[left]], hover, mode="lines+markers", **look)
        )
        lanes = {
            "original": -_LANE * (1 + left % _LANES),
            "mean": 1 + _LANE * (1 + right[left] % _LANES),
        }
        traces += [
            bar for side, x in lanes.items() for bar in _interval(row, side, x, ranks[side], colour)
        ]
    thinner = {
        f"data.{place}.line.width": 1.2 for place, trace in enumerate(traces) if "opacity" in trace
    }
    on_right = np.argsort(right)
    before = [f"{row['accuracy_original']:.1%}  <b>{row['rank_original']:g}</b>" for row in rows]
    after = [
        f"<b>{rows[at]['rank_mean']:g}</b>  {rows[at]['accuracy_mean']:.1%}" for at in on_right
    ]
    narrow = {
        "layout.yaxis.ticktext": [
            f"{short}  <b>{row['rank_original']:g}</b>"
            for short, row in zip(shown.short, rows, strict=True)
        ],
        "layout.yaxis2.ticktext": after,
        **thinner,
    }
    reach = _LANE * (_LANES + 1)
    fixed = {"showline": False, "fixedrange": True}
    names_after = [f"{score}  {shown.names[at]}" for score, at in zip(after, on_right, strict=True)]
    return plots.plot(
        f"{title}; bars: 95% intervals over items{shown.note}",
        60 + 26 * len(rows),
        [*traces, dict(plots.UNSEEN_ON_THE_RIGHT)],
        xaxis=style.axis(range=[-reach, 1 + reach], visible=False, fixedrange=True),
        yaxis=plots.rows_down(
            [f"{name}  {score}" for name, score in zip(shown.names, before, strict=True)], **fixed
        ),
        yaxis2=plots.rows_down(names_after, overlaying="y", side="right", **fixed),
        margin=plots.margin(12, right=8),
        hovermode="closest",
        showlegend=False,
        meta={"narrow": narrow},
    )


def _interval(
    row: dict[Any, Any], side: str, x: float, ranks: list[float], colour: str
) -> list[dict[str, Any]]:
    """Return the interval of a rank, interpolated between the rows of the models."""
    low, high = (row[f"rank_{side}_{end}"] for end in ("low", "high"))
    if pd.isna(low) or low == high:
        return []
    return [
        {
            "x": [x, x],
            "y": np.interp([low, high], ranks, np.arange(len(ranks))).tolist(),
            "mode": "lines",
            "line": {"color": colour, "width": 3},
            "opacity": 0.45,
            "hoverinfo": "skip",
        }
    ]


def _describe(row: dict[Any, Any], side: str) -> str:
    rank, low, high = (row[f"rank_{side}{end}"] for end in ("", "_low", "_high"))
    interval = "" if pd.isna(low) else f" [{low:g}, {high:g}]"
    return f"rank {rank:g}{interval}, {row[f'accuracy_{side}']:.1%}"
