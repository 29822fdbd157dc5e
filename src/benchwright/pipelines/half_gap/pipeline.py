"""The gap between the halves: figures of models on both → tables, figures and one page."""

from collections.abc import Callable
from typing import Any

from kedro.pipeline import Node, Pipeline

from benchwright.methods.mmlu_cf.splitting.gap import (
    collect_gap_metrics,
    compare_halves,
    count_small_gaps,
)
from benchwright.reports.half_gap.page import render_half_gap_page
from benchwright.reports.half_gap.plots import draw_gaps, draw_gaps_by_field

_NODES: tuple[tuple[Callable[..., Any], Any, Any], ...] = (
    (
        compare_halves,
        ["half_scores", "params:half_gap", "params:models"],
        ["half_gap", "compared_halves"],
    ),
    (count_small_gaps, {"half_gap": "half_gap", "settings": "params:half_gap"}, "half_gap_shares"),
    (draw_gaps, {"half_gap": "half_gap", "settings": "params:half_gap"}, "figure_half_gap"),
    (draw_gaps_by_field, "half_gap", "figure_half_gap_fields"),
    (collect_gap_metrics, ["half_gap", "half_gap_shares"], "half_gap_metrics"),
    (
        render_half_gap_page,
        {
            "half_gap_settings": "params:half_gap",
            "compared_halves": "compared_halves",
            "half_gap": "half_gap",
            "half_gap_shares": "half_gap_shares",
            "figure_half_gap": "figure_half_gap",
            "figure_half_gap_fields": "figure_half_gap_fields",
        },
        "half_gap_report",
    ),
)


def create_pipeline() -> Pipeline:
    """Figures that `benchwright evaluate-sealed` wrote → Δ of each model, and an alarm."""
    return Pipeline([Node(*node, name=node[0].__name__) for node in _NODES])
