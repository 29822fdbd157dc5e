"""The comparison of perturbed copies with the original, per configuration."""

from kedro.pipeline import Node, Pipeline

from benchwright.methods.wicked.comparison import coverage
from benchwright.methods.wicked.comparison.compared_responses import align_responses
from benchwright.methods.wicked.comparison.instruct import compare_instruct
from benchwright.methods.wicked.comparison.rule_ablation import compare_rules
from benchwright.methods.wicked.comparison.score_comparison import compare_scores, follow_responses
from benchwright.methods.wicked.comparison.written_responses import compare_written_responses
from benchwright.pipelines.nodes import boxed, node
from benchwright.reports.page.sections import gather_plots
from benchwright.reports.wicked import page
from benchwright.reports.wicked.findings import measure_reach
from benchwright.reports.wicked.plots.accuracy import plot_deltas, plot_rule_ablation
from benchwright.reports.wicked.plots.answer_changes import plot_none_rates, plot_transitions
from benchwright.reports.wicked.plots.ranks import plot_rank_shuffle

_NODES = [
    node(
        align_responses,
        [
            "response_matrix",
            "perturbed_matrices",
            "responses",
            "live_responses",
            "perturbation_changes",
            "perturbed_items",
            "items",
        ],
        "compared_responses",
    ),
    node(
        compare_scores,
        ["compared_responses", "params:evaluation", "params:seed"],
        ["comparison_scores", "comparison_summary", "comparison_reversals"],
    ),
    node(
        follow_responses,
        ["compared_responses", "models_table"],
        ["comparison_transitions", "comparison_none_rates"],
    ),
    node(compare_written_responses, "compared_responses", "comparison_written"),
    node(compare_instruct, ["compared_responses", "models_table"], "comparison_instruct"),
    node(
        compare_rules,
        ["compared_responses", "perturbation_changes", "params:perturbation"],
        "rule_ablation",
    ),
    node(
        coverage.count_demonstrations,
        ["prompts", "perturbation_changes", "perturbed_items"],
        "comparison_demonstrations",
    ),
    node(coverage.count_prompts, ["prompts", "perturbed_items"], "comparison_prompts"),
    node(coverage.count_changes, "perturbation_changes", "comparison_coverage"),
    node(
        coverage.collect_comparison_metrics,
        [
            "comparison_scores",
            "comparison_summary",
            "comparison_demonstrations",
            "comparison_prompts",
            "perturbation_changes",
            "single_best_answer_ids",
        ],
        "comparison_metrics",
    ),
    node(
        measure_reach,
        [
            "items",
            "perturbation_changes",
            "single_best_answer_ids",
            "comparison_coverage",
            "params:perturbation",
        ],
        "perturbation_reach",
    ),
]
_PLOTS = [
    node(
        plot_deltas,
        ["comparison_scores", "params:perturbation", "params:evaluation"],
        "comparison_deltas_plot",
    ),
    node(
        plot_rank_shuffle,
        ["comparison_scores", "params:perturbation", "params:evaluation"],
        "comparison_ranks_plot",
    ),
    node(
        plot_transitions,
        ["comparison_transitions", "comparison_scores", "params:perturbation", "params:evaluation"],
        "comparison_transitions_plot",
    ),
    node(
        plot_none_rates,
        ["comparison_none_rates", "comparison_scores", "params:perturbation", "params:evaluation"],
        "comparison_none_rates_plot",
    ),
    node(plot_rule_ablation, "rule_ablation", "rule_ablation_plot"),
]
_PAGE = [
    node(
        page.show_comparison_method,
        ["params:ingestion", "params:variant", "params:perturbation", "params:seed"],
        "comparison_method",
    ),
    node(
        page.show_comparison_headline,
        [
            "comparison_scores",
            "comparison_summary",
            "comparison_written",
            "comparison_demonstrations",
            "params:perturbation",
            "perturbation_reach",
        ],
        "comparison_headline",
    ),
    node(
        page.show_comparison_costs,
        ["comparison_scores", "comparison_summary", "comparison_reversals"],
        "comparison_costs",
    ),
    node(
        page.show_comparison_responses,
        [
            "comparison_transitions",
            "comparison_none_rates",
            "comparison_written",
            "comparison_instruct",
            "rule_ablation",
        ],
        "comparison_responses",
    ),
    node(
        page.show_comparison_alterations,
        [
            "comparison_demonstrations",
            "comparison_prompts",
            "comparison_coverage",
            "option_wordings",
        ],
        "comparison_alterations",
    ),
    node(
        page.show_comparison_examples,
        [
            "items",
            "perturbed_items",
            "perturbation_changes",
            "perturbation_reach",
            "params:evaluation",
            "params:seed",
        ],
        "comparison_examples",
    ),
    Node(
        gather_plots,
        {
            "deltas": "comparison_deltas_plot",
            "ranks": "comparison_ranks_plot",
            "transitions": "comparison_transitions_plot",
            "none-rates": "comparison_none_rates_plot",
            "ablation": "rule_ablation_plot",
        },
        "comparison_report_plots_1",
        name="gather_comparison_report_plots_1",
    ),
    node(
        page.render_comparison_report,
        [
            "comparison_method",
            "comparison_headline",
            "comparison_costs",
            "comparison_responses",
            "comparison_alterations",
            "comparison_examples",
            "comparison_report_plots_1",
        ],
        "comparison_report",
    ),
]


def create_pipeline() -> Pipeline:
    """Return the comparison: answers to items and copies → tables, plots, metrics, one report."""
    return Pipeline([*_NODES, boxed("plots", _PLOTS), boxed("page", _PAGE)])
