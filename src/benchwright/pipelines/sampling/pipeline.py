"""The sampling stage: comparison of samplers, exported subset, plots, metrics and report."""

from kedro.pipeline import Node, Pipeline

from benchwright.methods.dele.evidence import (
    against_random,
    by_subject,
    choice,
    estimates,
    panels,
    rate_curves,
    sampler_results,
    sampler_summary,
    score_spread,
    study,
    texts,
)
from benchwright.pipelines.named_nodes import (
    Function,
    boxed,
    inputs_by_name,
    named_nodes,
    report_nodes,
)
from benchwright.reports.dele import page, sampling_headline
from benchwright.reports.dele.plots import bars, clusters
from benchwright.reports.dele.plots import rate_curves as rate_curve_plots
from benchwright.tables.responses import Responses

NO_RESPONSES = "no_live_responses"
"""The empty dataset that replaces responses of models asked in the run."""

_PARAMS = ("estimation", "ingestion", "models", "sampling", "seed", "variant")
_NODES: dict[Function, str | list[str]] = {
    panels.choose_panels: "sampling_panels",
    study.encode_pool_texts: ["sampling_vectors", "pool_vectors"],
    study.prepare_study: "sampling_study",
    sampler_results.compare_samplers: ["sampling_results", "samplers_left_out"],
    against_random.draw_random_bands: "random_bands",
    rate_curves.trace_curves: "sampling_curves",
    sampler_summary.summarise_samplers: "sampling_summary",
    panels.choose_paper_panel: "paper_panel",
    sampler_summary.compare_on_paper_panel: ["paper_curves", "paper_summary"],
    estimates.measure_estimates: "estimate_errors",
    score_spread.spread_scores: "score_spread",
    choice.choose_samplers: ["sampler_choice", "changed_winner"],
    rate_curves.trace_subjects: "subject_curves",
    by_subject.choose_by_subject: [
        *("subject_winners", "changed_subjects", "subject_choices", "subject_agreement")
    ],
    rate_curves.trace_chosen: "chosen_curves",
    by_subject.add_composed_gain: "subject_luck",
    choice.join_changes: "changed_winners",
    choice.choose_subset: "chosen_subset",
    choice.describe_subset: "chosen_subset_facts",
    texts.describe_texts: ["item_features", "readability_examples", "readability_bands"],
    texts.describe_clusters: ["cluster_sizes", "cluster_curves", "item_map"],
    sampling_headline.collect_sampling_metrics: "sampling_metrics",
}
_CURVES = {
    "tau": "sampling_tau_plot",
    "spearman": "sampling_spearman_plot",
    "pearson": "sampling_pearson_plot",
    "wasserstein": "sampling_wasserstein_plot",
    "error": "sampling_error_plot",
    "spearman-sd": "sampling_spearman_sd_plot",
    "wasserstein-sd": "sampling_wasserstein_sd_plot",
}
_PLOTS: dict[str, tuple[Function, str]] = {
    "paper": (rate_curve_plots.plot_paper_curves, "paper_curves_plot"),
    "chosen": (rate_curve_plots.plot_chosen_curves, "chosen_curves_plot"),
    "subjects": (rate_curve_plots.plot_subject_curves, "subject_curves_plot"),
    "winners": (bars.plot_winners, "sampler_winners_plot"),
    "spread": (bars.plot_score_spread, "score_spread_plot"),
    "cluster-curves": (clusters.plot_cluster_curves, "cluster_curves_plot"),
    "item-map": (clusters.plot_item_map, "item_map_plot"),
}
"""Functions and outputs of the plots by their position on the page."""

_SECTIONS: dict[Function, str] = {
    page.show_sampling_method: "sampling_method",
    page.show_sampling_headline: "sampling_headline",
    page.show_sampling_sizes: "sampling_sizes",
    page.show_sampling_scores: "sampling_scores",
    page.show_sampling_choices: "sampling_choices",
    page.show_sampling_subjects: "sampling_subjects",
    page.show_sampling_texts: "sampling_texts",
}


def create_responses_pipeline() -> Pipeline:
    """Create the pipeline of a run that asks no models: its responses are an empty dataset."""
    return Pipeline([Node(Responses.empty, None, NO_RESPONSES, name="no_live_responses")])


def create_pipeline() -> Pipeline:
    """Create the sampling stage, which runs no models except the encoders of samplers."""
    given = {"panels": "sampling_panels", "study": "sampling_study"}
    drawn = ["sampling_curves", "sampling_panels", "params:sampling"]
    shown = {place: plot for place, (_, plot) in _PLOTS.items()}
    sections = inputs_by_name(_SECTIONS, _PARAMS)
    render = page.render_sampling_report
    plots = [
        Node(rate_curve_plots.plot_curves, drawn, list(_CURVES.values()), name="plot_curves"),
        *named_nodes(inputs_by_name(dict(_PLOTS.values()), _PARAMS)),
    ]
    return Pipeline(
        [
            *named_nodes(inputs_by_name(_NODES, _PARAMS, **given)),
            Node(
                against_random.compare_with_random,
                {"sampling_results": "sampling_results", "study": "sampling_study"},
                "sampling_against_random",
                name="compare_samplers_with_random",
            ),
            boxed("plots", plots),
            boxed("page", report_nodes("sampling_report", render, sections, _CURVES, shown)),
        ]
    )
