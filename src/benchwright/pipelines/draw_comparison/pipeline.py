"""The comparison of draws: the cost of each perturbation to each configuration."""

from kedro.pipeline import Pipeline

from benchwright.methods.wicked.comparison import coverage
from benchwright.methods.wicked.comparison.compared_answers import align_answers
from benchwright.methods.wicked.comparison.instruct import compare_instruct
from benchwright.methods.wicked.comparison.rule_ablation import compare_rules
from benchwright.methods.wicked.comparison.scores import follow_answers, score_draws
from benchwright.methods.wicked.comparison.written_answers import compare_written_answers
from benchwright.pipelines.named_nodes import NodeParts, OneOutput, boxed, named_nodes, report_nodes
from benchwright.reports.wicked import page
from benchwright.reports.wicked.headline import count_drawn_items
from benchwright.reports.wicked.plots.accuracy import draw_deltas, draw_rule_ablation
from benchwright.reports.wicked.plots.answers import draw_none_rates, draw_transitions
from benchwright.reports.wicked.plots.ranks import draw_rank_shuffle

_COMPARED = ["response_matrix", "draw_matrices", "responses", "live_responses"]
_CHANGES = ["perturbation_changes", "single_best_answer_ids"]
_PROMPTS = ["draw_demonstrations", "draw_prompts"]
_SHOWN = ["params:perturbation", "params:evaluation"]
_COMPARISON: tuple[NodeParts, ...] = (
    (align_answers, [*_COMPARED, "perturbation_changes", "draws", "items"], "compared_answers"),
    (
        score_draws,
        ["compared_answers", "params:evaluation", "params:seed"],
        ["draw_scores", "draw_summary", "draw_reversals"],
    ),
    (follow_answers, "compared_answers", ["draw_transitions", "draw_none_rates"]),
    (compare_written_answers, "compared_answers", "draw_written"),
    (compare_instruct, ["compared_answers", "models_table"], "draw_instruct"),
    (
        compare_rules,
        ["compared_answers", "perturbation_changes", "params:perturbation"],
        "rule_ablation",
    ),
    (
        coverage.count_demonstrations,
        ["prompts", "perturbation_changes", "draws"],
        "draw_demonstrations",
    ),
    (coverage.count_prompts, ["prompts", "draws"], "draw_prompts"),
    (coverage.count_changes, "perturbation_changes", "draw_coverage"),
    (
        coverage.collect_draw_metrics,
        ["draw_scores", "draw_summary", *_PROMPTS, *_CHANGES],
        "draw_metrics",
    ),
    (
        count_drawn_items,
        ["items", *_CHANGES, "draw_coverage", "params:perturbation"],
        "drawn_items",
    ),
)
_FIGURES: dict[str, OneOutput] = {
    "deltas": (draw_deltas, ["draw_scores", *_SHOWN], "figure_draw_deltas"),
    "ranks": (draw_rank_shuffle, ["draw_scores", *_SHOWN], "figure_draw_ranks"),
    "transitions": (
        draw_transitions,
        ["draw_transitions", "draw_scores", *_SHOWN],
        "figure_draw_transitions",
    ),
    "none-rates": (
        draw_none_rates,
        ["draw_none_rates", "draw_scores", *_SHOWN],
        "figure_draw_none_rates",
    ),
    "ablation": (draw_rule_ablation, "rule_ablation", "figure_rule_ablation"),
}
"""Figures by their places on the page."""

_SECTIONS: tuple[OneOutput, ...] = (
    (
        page.show_draw_method,
        ["params:ingestion", "params:variant", "params:perturbation", "params:seed"],
        "draw_method",
    ),
    (
        page.show_draw_headline,
        [
            *("draw_scores", "draw_summary", "draw_written", *_PROMPTS),
            *("params:perturbation", "drawn_items"),
        ],
        "draw_headline",
    ),
    (page.show_draw_costs, ["draw_scores", "draw_summary", "draw_reversals"], "draw_costs"),
    (
        page.show_draw_answers,
        [
            *("draw_transitions", "draw_none_rates", "draw_written", "draw_instruct"),
            "rule_ablation",
        ],
        "draw_answers",
    ),
    (
        page.show_draw_alterations,
        [*_PROMPTS, "draw_coverage", "option_wordings"],
        "draw_alterations",
    ),
    (
        page.show_draw_examples,
        [
            *("items", "draws", "perturbation_changes", "drawn_items"),
            *("params:evaluation", "params:seed"),
        ],
        "draw_examples",
    ),
)


def create_pipeline() -> Pipeline:
    """Return the comparison: answers to items and draws → tables, figures, metrics, one report."""
    figures = {place: figure for place, (_, _, figure) in _FIGURES.items()}
    return Pipeline(
        [
            *named_nodes(_COMPARISON),
            boxed("plots", named_nodes(_FIGURES.values())),
            boxed("page", report_nodes("draw_report", page.render_draw_report, _SECTIONS, figures)),
        ]
    )
