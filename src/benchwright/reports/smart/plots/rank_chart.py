"""What filtering does to the ranking of models, as a chart of lines between two rankings."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.evidence.scores import spread
from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.page.plot_style import (
    KEPT,
    NARROW_NAME,
    QUIET,
    REMOVED,
    axis,
    empty_figure,
    short_names,
)
from benchwright.reports.page.plots import margin, plot, points


class _Line(NamedTuple):
    """One model: its places from the top on both sides, and what its labels say."""

    name: str
    short_name: str
    left: int
    right: int
    before: str
    after: str
    colour: str
    rank_before: float


def draw_rank_chart(scores: pd.DataFrame, evaluation: EvaluationParams) -> Any:
    """Draw each model's rank on all items (left) and on the kept items (right)."""
    title = "Ranks of the models on all items (left) and kept items (right): blue rose, orange fell"
    table = scores.dropna(subset=["rank_full", "rank_kept"])
    if table.empty:
        return empty_figure(title, "No model has a score on both.")
    shown = spread([str(model) for model in table["model"]], evaluation.rank_chart_models)
    if len(shown) < len(table):
        title += f"; {len(shown)} of {len(table):,} models"
    lines = _lines(table[table["model"].isin(shown)].sort_values(["rank_full", "model"]))
    traces = [
        points(
            [0, 1],
            [line.left, line.right],
            f"{line.name}<br>all items: {line.before}<br>kept items: {line.after}",
            mode="lines+markers",
            line={"color": line.colour, "width": 2},
            marker={"size": 6},
            showlegend=False,
        )
        for line in lines
    ]
    # A second y axis exists only when a trace uses it.
    unseen = {"x": [1], "y": [0], "yaxis": "y2", "mode": "markers", "marker": {"opacity": 0}}
    traces.append({"type": "scatter", **unseen, "showlegend": False, "hoverinfo": "skip"})
    on_right = sorted(lines, key=lambda line: line.right)
    places: dict[str, Any] = {
        "tickvals": list(range(len(lines))),
        "range": [len(lines) - 0.5, -0.5],
        "showgrid": False,
        "showline": False,
        "fixedrange": True,
    }
    names_before = [f"{line.name}  {line.before}" for line in lines]
    names_after = [f"{line.after}  {line.name}" for line in on_right]
    return plot(
        title,
        90 + 24 * len(lines),
        traces,
        xaxis=axis(range=[-0.03, 1.03], visible=False, fixedrange=True),
        yaxis=axis(ticktext=names_before, **places),
        yaxis2=axis(ticktext=names_after, overlaying="y", side="right", **places),
        margin=margin(12, top=48, right=8),
        hovermode="closest",
        meta={
            "narrow": {
                "layout.yaxis.ticktext": [
                    f"{line.short_name}  <b>{line.rank_before:g}</b>" for line in lines
                ],
                "layout.yaxis2.ticktext": [line.after for line in on_right],
            }
        },
    )


def _lines(table: pd.DataFrame) -> list[_Line]:
    """The models in order of the left side."""
    left = np.arange(len(table))
    # Ties keep the order of the left side, so that lines only cross where a rank changed.
    right = np.empty(len(table), dtype=int)
    right[np.lexsort((left, table["rank_kept"].to_numpy()))] = left
    models = [str(model) for model in table["model"]]
    rows = table.to_dict("records")
    names = zip(short_names(models), short_names(models, NARROW_NAME), strict=True)
    return [
        _Line(
            name,
            short_name,
            int(place),
            int(right[place]),
            f"{row['accuracy_full']:.1%}  <b>{row['rank_full']:g}</b>",
            f"<b>{row['rank_kept']:g}</b>  {row['accuracy_kept']:.1%}",
            _colour(row["rank_full"], row["rank_kept"]),
            row["rank_full"],
        )
        for row, (name, short_name), place in zip(rows, names, left, strict=True)
    ]


def _colour(before: float, after: float) -> str:
    """Grey for no move, blue for up, red for down."""
    if before == after:
        return QUIET
    return KEPT if after < before else REMOVED
