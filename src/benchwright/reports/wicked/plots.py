"""The plot of the comparison of perturbed copies with the original."""

from typing import Any

import pandas as pd

from benchwright.methods.wicked.comparison.compared_responses import (
    asking_styles,
    describe_asking,
    main_perturbation,
)
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page import shapes


def plot_rank_shuffle(comparison_scores: pd.DataFrame, perturbation: PerturbationParams) -> Any:
    """Plot ranks on the original (left) and on the copies (right), for one asking style."""
    title = "Ranks on the original (left) and on the copies (right): blue rose, orange fell"
    if comparison_scores.empty:
        why = "No model answered both the original items and their copies."
        return shapes.nothing(title, why)
    name = main_perturbation(sorted(set(comparison_scores["perturbation"])), perturbation)
    scores = comparison_scores[comparison_scores["perturbation"] == name]
    style = next(iter(asking_styles(scores["configuration"].tolist())))
    scores = scores[(scores["asking_style"] == style) & scores["rank_original"].notna()]
    if len(scores) < 2:
        return shapes.nothing(title, "There is only one model to rank.")
    if said := describe_asking(style):
        title += f" ({said})"
    scores = scores.sort_values(["accuracy_original", "configuration"], ascending=[False, True])
    return shapes.slopes(title, scores, ("original", "mean"))
