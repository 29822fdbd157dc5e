"""The evaluation stage: does the refined benchmark still rank models as it should?"""

from kedro.pipeline import Node, Pipeline

from benchwright.evidence.item_parameters import estimate_item_parameters
from benchwright.evidence.panel import choose_panel
from benchwright.evidence.random_yardstick import compare_methods, compare_with_random
from benchwright.evidence.rank_agreement import compare_ranks
from benchwright.evidence.scores import compare_answers, count_subjects, score_models
from benchwright.methods.smart.audit import count_funnel
from benchwright.methods.smart.filter_models import profile_filter_models
from benchwright.methods.smart.label_errors import rate_label_errors
from benchwright.methods.smart.metrics import collect_metrics
from benchwright.methods.smart.review import make_review_sheet, read_reviews
from benchwright.reports.smart.evidence import select_items_to_show
from benchwright.reports.smart.plots.ablation import draw_filter_model_ablation
from benchwright.reports.smart.plots.agreement_maps import draw_agreement
from benchwright.reports.smart.plots.convergence import draw_neighbour_convergence
from benchwright.reports.smart.plots.funnel import draw_funnel
from benchwright.reports.smart.plots.random_band import (
    draw_random_band,
    draw_spread_band,
)
from benchwright.reports.smart.plots.rank_chart import draw_rank_chart
from benchwright.reports.smart.plots.shares import draw_filter_shares, draw_subject_shares
from benchwright.reports.smart.plots.similarity import (
    draw_distance_distribution,
    draw_threshold_sensitivity,
)
from benchwright.reports.smart.render import render_report
from benchwright.reports.smart.summary import summarise_refinement

FIGURES = (
    "figure_filter_shares",
    "figure_rank_chart",
    "figure_agreement",
    "figure_subject_shares",
    "figure_distance_distribution",
    "figure_threshold_sensitivity",
)

FIGURES_OF_EVIDENCE = (
    "figure_funnel",
    "figure_random_band",
    "figure_spread_band",
    "figure_filter_model_ablation",
    "figure_neighbour_convergence",
)


def create_pipeline() -> Pipeline:
    """Numbers, figures and one report."""
    return Pipeline(
        [
            Node(
                choose_panel,
                inputs=[
                    "response_matrix",
                    "items",
                    "models_table",
                    "chosen_filter_models",
                    "params:evaluation_models",
                    "params:evaluation",
                ],
                outputs="panel",
                name="choose_panel",
            ),
            Node(
                score_models,
                inputs=["response_matrix", "items", "kept_items", "panel"],
                outputs="scores",
                name="score_models",
            ),
            Node(
                compare_ranks,
                inputs=[
                    "response_matrix",
                    "items",
                    "kept_items",
                    "scores",
                    "panel",
                    "user_ratings",
                    "params:ratings",
                    "params:evaluation",
                    "params:seed",
                ],
                outputs="rank_agreement",
                name="compare_ranks",
            ),
            Node(
                estimate_item_parameters,
                inputs=["response_matrix", "panel", "params:evaluation"],
                outputs=["item_parameters", "ire_fit"],
                name="estimate_item_parameters",
            ),
            Node(
                compare_with_random,
                inputs=[
                    "response_matrix",
                    "items",
                    "kept_items",
                    "item_parameters",
                    "scores",
                    "panel",
                    "user_ratings",
                    "params:ratings",
                    "params:evaluation",
                    "params:seed",
                ],
                outputs=["yardstick", "random_subsets"],
                name="compare_with_random",
            ),
            Node(
                compare_methods,
                inputs=["rank_agreement", "yardstick", "ire_fit"],
                outputs="method_comparison",
                name="compare_methods",
            ),
            Node(
                count_subjects,
                inputs=["items", "kept_items"],
                outputs="subject_shares",
                name="count_subjects",
            ),
            Node(
                compare_answers,
                inputs=["response_matrix", "kept_items", "scores", "panel", "params:evaluation"],
                outputs="agreement",
                name="compare_answers",
            ),
            Node(
                profile_filter_models,
                inputs=[
                    "response_matrix",
                    "choices_only_matrix",
                    "calibration",
                    "chosen_filter_models",
                    "params:evaluation",
                ],
                outputs="filter_model_profile",
                name="profile_filter_models",
            ),
            Node(
                count_funnel,
                inputs=["rejected_items", "items", "verdicts", "rule_coverage", "kept_items"],
                outputs="funnel",
                name="count_funnel",
            ),
            Node(
                rate_label_errors,
                inputs=[
                    "items",
                    "item_audit",
                    "verdicts",
                    "label_errors",
                    "demonstrations",
                    "calibration_items",
                    "params:limit",
                ],
                outputs="label_error_rates",
                name="rate_label_errors",
            ),
            Node(
                make_review_sheet,
                inputs=[
                    "items",
                    "item_audit",
                    "verdicts",
                    "groups",
                    "params:evaluation",
                    "params:seed",
                ],
                outputs="review_sheet",
                name="make_review_sheet",
            ),
            Node(
                read_reviews,
                inputs=["review_sheet_filled", "verdicts"],
                outputs="review_agreement",
                name="read_reviews",
            ),
            Node(
                collect_metrics,
                inputs=[
                    "items",
                    "kept_items",
                    "rejected_items",
                    "rule_coverage",
                    "rank_agreement",
                    "agreement",
                    "filter_model_profile",
                    "similarity_threshold",
                    "panel",
                    "yardstick",
                    "ire_fit",
                    "label_error_rates",
                ],
                outputs="metrics",
                name="collect_metrics",
            ),
            *_figures(),
            *_report(),
        ]
    )


def _figures() -> list[Node]:
    return [
        Node(
            draw_filter_shares,
            inputs=["items", "kept_items", "rule_coverage"],
            outputs="figure_filter_shares",
            name="draw_filter_shares",
        ),
        Node(
            draw_rank_chart,
            inputs=["scores", "params:evaluation"],
            outputs="figure_rank_chart",
            name="draw_rank_chart",
        ),
        Node(draw_agreement, inputs="agreement", outputs="figure_agreement", name="draw_agreement"),
        Node(
            draw_subject_shares,
            inputs="subject_shares",
            outputs="figure_subject_shares",
            name="draw_subject_shares",
        ),
        Node(
            draw_distance_distribution,
            inputs=["distance_density", "similarity_threshold"],
            outputs="figure_distance_distribution",
            name="draw_distance_distribution",
        ),
        Node(
            draw_threshold_sensitivity,
            inputs=["threshold_sensitivity", "similarity_threshold"],
            outputs="figure_threshold_sensitivity",
            name="draw_threshold_sensitivity",
        ),
        Node(draw_funnel, inputs="funnel", outputs="figure_funnel", name="draw_funnel"),
        Node(
            draw_random_band,
            inputs=["random_subsets", "yardstick"],
            outputs="figure_random_band",
            name="draw_random_band",
        ),
        Node(
            draw_spread_band,
            inputs=["random_subsets", "yardstick"],
            outputs="figure_spread_band",
            name="draw_spread_band",
        ),
        Node(
            draw_filter_model_ablation,
            inputs="filter_model_ablation",
            outputs="figure_filter_model_ablation",
            name="draw_filter_model_ablation",
        ),
        Node(
            draw_neighbour_convergence,
            inputs=["neighbour_convergence", "density_by_k"],
            outputs="figure_neighbour_convergence",
            name="draw_neighbour_convergence",
        ),
    ]


def _report() -> list[Node]:
    return [
        Node(
            summarise_refinement,
            inputs=[
                "params:ingestion",
                "params:variant",
                "params:evaluation",
                "items",
                "kept_items",
                "rejected_items",
                "rule_coverage",
                "verdicts",
                "scores",
                "rank_agreement",
                "agreement",
                "similarity_threshold",
                "import_report",
                "panel",
                "yardstick",
            ],
            outputs="report_summary",
            name="summarise_refinement",
        ),
        Node(
            select_items_to_show,
            inputs=[
                "items",
                "item_audit",
                "verdicts",
                "groups",
                "rejected_items",
                "response_matrix",
                "scores",
                "panel",
                "chosen_filter_models",
                "params:evaluation",
                "params:seed",
            ],
            outputs="report_items",
            name="select_items_to_show",
        ),
        Node(
            render_report,
            inputs=[
                "params:ingestion",
                "params:variant",
                "params:filtering",
                "params:evaluation",
                "params:ratings",
                "params:seed",
                "report_summary",
                "report_items",
                "rule_coverage",
                "overlaps",
                "similarity_threshold",
                "threshold_sensitivity",
                "import_report",
                "calibration",
                "user_ratings",
                "panel",
                "filter_model_profile",
                "scores",
                "rank_agreement",
                "subject_shares",
                *FIGURES,
                "yardstick",
                "method_comparison",
                "funnel",
                "filter_model_ablation",
                "neighbour_convergence",
                "label_error_rates",
                "review_agreement",
                "answer_coverage",
                *FIGURES_OF_EVIDENCE,
                "chosen_filter_models",
                "params:filter_models",
            ],
            outputs="report",
            name="render_report",
        ),
    ]
