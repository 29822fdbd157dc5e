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
from benchwright.pipelines.named_nodes import Function, boxed, inputs_by_name, named_nodes
from benchwright.reports.dele import page, plots, sampling_headline
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
_PLOTS: dict[Function, str] = {
    plots.plot_sampling_curves: "sampling_curves_plot",
    plots.plot_chosen_curves: "chosen_curves_plot",
    plots.plot_cluster_curves: "cluster_curves_plot",
    plots.plot_item_map: "item_map_plot",
}
_SECTIONS: dict[Function, str] = {
    page.show_samplers: "sampling_comparison_section",
    page.show_sampler_choice: "sampler_choice_section",
    page.show_estimates: "estimates_section",
    page.show_item_texts: "item_texts_section",
    page.show_chosen_subset: "chosen_subset_section",
}
"""Sections in their order on the page."""


def create_responses_pipeline() -> Pipeline:
    """Create the pipeline of a run that asks no models: its responses are an empty dataset."""
    return Pipeline([Node(Responses.empty, None, NO_RESPONSES, name="no_live_responses")])


def create_pipeline() -> Pipeline:
    """Create the sampling stage, which runs no models except the encoders of samplers."""
    given = {"panels": "sampling_panels", "study": "sampling_study"}
    top: dict[Function, str] = {sampling_headline.show_sampling_top: "sampling_top"}
    of_page = ["sampling_top", *_SECTIONS.values(), *_PLOTS.values()]
    render = Node(
        page.render_sampling_report,
        {name: name for name in of_page} | {name: f"params:{name}" for name in page.Study._fields},
        "sampling_report",
        name="render_sampling_report",
    )
    return Pipeline(
        [
            *named_nodes(inputs_by_name(_NODES, _PARAMS, **given)),
            Node(
                against_random.compare_with_random,
                {"sampling_results": "sampling_results", "study": "sampling_study"},
                "sampling_against_random",
                name="compare_samplers_with_random",
            ),
            boxed("plots", named_nodes(inputs_by_name(_PLOTS, _PARAMS))),
            boxed("page", [*named_nodes(inputs_by_name(top | _SECTIONS, _PARAMS)), render]),
        ]
    )
