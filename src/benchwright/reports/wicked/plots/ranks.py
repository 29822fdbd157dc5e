"""What the perturbation does to the order of models, as lines between two rankings."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.params.evaluation import EvaluationParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED, axis, empty_figure
from benchwright.reports.page.plots import margin, plot, rows_down
from benchwright.reports.wicked.plots.accuracy import NOBODY, Shown, choose_models

_LANES = 8  # intervals side by side, so that those of neighbours do not cover each other
_LANE = 0.02


class _Line(NamedTuple):
    """One model: its places on both sides from the top, from 0, its ranks and accuracies."""

    name: str
    short: str
    left: int
    right: int
    row: dict[Any, Any]


def draw_rank_shuffle(
    draw_scores: pd.DataFrame, perturbation: PerturbationParams, evaluation: EvaluationParams
) -> Any:
    """Draw each model's rank before (left) and on the draws (right), with intervals over items."""
    title = "Ranks of the models before (left) and on the draws (right): blue rose, orange fell"
    if draw_scores.empty:
        return empty_figure(title, NOBODY)
    shown = choose_models(draw_scores, perturbation, evaluation.rank_chart_models)
    if len(shown.scores) < 2:
        return empty_figure(title, "There is only one model to rank.")
    lines = _lines(shown)
    on_right = sorted(lines, key=lambda line: line.right)
    places = {"showline": False, "fixedrange": True}
    reach = _LANE * (_LANES + 1)
    # A second y axis exists only when a trace uses it.
    unseen = {"x": [1], "y": [0], "yaxis": "y2", "mode": "markers", "marker": {"opacity": 0}}
    traces = [trace for line in lines for trace in _traces(line, lines)]
    thinner = {
        f"data.{place}.line.width": 1.2 for place, trace in enumerate(traces) if "opacity" in trace
    }
    after = [_after(one) for one in on_right]
    before = [f"{one.short}  <b>{one.row['rank_original']:g}</b>" for one in lines]
    narrow = {"layout.yaxis.ticktext": before, "layout.yaxis2.ticktext": after, **thinner}
    right = [f"{said}  {one.name}" for said, one in zip(after, on_right, strict=True)]
    return plot(
        f"{title}; bars: 95% of the rank over items{shown.note}",
        60 + 26 * len(lines),
        [*traces, {**unseen, "showlegend": False, "hoverinfo": "skip"}],
        xaxis=axis(range=[-reach, 1 + reach], visible=False, fixedrange=True),
        yaxis=rows_down([f"{one.name}  {_before(one)}" for one in lines], **places),
        yaxis2=rows_down(right, overlaying="y", side="right", **places),
        margin=margin(12, right=8),
        hovermode="closest",
        showlegend=False,
        meta={"narrow": narrow},
    )


def _lines(shown: Shown) -> list[_Line]:
    """The models in order of the left side."""
    table = shown.scores
    left = np.arange(len(table))
    # Ties keep the order of the left side, so that lines only cross where a rank changed.
    right = np.empty(len(table), dtype=int)
    right[np.lexsort((left, table["rank_mean"].to_numpy()))] = left
    return [
        _Line(name, short, int(place), int(right[place]), row)
        for place, (name, short, row) in enumerate(
            zip(shown.names, shown.short, table.to_dict("records"), strict=True)
        )
    ]


def _traces(line: _Line, lines: list[_Line]) -> list[dict[str, Any]]:
    path = {
        "x": [0, 1],
        "y": [line.left, line.right],
        "mode": "lines+markers",
        "line": {"color": _colour(line), "width": 2},
        "marker": {"size": 6},
        "hovertemplate": f"{line.name}<br>before: {_said(line, 'original')}"
        f"<br>draws: {_said(line, 'mean')}<extra></extra>",
    }
    left = -_LANE * (1 + line.left % _LANES)
    right = 1 + _LANE * (1 + line.right % _LANES)
    return [path, *_bar(line, lines, "original", left), *_bar(line, lines, "mean", right)]


def _bar(line: _Line, lines: list[_Line], side: str, x: float) -> list[dict[str, Any]]:
    """The interval of a rank, between the places of the models that have such ranks."""
    low, high = (line.row[f"rank_{side}_{end}"] for end in ("low", "high"))
    if pd.isna(low) or low == high:
        return []
    ranks = sorted(float(one.row[f"rank_{side}"]) for one in lines)
    return [
        {
            "x": [x, x],
            "y": np.interp([low, high], ranks, np.arange(len(ranks))).tolist(),
            "mode": "lines",
            "line": {"color": _colour(line), "width": 3},
            "opacity": 0.45,
            "hoverinfo": "skip",
        }
    ]


def _before(line: _Line) -> str:
    return f"{line.row['accuracy_original']:.1%}  <b>{line.row['rank_original']:g}</b>"


def _after(line: _Line) -> str:
    return f"<b>{line.row['rank_mean']:g}</b>  {line.row['accuracy_mean']:.1%}"


def _said(line: _Line, side: str) -> str:
    rank, low, high = (line.row[f"rank_{side}{end}"] for end in ("", "_low", "_high"))
    interval = "" if pd.isna(low) else f" [{low:g}, {high:g}]"
    return f"rank {rank:g}{interval}, {line.row[f'accuracy_{side}']:.1%}"


def _colour(line: _Line) -> str:
    """Grey for no move, blue for up, orange for down."""
    before, after = line.row["rank_original"], line.row["rank_mean"]
    if before == after:
        return QUIET
    return KEPT if after < before else REMOVED
