"""The comparison of draws: what does each perturbation cost each configuration?"""

from kedro.pipeline import Node, Pipeline

from benchwright.methods.wicked.comparison.compared_answers import align_answers
from benchwright.methods.wicked.comparison.coverage import (
    count_changes,
    count_demonstrations,
    count_prompts,
)
from benchwright.methods.wicked.comparison.instruct import compare_instruct
from benchwright.methods.wicked.comparison.metrics import collect_draw_metrics
from benchwright.methods.wicked.comparison.rule_ablation import compare_rules
from benchwright.methods.wicked.comparison.scores import follow_answers, score_draws
from benchwright.methods.wicked.comparison.written_answers import compare_written_answers
from benchwright.reports.wicked.plots.accuracy import draw_deltas, draw_rule_ablation
from benchwright.reports.wicked.plots.answers import draw_none_rates, draw_transitions
from benchwright.reports.wicked.plots.ranks import draw_rank_shuffle
from benchwright.reports.wicked.render import render_draw_report

TABLES = (
    "draw_scores",
    "draw_summary",
    "draw_reversals",
    "draw_transitions",
    "draw_none_rates",
    "draw_written",
    "draw_instruct",
    "rule_ablation",
    "draw_demonstrations",
    "draw_prompts",
    "draw_coverage",
)

FIGURES = (
    "figure_draw_deltas",
    "figure_draw_ranks",
    "figure_draw_transitions",
    "figure_draw_none_rates",
    "figure_rule_ablation",
)


def create_pipeline() -> Pipeline:
    """Answers to items and draws → tables, figures, metrics and one report."""
    return Pipeline(
        [
            Node(
                align_answers,
                [
                    "response_matrix",
                    "draw_matrices",
                    "responses",
                    "live_responses",
                    "perturbation_changes",
                    "draws",
                    "items",
                ],
                "compared_answers",
                name="align_answers",
            ),
            Node(
                score_draws,
                ["compared_answers", "params:evaluation", "params:seed"],
                ["draw_scores", "draw_summary", "draw_reversals"],
                name="score_draws",
            ),
            Node(
                follow_answers,
                "compared_answers",
                ["draw_transitions", "draw_none_rates"],
                name="follow_answers",
            ),
            Node(
                compare_written_answers,
                "compared_answers",
                "draw_written",
                name="compare_written_answers",
            ),
            Node(
                compare_instruct,
                ["compared_answers", "models_table"],
                "draw_instruct",
                name="compare_instruct",
            ),
            Node(
                compare_rules,
                ["compared_answers", "perturbation_changes", "params:perturbation"],
                "rule_ablation",
                name="compare_rules",
            ),
            Node(
                count_demonstrations,
                ["prompts", "perturbation_changes", "draws"],
                "draw_demonstrations",
                name="count_demonstrations",
            ),
            Node(count_prompts, ["prompts", "draws"], "draw_prompts", name="count_prompts"),
            Node(count_changes, "perturbation_changes", "draw_coverage", name="count_changes"),
            Node(
                collect_draw_metrics,
                [
                    "draw_scores",
                    "draw_summary",
                    "draw_demonstrations",
                    "draw_prompts",
                    "perturbation_changes",
                    "single_best_answer_ids",
                ],
                "draw_metrics",
                name="collect_draw_metrics",
            ),
            *_figures(),
            Node(
                render_draw_report,
                [
                    "params:ingestion",
                    "params:variant",
                    "params:perturbation",
                    "params:evaluation",
                    "params:seed",
                    "items",
                    "draws",
                    "perturbation_changes",
                    "single_best_answer_ids",
                    "option_wordings",
                    *TABLES,
                    *FIGURES,
                ],
                "draw_report",
                name="render_draw_report",
            ),
        ]
    )


def _figures() -> list[Node]:
    settings = ["params:perturbation", "params:evaluation"]
    return [
        Node(draw_deltas, ["draw_scores", *settings], "figure_draw_deltas", name="draw_deltas"),
        Node(
            draw_rank_shuffle,
            ["draw_scores", *settings],
            "figure_draw_ranks",
            name="draw_rank_shuffle",
        ),
        Node(
            draw_transitions,
            ["draw_transitions", "draw_scores", *settings],
            "figure_draw_transitions",
            name="draw_transitions",
        ),
        Node(
            draw_none_rates,
            ["draw_none_rates", "draw_scores", *settings],
            "figure_draw_none_rates",
            name="draw_none_rates",
        ),
        Node(
            draw_rule_ablation,
            "rule_ablation",
            "figure_rule_ablation",
            name="draw_rule_ablation",
        ),
    ]
