"""The comparison of perturbed copies with the original, per configuration."""

from kedro.pipeline import Pipeline

from benchwright.methods.wicked.comparison import coverage
from benchwright.methods.wicked.comparison.compared_responses import align_responses
from benchwright.methods.wicked.comparison.instruct import compare_instruct
from benchwright.methods.wicked.comparison.rule_ablation import compare_rules
from benchwright.methods.wicked.comparison.score_comparison import compare_scores, follow_responses
from benchwright.methods.wicked.comparison.written_responses import compare_written_responses
from benchwright.pipelines.nodes import boxed, node, report_node
from benchwright.reports.wicked import page
from benchwright.reports.wicked.findings import judge_comparison, measure_reach

_SCORES = ["comparison_scores", "comparison_summary"]
_CHANGES = ["perturbation_changes", "single_best_answer_ids"]
_SETTINGS = "params:perturbation"
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
        _SCORES,
    ),
    node(
        follow_responses,
        ["compared_responses", "models_table"],
        ["comparison_transitions", "comparison_none_rates"],
    ),
    node(compare_written_responses, "compared_responses", "comparison_written"),
    node(compare_instruct, ["compared_responses", "models_table"], "comparison_instruct"),
    node(compare_rules, ["compared_responses", "perturbation_changes", _SETTINGS], "rule_ablation"),
    node(coverage.count_changes, "perturbation_changes", "comparison_coverage"),
    node(coverage.collect_comparison_metrics, [*_SCORES, *_CHANGES], "comparison_metrics"),
    node(
        measure_reach,
        ["items", *_CHANGES, "comparison_coverage", _SETTINGS],
        "perturbation_reach",
    ),
]
_SHOWN = (
    "comparison_score_sections",
    "comparison_answer_sections",
    "comparison_alterations",
    "comparison_examples",
    "comparison_ranks_plot",
)
"""What the page shows, with its sections in order."""

_PAGE = [
    node(page.plot_rank_shuffle, ["comparison_scores", _SETTINGS], "comparison_ranks_plot"),
    node(
        judge_comparison,
        [*_SCORES, "comparison_written", _SETTINGS, "perturbation_reach"],
        "comparison_verdict",
    ),
    node(page.show_comparison_scores, _SCORES, "comparison_score_sections"),
    node(
        page.show_comparison_answers,
        [
            "comparison_transitions",
            "comparison_none_rates",
            "comparison_written",
            "comparison_instruct",
            "rule_ablation",
        ],
        "comparison_answer_sections",
    ),
    node(
        page.show_comparison_alterations,
        ["comparison_coverage", "perturbation_reach", _SETTINGS],
        "comparison_alterations",
    ),
    node(
        page.show_comparison_examples,
        [
            "items",
            "perturbed_items",
            "perturbation_changes",
            "perturbation_reach",
            "params:seed",
        ],
        "comparison_examples",
    ),
    report_node("comparison_verdict", _SHOWN, "comparison_report", ["perturbation"]),
]


def create_pipeline() -> Pipeline:
    """Return the comparison: answers to items and copies → tables, plots, metrics, one report."""
    return Pipeline([*_NODES, boxed("page", _PAGE)])
