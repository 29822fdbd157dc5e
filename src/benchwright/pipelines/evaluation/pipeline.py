"""The evaluation stage: whether the refined benchmark still ranks models as it should."""

from kedro.pipeline import Node, Pipeline

from benchwright.evidence.ire import estimate_item_parameters
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
from benchwright.pipelines.named_nodes import Function, boxed, inputs_by_name, named_nodes
from benchwright.reports.page.sections import gather_figures
from benchwright.reports.smart.item_list import choose_report_examples, list_items
from benchwright.reports.smart.plots.agreement_maps import draw_agreement
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
    draw_neighbour_convergence,
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

_PARAMS = (
    *("evaluation", "evaluation_models", "filtering", "ingestion", "limit", "ratings", "seed"),
    "variant",
)
_NODES: dict[Function, str | list[str]] = {
    choose_panel: "panel",
    score_models: "scores",
    read_ratings: "human_ratings",
    compare_ranks: "rank_agreement",
    estimate_item_parameters: ["item_parameters", "ire_fit"],
    gather_subsets: "compared_subsets",
    compare_with_random: ["yardstick", "random_subsets"],
    compare_methods: "method_comparison",
    count_subjects: "subject_shares",
    compare_answers: "agreement",
    profile_filter_models: "filter_model_profile",
    count_funnel: "funnel",
    rate_label_errors: "label_error_rates",
    make_review_sheet: "review_sheet",
    read_reviews: "review_agreement",
    count_items: "item_metrics",
    collect_metrics: "metrics",
}
_FIGURES: dict[Function, str] = {
    draw_filter_shares: "figure_filter_shares",
    draw_rank_chart: "figure_rank_chart",
    draw_agreement: "figure_agreement",
    draw_subject_shares: "figure_subject_shares",
    draw_distance_distribution: "figure_distance_distribution",
    draw_threshold_sensitivity: "figure_threshold_sensitivity",
    draw_funnel: "figure_funnel",
    draw_random_band: "figure_random_band",
    draw_spread_band: "figure_spread_band",
    draw_filter_model_ablation: "figure_filter_model_ablation",
    draw_neighbour_convergence: "figure_neighbour_convergence",
}
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

_SECTIONS: dict[Function, str] = {
    summarise_refinement: "report_summary",
    note_models: "report_model_notes",
    note_items: "report_item_notes",
    tell_method: "report_method",
    tell_removed: "report_removed",
    tell_ranking: "report_ranking",
    tell_findings: "report_findings",
    choose_report_examples: "report_examples",
    list_items: "report_items",
    tell_data: "report_data",
    tell_provenance: "report_provenance",
}


def create_pipeline() -> Pipeline:
    """Create the evaluation stage: numbers, figures and one report."""
    evidence, figures, sections = (
        named_nodes(
            inputs_by_name(
                functions,
                _PARAMS,
                filter_models="chosen_filter_models",
                filter_model_rule="params:filter_models",
            )
        )
        for functions in (_NODES, _FIGURES, _SECTIONS)
    )
    gathered = [*_SECTIONS.values(), "report_figures"]
    page = [
        *sections,
        Node(gather_figures, PLACES_OF_FIGURES, "report_figures", name="gather_figures"),
        Node(render_report, gathered, "report", name="render_report"),
    ]
    return Pipeline([*evidence, boxed("plots", figures), boxed("page", page)])
