"""The evaluation stage: whether the refined benchmark still ranks models as it should."""

from kedro.pipeline import Node, Pipeline

from benchwright.evidence import ire, panel, random_comparison, rank_agreement, ratings, scores
from benchwright.methods.smart import (
    audit,
    filter_models,
    label_errors,
    metrics,
    review,
    suspect_effect,
)
from benchwright.pipelines.named_nodes import Function, boxed, inputs_by_name, named_nodes
from benchwright.reports.page.sections import gather_plots
from benchwright.reports.smart import item_list, render, summary
from benchwright.reports.smart.plots import (
    agreement_maps,
    positions,
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
    ratings.read_ratings: "human_ratings",
    ratings.match_ratings: "model_ratings",
    rank_agreement.compare_ranks: "rank_agreement",
    ire.estimate_item_parameters: ["item_parameters", "ire_fit"],
    random_comparison.gather_subsets: "compared_subsets",
    random_comparison.compare_with_random: ["random_comparison", "random_subsets"],
    random_comparison.find_harmful_rule: "harmful_rule",
    summary.raise_alarm: "alarm",
    random_comparison.compare_methods: "method_comparison",
    scores.count_subjects: "subject_shares",
    scores.compare_responses: "agreement",
    filter_models.profile_filter_models: "filter_model_profile",
    audit.count_funnel: "funnel",
    label_errors.rate_label_errors: "label_error_rates",
    review.make_review_sheet: "review_sheet",
    review.read_reviews: "review_agreement",
    suspect_effect.measure_suspect_effect: "suspect_effect",
    metrics.count_items: "item_metrics",
    metrics.collect_metrics: "metrics",
}
_PLOTS: dict[Function, str] = {
    shares.plot_filter_shares: "filter_shares_plot",
    rank_chart.plot_rank_chart: "rank_chart_plot",
    agreement_maps.plot_agreement: "agreement_plot",
    shares.plot_subject_shares: "subject_shares_plot",
    similarity.plot_distance_distribution: "distance_distribution_plot",
    similarity.plot_threshold_sensitivity: "threshold_sensitivity_plot",
    shares.plot_funnel: "funnel_plot",
    random_band.plot_random_band: "random_band_plot",
    random_band.plot_spread_band: "spread_band_plot",
    shares.plot_filter_model_ablation: "filter_model_ablation_plot",
    similarity.plot_neighbour_convergence: "neighbour_convergence_plot",
    positions.plot_position_sensitivity: "position_sensitivity_plot",
}
PLACES_OF_PLOTS = {
    "filter-shares": "filter_shares_plot",
    "rank-chart": "rank_chart_plot",
    "agreement": "agreement_plot",
    "subject-shares": "subject_shares_plot",
    "distances": "distance_distribution_plot",
    "sensitivity": "threshold_sensitivity_plot",
    "funnel": "funnel_plot",
    "random-band": "random_band_plot",
    "spread-band": "spread_band_plot",
    "ablation": "filter_model_ablation_plot",
    "convergence": "neighbour_convergence_plot",
    "positions": "position_sensitivity_plot",
}
"""The datasets of the plots by their places in the report."""

_SECTIONS: dict[Function, str] = {
    summary.summarise_refinement: "report_summary",
    summary.note_models: "report_model_notes",
    summary.note_items: "report_item_notes",
    render.gather_method: "report_method",
    render.gather_removed: "report_removed",
    render.gather_ranking: "report_ranking",
    render.gather_findings: "report_findings",
    item_list.choose_report_examples: "report_examples",
    item_list.list_items: "report_items",
    render.gather_data: "report_data",
    render.gather_provenance: "report_provenance",
}


def create_pipeline() -> Pipeline:
    """Create the evaluation stage: numbers, plots and one report."""
    evidence, plots, sections = (
        named_nodes(
            inputs_by_name(
                functions,
                _PARAMS,
                filter_models="chosen_filter_models",
                filter_model_rule="params:filter_models",
            )
        )
        for functions in (_NODES, _PLOTS, _SECTIONS)
    )
    gathered = [*_SECTIONS.values(), "report_plots"]
    page = [
        *sections,
        Node(gather_plots, PLACES_OF_PLOTS, "report_plots", name="gather_plots"),
        Node(render.render_report, gathered, "report", name="render_report"),
    ]
    return Pipeline([*evidence, boxed("plots", plots), boxed("page", page)])
