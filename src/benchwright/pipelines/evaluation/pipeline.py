"""The evaluation stage: does the refined benchmark still rank models as it should?"""

from collections.abc import Callable
from typing import Any

from kedro.pipeline import Pipeline

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
from benchwright.pipelines.named_nodes import boxed, named_nodes
from benchwright.reports.page.sections import gather_figures
from benchwright.reports.smart.examples import choose_report_examples
from benchwright.reports.smart.item_list import list_items
from benchwright.reports.smart.plots.agreement_maps import draw_agreement
from benchwright.reports.smart.plots.convergence import draw_neighbour_convergence
from benchwright.reports.smart.plots.random_band import (
    draw_random_band,
    draw_spread_band,
)
from benchwright.reports.smart.plots.rank_chart import draw_rank_chart
from benchwright.reports.smart.plots.shares import (
    draw_filter_model_ablation,
    draw_filter_shares,
    draw_funnel,
    draw_subject_shares,
)
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

PLACES_OF_FIGURES = {
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


_NODES: tuple[tuple[Callable[..., Any], Any, Any], ...] = (
    (
        choose_panel,
        {
            "response_matrix": "response_matrix",
            "items": "items",
            "models_table": "models_table",
            "filter_models": "chosen_filter_models",
            "evaluation_models": "params:evaluation_models",
            "evaluation": "params:evaluation",
        },
        "panel",
    ),
    (score_models, ["response_matrix", "items", "kept_items", "panel"], "scores"),
    (read_ratings, ["user_ratings", "params:ratings"], "human_ratings"),
    (
        compare_ranks,
        [
            "response_matrix",
            "items",
            "kept_items",
            "scores",
            "panel",
            "human_ratings",
            "params:evaluation",
            "params:seed",
        ],
        "rank_agreement",
    ),
    (
        estimate_item_parameters,
        ["response_matrix", "panel", "params:evaluation"],
        ["item_parameters", "ire_fit"],
    ),
    (gather_subsets, ["kept_items", "item_parameters"], "compared_subsets"),
    (
        compare_with_random,
        [
            "response_matrix",
            "items",
            "compared_subsets",
            "scores",
            "panel",
            "human_ratings",
            "params:evaluation",
            "params:seed",
        ],
        ["yardstick", "random_subsets"],
    ),
    (compare_methods, ["rank_agreement", "yardstick", "ire_fit"], "method_comparison"),
    (count_subjects, ["items", "kept_items"], "subject_shares"),
    (
        compare_answers,
        ["response_matrix", "kept_items", "scores", "panel", "params:evaluation"],
        "agreement",
    ),
    (
        profile_filter_models,
        {
            "response_matrix": "response_matrix",
            "choices_only_matrix": "choices_only_matrix",
            "calibration": "calibration",
            "filter_models": "chosen_filter_models",
            "evaluation": "params:evaluation",
        },
        "filter_model_profile",
    ),
    (
        count_funnel,
        ["rejected_items", "items", "verdicts", "rule_coverage", "kept_items"],
        "funnel",
    ),
    (
        rate_label_errors,
        [
            "items",
            "item_audit",
            "verdicts",
            "label_errors",
            "demonstrations",
            "calibration_items",
            "params:limit",
        ],
        "label_error_rates",
    ),
    (
        make_review_sheet,
        ["items", "item_audit", "verdicts", "groups", "params:evaluation", "params:seed"],
        "review_sheet",
    ),
    (read_reviews, ["review_sheet_filled", "verdicts"], "review_agreement"),
    (
        count_items,
        ["items", "kept_items", "rejected_items", "rule_coverage", "panel"],
        "item_metrics",
    ),
    (
        collect_metrics,
        [
            "item_metrics",
            "rank_agreement",
            "agreement",
            "filter_model_profile",
            "similarity_threshold",
            "yardstick",
            "ire_fit",
            "label_error_rates",
        ],
        "metrics",
    ),
)

_FIGURES: tuple[tuple[Callable[..., Any], Any, Any], ...] = (
    (draw_filter_shares, ["items", "kept_items", "rule_coverage"], "figure_filter_shares"),
    (draw_rank_chart, ["scores", "params:evaluation"], "figure_rank_chart"),
    (draw_agreement, "agreement", "figure_agreement"),
    (draw_subject_shares, "subject_shares", "figure_subject_shares"),
    (
        draw_distance_distribution,
        ["distance_density", "similarity_threshold"],
        "figure_distance_distribution",
    ),
    (
        draw_threshold_sensitivity,
        ["threshold_sensitivity", "similarity_threshold"],
        "figure_threshold_sensitivity",
    ),
    (draw_funnel, "funnel", "figure_funnel"),
    (draw_random_band, ["random_subsets", "yardstick"], "figure_random_band"),
    (draw_spread_band, ["random_subsets", "yardstick"], "figure_spread_band"),
    (draw_filter_model_ablation, "filter_model_ablation", "figure_filter_model_ablation"),
    (
        draw_neighbour_convergence,
        ["neighbour_convergence", "density_by_k"],
        "figure_neighbour_convergence",
    ),
)

_REPORT: tuple[tuple[Callable[..., Any], Any, Any], ...] = (
    (
        summarise_refinement,
        [
            "items",
            "kept_items",
            "rule_coverage",
            "rank_agreement",
            "panel",
            "yardstick",
            "params:evaluation",
        ],
        "report_summary",
    ),
    (
        note_models,
        ["items", "kept_items", "scores", "agreement", "panel", "params:evaluation"],
        "report_model_notes",
    ),
    (
        note_items,
        [
            "items",
            "kept_items",
            "rejected_items",
            "rule_coverage",
            "verdicts",
            "similarity_threshold",
            "import_report",
        ],
        "report_item_notes",
    ),
    (
        tell_method,
        {
            "ingestion": "params:ingestion",
            "filtering": "params:filtering",
            "evaluation": "params:evaluation",
            "filter_models": "chosen_filter_models",
            "filter_model_rule": "params:filter_models",
            "rule_coverage": "rule_coverage",
            "panel": "panel",
            "funnel": "funnel",
        },
        "report_method",
    ),
    (
        tell_removed,
        ["rule_coverage", "overlaps", "filter_model_ablation", "subject_shares"],
        "report_removed",
    ),
    (
        tell_ranking,
        [
            "panel",
            "scores",
            "rank_agreement",
            "human_ratings",
            "yardstick",
            "method_comparison",
            "params:evaluation",
        ],
        "report_ranking",
    ),
    (
        tell_findings,
        [
            "similarity_threshold",
            "threshold_sensitivity",
            "neighbour_convergence",
            "label_error_rates",
            "review_agreement",
        ],
        "report_findings",
    ),
    (
        choose_report_examples,
        ["items", "verdicts", "groups", "rejected_items", "params:evaluation", "params:seed"],
        "report_examples",
    ),
    (
        list_items,
        {
            "item_audit": "item_audit",
            "verdicts": "verdicts",
            "response_matrix": "response_matrix",
            "scores": "scores",
            "panel": "panel",
            "filter_models": "chosen_filter_models",
            "evaluation": "params:evaluation",
        },
        "report_items",
    ),
    (
        tell_data,
        [
            "filter_model_profile",
            "calibration",
            "answer_coverage",
            "import_report",
            "params:evaluation",
        ],
        "report_data",
    ),
    (
        tell_provenance,
        {
            "ingestion": "params:ingestion",
            "variant": "params:variant",
            "filtering": "params:filtering",
            "evaluation": "params:evaluation",
            "filter_models": "chosen_filter_models",
            "seed": "params:seed",
        },
        "report_provenance",
    ),
    (gather_figures, PLACES_OF_FIGURES, "report_figures"),
    (render_report, SECTIONS, "report"),
)


def create_pipeline() -> Pipeline:
    """Numbers, figures and one report."""
    plots, page = boxed("plots", named_nodes(_FIGURES)), boxed("page", named_nodes(_REPORT))
    return Pipeline([*named_nodes(_NODES), plots, page])
