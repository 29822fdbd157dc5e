"""The gap between the halves: results of models on both → tables, plots and one page."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.splitting.gap import (
    collect_gap_metrics,
    compare_halves,
    count_small_gaps,
)
from benchwright.pipelines.nodes import node
from benchwright.reports.half_gap import judge_half_gap, plot_gaps, render_half_gap_page

_NODES = [
    node(
        compare_halves,
        ["half_scores", "original_scores", "params:half_gap", "params:models"],
        ["half_gap", "compared_halves"],
    ),
    node(count_small_gaps, "half_gap", "half_gap_shares"),
    node(plot_gaps, "half_gap", "half_gap_plot"),
    node(collect_gap_metrics, "half_gap", "half_gap_metrics"),
    node(judge_half_gap, ["half_gap", "compared_halves"], "half_gap_verdict"),
    node(
        render_half_gap_page,
        [
            "params:half_gap",
            "compared_halves",
            "half_gap",
            "half_gap_verdict",
            "half_gap_plot",
        ],
        "half_gap_report",
    ),
]


def create_pipeline() -> Pipeline:
    """Create the pipeline that compares the models' scores on the two halves."""
    return Pipeline(_NODES)
