"""The gap between the halves: figures of models on both → tables, figures and one page."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.splitting.gap import (
    collect_gap_metrics,
    compare_halves,
    count_small_gaps,
)
from benchwright.pipelines.named_nodes import NodeParts, named_nodes
from benchwright.reports.half_gap.page import render_half_gap_page
from benchwright.reports.half_gap.plots import draw_gaps, draw_gaps_by_field

_NODES: tuple[NodeParts, ...] = (
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
    """Create the pipeline that compares the models' scores on the two halves."""
    return Pipeline(named_nodes(_NODES))
