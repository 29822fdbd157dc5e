"""The report of a benchmark made from documents, from tables without texts."""

from kedro.pipeline import Node, Pipeline

from benchwright.methods.mmlu_cf.summary.metrics import collect_construction_metrics
from benchwright.methods.mmlu_cf.summary.steps import count_steps
from benchwright.reports.mmlu_cf.plots.difficulty import (
    draw_difficulty_levels,
    draw_final_strata,
    draw_strata,
)
from benchwright.reports.mmlu_cf.plots.domains_and_fields import draw_domains, draw_field_halves
from benchwright.reports.mmlu_cf.plots.funnel import draw_construction_funnel
from benchwright.reports.mmlu_cf.plots.judges import draw_judge_agreement, draw_parse_rates
from benchwright.reports.mmlu_cf.render import render_construction_report

_SETTINGS = (
    "collection",
    "cleaning",
    "fields",
    "difficulty",
    "sampling_by_difficulty",
    "checking",
    "perturbation",
    "splitting",
    "sealing",
)

TABLES = (
    "documents_read",
    "domain_counts",
    "extraction_measures",
    "cleaning_funnel",
    "cleaning_reasons",
    "field_counts",
    "field_accuracy",
    "field_rounds",
    "difficulty_rounds",
    "difficulty_counts",
    "sampling_strata",
    "final_strata",
    "checking_rounds",
    "difficulty_again_rounds",
    "ratings_again",
    "judge_agreement",
    "checking_counts",
    "rule_counts",
    "half_distances",
    "keyed_split_assignment",
    "keyed_leak_pairs",
)

FIGURES = (
    "figure_construction_funnel",
    "figure_cleaning_funnel",
    "figure_domains",
    "figure_field_halves",
    "figure_difficulty_levels",
    "figure_strata",
    "figure_final_strata",
    "figure_judge_agreement",
    "figure_parse_rates",
)


def create_pipeline() -> Pipeline:
    """Counts of every step → figures, metrics and one page; nothing here has seen a text."""
    return Pipeline(
        [
            Node(
                count_steps,
                [
                    "documents_read",
                    "domain_counts",
                    "sampling_strata",
                    "checking_counts",
                    "rule_counts",
                    "keyed_split_assignment",
                    "keyed_leak_pairs",
                ],
                "construction_steps",
                name="count_steps",
            ),
            Node(
                collect_construction_metrics,
                [
                    "construction_steps",
                    "params:sampling_by_difficulty",
                    "extraction_measures",
                    "field_accuracy",
                    "difficulty_counts",
                    "sampling_strata",
                    "judge_agreement",
                    "half_distances",
                    "field_rounds",
                    "difficulty_rounds",
                    "checking_rounds",
                    "difficulty_again_rounds",
                    "ratings_again",
                ],
                "construction_metrics",
                name="collect_construction_metrics",
            ),
            *_figures(),
            Node(
                render_construction_report,
                [
                    "params:variant",
                    "params:seed",
                    *(f"params:{name}" for name in _SETTINGS),
                    "construction_steps",
                    *TABLES,
                    *FIGURES,
                ],
                "construction_report",
                name="render_construction_report",
            ),
        ]
    )


def _figures() -> list[Node]:
    return [
        Node(
            draw_construction_funnel,
            "construction_steps",
            "figure_construction_funnel",
            name="draw_construction_funnel",
        ),
        Node(draw_domains, "domain_counts", "figure_domains", name="draw_domains"),
        Node(
            draw_field_halves,
            "keyed_split_assignment",
            "figure_field_halves",
            name="draw_field_halves",
        ),
        Node(
            draw_difficulty_levels,
            "difficulty_counts",
            "figure_difficulty_levels",
            name="draw_difficulty_levels",
        ),
        Node(
            draw_strata,
            ["sampling_strata", "difficulty_counts"],
            "figure_strata",
            name="draw_strata",
        ),
        Node(
            draw_final_strata,
            ["final_strata", "difficulty_counts"],
            "figure_final_strata",
            name="draw_final_strata",
        ),
        Node(
            draw_judge_agreement,
            "judge_agreement",
            "figure_judge_agreement",
            name="draw_judge_agreement",
        ),
        Node(
            draw_parse_rates,
            ["field_rounds", "difficulty_rounds", "checking_rounds", "difficulty_again_rounds"],
            "figure_parse_rates",
            name="draw_parse_rates",
        ),
    ]
