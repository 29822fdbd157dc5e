"""The ranking of models before and after filtering, as lines between two rankings."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.evidence.scores import spread
from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.page import plot_style as style
from benchwright.reports.page import plots


def plot_rank_chart(scores: pd.DataFrame, evaluation: EvaluationParams) -> Any:
    """Draw each model's rank on all items (left) and on the kept items (right)."""
    title = (
        "Ranks of models on all items (left) and kept items (right): blue improved, orange worsened"
    )
    table = scores.dropna(subset=["rank_full", "rank_kept"])
    if table.empty:
        return style.empty_plot(title, "No model has a score on both sets of items.")
    shown = spread([str(model) for model in table["model"]], evaluation.rank_chart_models)
    if len(shown) < len(table):
        title += f"; {len(shown)} of {len(table):,} models"
    table = table[table["model"].isin(shown)].sort_values(["rank_full", "model"])
    models, rows = [str(model) for model in table["model"]], table.to_dict("records")
    names = style.short_names(models)
    before = [f"{row['accuracy_full']:.1%}  <b>{row['rank_full']:g}</b>" for row in rows]
    after = [f"<b>{row['rank_kept']:g}</b>  {row['accuracy_kept']:.1%}" for row in rows]
    right = plots.places_by_rank(table["rank_kept"])
    traces = [
        plots.points(
            [0, 1],
            [left, right[left]],
            f"{names[left]}<br>all items: {before[left]}<br>kept items: {after[left]}",
            mode="lines+markers",
            line={"color": plots.rank_colour(row["rank_full"], row["rank_kept"]), "width": 2},
            marker={"size": 6},
            showlegend=False,
        )
        for left, row in enumerate(rows)
    ]
    on_right = np.argsort(right)
    narrow = {
        "layout.yaxis.ticktext": [
            f"{name}  <b>{row['rank_full']:g}</b>"
            for name, row in zip(style.short_names(models, style.NARROW_NAME), rows, strict=True)
        ],
        "layout.yaxis2.ticktext": [after[row] for row in on_right],
    }
    fixed = {"showline": False, "fixedrange": True}
    names_after = [f"{after[row]}  {names[row]}" for row in on_right]
    return plots.plot(
        title,
        90 + 24 * len(rows),
        [*traces, dict(plots.UNSEEN_ON_THE_RIGHT)],
        xaxis=style.axis(range=[-0.03, 1.03], visible=False, fixedrange=True),
        yaxis=plots.rows_down(
            [f"{name}  {score}" for name, score in zip(names, before, strict=True)], **fixed
        ),
        yaxis2=plots.rows_down(names_after, overlaying="y", side="right", **fixed),
        margin=plots.margin(12, top=48, right=8),
        hovermode="closest",
        meta={"narrow": narrow},
    )
