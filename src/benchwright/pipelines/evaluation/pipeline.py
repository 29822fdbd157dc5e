"""The evaluation stage: whether the refined benchmark still ranks models as it should."""

from kedro.pipeline import Node, Pipeline

from benchwright.evidence import ire, panel, random_yardstick, rank_agreement, scores
from benchwright.methods.smart import audit, filter_models, label_errors, metrics, review
from benchwright.pipelines.named_nodes import Function, boxed, inputs_by_name, named_nodes
from benchwright.reports.page.sections import gather_figures
from benchwright.reports.smart import item_list, render, summary
from benchwright.reports.smart.plots import (
    agreement_maps,
    random_band,
    rank_chart,
    shares,
    similarity,
)

_PARAMS = (
    *("evaluation", "evaluation_models", "filtering", "ingestion", "limit", "ratings", "seed"),
    "variant",
)
_NODES: dict[Function, str | list[str]] = {
    panel.choose_panel: "panel",
    scores.score_models: "scores",
    rank_agreement.read_ratings: "human_ratings",
    rank_agreement.compare_ranks: "rank_agreement",
    ire.estimate_item_parameters: ["item_parameters", "ire_fit"],
    random_yardstick.gather_subsets: "compared_subsets",
    random_yardstick.compare_with_random: ["yardstick", "random_subsets"],
    random_yardstick.compare_methods: "method_comparison",
    scores.count_subjects: "subject_shares",
    scores.compare_answers: "agreement",
    filter_models.profile_filter_models: "filter_model_profile",
    audit.count_funnel: "funnel",
    label_errors.rate_label_errors: "label_error_rates",
    review.make_review_sheet: "review_sheet",
    review.read_reviews: "review_agreement",
    metrics.count_items: "item_metrics",
    metrics.collect_metrics: "metrics",
}
_FIGURES: dict[Function, str] = {
    shares.draw_filter_shares: "figure_filter_shares",
    rank_chart.draw_rank_chart: "figure_rank_chart",
    agreement_maps.draw_agreement: "figure_agreement",
    shares.draw_subject_shares: "figure_subject_shares",
    similarity.draw_distance_distribution: "figure_distance_distribution",
    similarity.draw_threshold_sensitivity: "figure_threshold_sensitivity",
    shares.draw_funnel: "figure_funnel",
    random_band.draw_random_band: "figure_random_band",
    random_band.draw_spread_band: "figure_spread_band",
    shares.draw_filter_model_ablation: "figure_filter_model_ablation",
    similarity.draw_neighbour_convergence: "figure_neighbour_convergence",
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
    summary.summarise_refinement: "report_summary",
    summary.note_models: "report_model_notes",
    summary.note_items: "report_item_notes",
    render.tell_method: "report_method",
    render.tell_removed: "report_removed",
    render.tell_ranking: "report_ranking",
    render.tell_findings: "report_findings",
    item_list.choose_report_examples: "report_examples",
    item_list.list_items: "report_items",
    render.tell_data: "report_data",
    render.tell_provenance: "report_provenance",
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
        Node(render.render_report, gathered, "report", name="render_report"),
    ]
    return Pipeline([*evidence, boxed("plots", figures), boxed("page", page)])
