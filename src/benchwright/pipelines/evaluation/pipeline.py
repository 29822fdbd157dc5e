"""The evaluation stage: does the refined benchmark still rank models as it should?"""

from kedro.pipeline import Node, Pipeline

from benchwright.evidence.item_parameters import estimate_item_parameters
from benchwright.evidence.panel import choose_panel
from benchwright.evidence.random_yardstick import (
    compare_methods,
    compare_with_random,
    gather_subsets,
)
from benchwright.evidence.rank_agreement import compare_ranks, read_ratings
from benchwright.evidence.scores import compare_answers, count_subjects, score_models
from benchwright.methods.smart.audit import count_funnel
from benchwright.methods.smart.filter_models import profile_filter_models
from benchwright.methods.smart.label_errors import rate_label_errors
from benchwright.methods.smart.metrics import collect_metrics, count_items
from benchwright.methods.smart.review import make_review_sheet, read_reviews
from benchwright.reports.page.sections import gather_figures
from benchwright.reports.smart.examples import choose_report_examples
from benchwright.reports.smart.item_list import list_items
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
from benchwright.reports.smart.render import (
    render_report,
    tell_data,
    tell_findings,
    tell_method,
    tell_provenance,
    tell_ranking,
    tell_removed,
)
from benchwright.reports.smart.summary import note_items, note_models, summarise_refinement

FIGURES = {
    "filter-shares": "figure_filter_shares",
    "rank-chart": "figure_rank_chart",
    "agreement": "figure_agreement",
    "subject-shares": "figure_subject_shares",
    "distances": "figure_distance_distribution",
    "sensitivity": "figure_threshold_sensitivity",
    "funnel": "figure_funnel",
    "random-band": "figure_random_band",
    "spread-band": "figure_spread_band",
    "ablation": "figure_filter_model_ablation",
    "convergence": "figure_neighbour_convergence",
}
"""The datasets of the figures by their places in the report."""

SECTIONS = [
    "report_summary",
    "report_model_notes",
    "report_item_notes",
    "report_method",
    "report_removed",
    "report_ranking",
    "report_findings",
    "report_examples",
    "report_items",
    "report_data",
    "report_provenance",
    "report_figures",
]


def create_pipeline() -> Pipeline:
    """Numbers, figures and one report."""
    return Pipeline(
        [
            Node(
                choose_panel,
                inputs={
                    "response_matrix": "response_matrix",
                    "items": "items",
                    "models_table": "models_table",
                    "filter_models": "chosen_filter_models",
                    "evaluation_models": "params:evaluation_models",
                    "evaluation": "params:evaluation",
                },
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
                read_ratings,
                inputs=["user_ratings", "params:ratings"],
                outputs="human_ratings",
                name="read_ratings",
            ),
            Node(
                compare_ranks,
                inputs=[
                    "response_matrix",
                    "items",
                    "kept_items",
                    "scores",
                    "panel",
                    "human_ratings",
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
                gather_subsets,
                inputs=["kept_items", "item_parameters"],
                outputs="compared_subsets",
                name="gather_subsets",
            ),
            Node(
                compare_with_random,
                inputs=[
                    "response_matrix",
                    "items",
                    "compared_subsets",
                    "scores",
                    "panel",
                    "human_ratings",
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
                inputs={
                    "response_matrix": "response_matrix",
                    "choices_only_matrix": "choices_only_matrix",
                    "calibration": "calibration",
                    "filter_models": "chosen_filter_models",
                    "evaluation": "params:evaluation",
                },
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
                count_items,
                inputs=["items", "kept_items", "rejected_items", "rule_coverage", "panel"],
                outputs="item_metrics",
                name="count_items",
            ),
            Node(
                collect_metrics,
                inputs=[
                    "item_metrics",
                    "rank_agreement",
                    "agreement",
                    "filter_model_profile",
                    "similarity_threshold",
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
                "items",
                "kept_items",
                "rule_coverage",
                "rank_agreement",
                "panel",
                "yardstick",
                "params:evaluation",
            ],
            outputs="report_summary",
            name="summarise_refinement",
        ),
        Node(
            note_models,
            inputs=["items", "kept_items", "scores", "agreement", "panel", "params:evaluation"],
            outputs="report_model_notes",
            name="note_models",
        ),
        Node(
            note_items,
            inputs=[
                "items",
                "kept_items",
                "rejected_items",
                "rule_coverage",
                "verdicts",
                "similarity_threshold",
                "import_report",
            ],
            outputs="report_item_notes",
            name="note_items",
        ),
        Node(
            tell_method,
            inputs={
                "ingestion": "params:ingestion",
                "filtering": "params:filtering",
                "evaluation": "params:evaluation",
                "filter_models": "chosen_filter_models",
                "filter_model_rule": "params:filter_models",
                "rule_coverage": "rule_coverage",
                "panel": "panel",
                "funnel": "funnel",
            },
            outputs="report_method",
            name="tell_method",
        ),
        Node(
            tell_removed,
            inputs=["rule_coverage", "overlaps", "filter_model_ablation", "subject_shares"],
            outputs="report_removed",
            name="tell_removed",
        ),
        Node(
            tell_ranking,
            inputs=[
                "panel",
                "scores",
                "rank_agreement",
                "user_ratings",
                "params:ratings",
                "yardstick",
                "method_comparison",
                "params:evaluation",
            ],
            outputs="report_ranking",
            name="tell_ranking",
        ),
        Node(
            tell_findings,
            inputs=[
                "similarity_threshold",
                "threshold_sensitivity",
                "neighbour_convergence",
                "label_error_rates",
                "review_agreement",
            ],
            outputs="report_findings",
            name="tell_findings",
        ),
        Node(
            choose_report_examples,
            inputs=[
                "items",
                "verdicts",
                "groups",
                "rejected_items",
                "params:evaluation",
                "params:seed",
            ],
            outputs="report_examples",
            name="choose_report_examples",
        ),
        Node(
            list_items,
            inputs={
                "item_audit": "item_audit",
                "verdicts": "verdicts",
                "response_matrix": "response_matrix",
                "scores": "scores",
                "panel": "panel",
                "filter_models": "chosen_filter_models",
                "evaluation": "params:evaluation",
            },
            outputs="report_items",
            name="list_items",
        ),
        Node(
            tell_data,
            inputs=[
                "filter_model_profile",
                "calibration",
                "answer_coverage",
                "import_report",
                "params:evaluation",
            ],
            outputs="report_data",
            name="tell_data",
        ),
        Node(
            tell_provenance,
            inputs={
                "ingestion": "params:ingestion",
                "variant": "params:variant",
                "filtering": "params:filtering",
                "evaluation": "params:evaluation",
                "filter_models": "chosen_filter_models",
                "seed": "params:seed",
            },
            outputs="report_provenance",
            name="tell_provenance",
        ),
        Node(gather_figures, inputs=FIGURES, outputs="report_figures", name="gather_figures"),
        Node(render_report, inputs=SECTIONS, outputs="report", name="render_report"),
    ]
