"""The gap between the halves: results of models on both → tables, plots and one page."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.splitting.gap import (
    collect_gap_metrics,
    compare_halves,
    count_small_gaps,
)
from benchwright.pipelines.named_nodes import Function, inputs_by_name, named_nodes
from benchwright.reports.half_gap.gap_plots import plot_gaps, plot_gaps_by_field
from benchwright.reports.half_gap.page import render_half_gap_page


def create_pipeline() -> Pipeline:
    """Create the pipeline that compares the models' scores on the two halves."""
    outputs: dict[Function, str | list[str]] = {
        compare_halves: ["half_gap", "compared_halves"],
        count_small_gaps: "half_gap_shares",
        plot_gaps: "half_gap_plot",
        plot_gaps_by_field: "half_gap_fields_plot",
        collect_gap_metrics: "half_gap_metrics",
        render_half_gap_page: "half_gap_report",
    }
    return Pipeline(named_nodes(inputs_by_name(outputs, ["models"], settings="params:half_gap")))
