"""The comparison of perturbed copies with the original, per configuration."""

from kedro.pipeline import Pipeline

from benchwright.methods.wicked.comparison import coverage
from benchwright.methods.wicked.comparison.compared_responses import align_responses
from benchwright.methods.wicked.comparison.instruct import compare_instruct
from benchwright.methods.wicked.comparison.rule_ablation import compare_rules
from benchwright.methods.wicked.comparison.score_comparison import compare_scores, follow_responses
from benchwright.methods.wicked.comparison.written_responses import compare_written_responses
from benchwright.pipelines.named_nodes import (
    Function,
    boxed,
    inputs_by_name,
    named_nodes,
    report_nodes,
)
from benchwright.reports.wicked import page
from benchwright.reports.wicked.findings import measure_reach
from benchwright.reports.wicked.plots.accuracy import plot_deltas, plot_rule_ablation
from benchwright.reports.wicked.plots.answer_changes import plot_none_rates, plot_transitions
from benchwright.reports.wicked.plots.ranks import plot_rank_shuffle

_PARAMS = ("evaluation", "ingestion", "perturbation", "seed", "variant")
_COMPARISON: dict[Function, str | list[str]] = {
    align_responses: "compared_responses",
    compare_scores: ["comparison_scores", "comparison_summary", "comparison_reversals"],
    follow_responses: ["comparison_transitions", "comparison_none_rates"],
    compare_written_responses: "comparison_written",
    compare_instruct: "comparison_instruct",
    compare_rules: "rule_ablation",
    coverage.count_demonstrations: "comparison_demonstrations",
    coverage.count_prompts: "comparison_prompts",
    coverage.count_changes: "comparison_coverage",
    coverage.collect_comparison_metrics: "comparison_metrics",
    measure_reach: "perturbation_reach",
}
_PLOTS: dict[str, tuple[Function, str]] = {
    "deltas": (plot_deltas, "comparison_deltas_plot"),
    "ranks": (plot_rank_shuffle, "comparison_ranks_plot"),
    "transitions": (plot_transitions, "comparison_transitions_plot"),
    "none-rates": (plot_none_rates, "comparison_none_rates_plot"),
    "ablation": (plot_rule_ablation, "rule_ablation_plot"),
}
"""Plots by their places on the page."""

_SECTIONS: dict[Function, str] = {
    page.show_comparison_method: "comparison_method",
    page.show_comparison_headline: "comparison_headline",
    page.show_comparison_costs: "comparison_costs",
    page.show_comparison_responses: "comparison_responses",
    page.show_comparison_alterations: "comparison_alterations",
    page.show_comparison_examples: "comparison_examples",
}


def create_pipeline() -> Pipeline:
    """Return the comparison: answers to items and copies → tables, plots, metrics, one report."""
    plots = {place: plot for place, (_, plot) in _PLOTS.items()}
    sections = inputs_by_name(_SECTIONS, _PARAMS)
    render = page.render_comparison_report
    return Pipeline(
        [
            *named_nodes(inputs_by_name(_COMPARISON, _PARAMS)),
            boxed("plots", named_nodes(inputs_by_name(dict(_PLOTS.values()), _PARAMS))),
            boxed("page", report_nodes("comparison_report", render, sections, plots)),
        ]
    )
