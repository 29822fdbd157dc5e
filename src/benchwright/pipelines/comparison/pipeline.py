"""The comparison of perturbed copies with the original, per configuration."""

from kedro.pipeline import Pipeline

from benchwright.methods.wicked.comparison import coverage
from benchwright.methods.wicked.comparison.compared_answers import align_answers
from benchwright.methods.wicked.comparison.instruct import compare_instruct
from benchwright.methods.wicked.comparison.rule_ablation import compare_rules
from benchwright.methods.wicked.comparison.score_comparison import compare_scores, follow_answers
from benchwright.methods.wicked.comparison.written_answers import compare_written_answers
from benchwright.pipelines.named_nodes import NodeParts, OneOutput, boxed, named_nodes, report_nodes
from benchwright.reports.wicked import page
from benchwright.reports.wicked.findings import measure_reach
from benchwright.reports.wicked.plots.accuracy import plot_deltas, plot_rule_ablation
from benchwright.reports.wicked.plots.answer_changes import plot_none_rates, plot_transitions
from benchwright.reports.wicked.plots.ranks import plot_rank_shuffle

_COMPARED = ["response_matrix", "perturbed_matrices", "responses", "live_responses"]
_CHANGES = ["perturbation_changes", "single_best_answer_ids"]
_PROMPTS = ["comparison_demonstrations", "comparison_prompts"]
_SHOWN = ["params:perturbation", "params:evaluation"]
_COMPARISON: tuple[NodeParts, ...] = (
    (
        align_answers,
        [*_COMPARED, "perturbation_changes", "perturbed_items", "items"],
        "compared_answers",
    ),
    (
        compare_scores,
        ["compared_answers", "params:evaluation", "params:seed"],
        ["comparison_scores", "comparison_summary", "comparison_reversals"],
    ),
    (follow_answers, "compared_answers", ["comparison_transitions", "comparison_none_rates"]),
    (compare_written_answers, "compared_answers", "comparison_written"),
    (compare_instruct, ["compared_answers", "models_table"], "comparison_instruct"),
    (
        compare_rules,
        ["compared_answers", "perturbation_changes", "params:perturbation"],
        "rule_ablation",
    ),
    (
        coverage.count_demonstrations,
        ["prompts", "perturbation_changes", "perturbed_items"],
        "comparison_demonstrations",
    ),
    (coverage.count_prompts, ["prompts", "perturbed_items"], "comparison_prompts"),
    (coverage.count_changes, "perturbation_changes", "comparison_coverage"),
    (
        coverage.collect_comparison_metrics,
        ["comparison_scores", "comparison_summary", *_PROMPTS, *_CHANGES],
        "comparison_metrics",
    ),
    (
        measure_reach,
        ["items", *_CHANGES, "comparison_coverage", "params:perturbation"],
        "perturbation_reach",
    ),
)
_PLOTS: dict[str, OneOutput] = {
    "deltas": (plot_deltas, ["comparison_scores", *_SHOWN], "comparison_deltas_plot"),
    "ranks": (plot_rank_shuffle, ["comparison_scores", *_SHOWN], "comparison_ranks_plot"),
    "transitions": (
        plot_transitions,
        ["comparison_transitions", "comparison_scores", *_SHOWN],
        "comparison_transitions_plot",
    ),
    "none-rates": (
        plot_none_rates,
        ["comparison_none_rates", "comparison_scores", *_SHOWN],
        "comparison_none_rates_plot",
    ),
    "ablation": (plot_rule_ablation, "rule_ablation", "rule_ablation_plot"),
}
"""Plots by their places on the page."""

_SECTIONS: tuple[OneOutput, ...] = (
    (
        page.show_comparison_method,
        ["params:ingestion", "params:variant", "params:perturbation", "params:seed"],
        "comparison_method",
    ),
    (
        page.show_comparison_headline,
        [
            *("comparison_scores", "comparison_summary", "comparison_written", *_PROMPTS),
            *("params:perturbation", "perturbation_reach"),
        ],
        "comparison_headline",
    ),
    (
        page.show_comparison_costs,
        ["comparison_scores", "comparison_summary", "comparison_reversals"],
        "comparison_costs",
    ),
    (
        page.show_comparison_answers,
        [
            *(
                "comparison_transitions",
                "comparison_none_rates",
                "comparison_written",
                "comparison_instruct",
            ),
            "rule_ablation",
        ],
        "comparison_answers",
    ),
    (
        page.show_comparison_alterations,
        [*_PROMPTS, "comparison_coverage", "option_wordings"],
        "comparison_alterations",
    ),
    (
        page.show_comparison_examples,
        [
            *("items", "perturbed_items", "perturbation_changes", "perturbation_reach"),
            *("params:evaluation", "params:seed"),
        ],
        "comparison_examples",
    ),
)


def create_pipeline() -> Pipeline:
    """Return the comparison: answers to items and copies → tables, plots, metrics, one report."""
    plots = {place: plot for place, (_, _, plot) in _PLOTS.items()}
    return Pipeline(
        [
            *named_nodes(_COMPARISON),
            boxed("plots", named_nodes(_PLOTS.values())),
            boxed(
                "page",
                report_nodes("comparison_report", page.render_comparison_report, _SECTIONS, plots),
            ),
        ]
    )
