"""Small subsets of a benchmark from recorded responses, tested on held-out models."""

from kedro.pipeline import Node, Pipeline

from benchwright.methods.dele.evidence import (
    choice,
    estimates,
    panels,
    rate_curves,
    sampler_results,
    study,
)
from benchwright.pipelines.nodes import boxed, node, report_node
from benchwright.reports.dele import page, plots, sampling_headline
from benchwright.tables.responses import Responses

NO_RESPONSES = "no_live_responses"
"""The empty dataset that replaces responses of models asked in the run."""

_TESTED = ["sampling_panels", "sampling_against_random", "sampling_summary"]
_NODES = [
    node(
        panels.choose_panels,
        ["response_matrix", "items", "models_table", "params:sampling", "params:seed"],
        "sampling_panels",
    ),
    node(
        study.encode_pool_texts,
        ["items", "sampling_panels", "sampling_vector_cache", "params:sampling", "params:models"],
        ["sampling_vectors", "pool_vectors"],
    ),
    node(
        study.prepare_study,
        ["items", "sampling_panels", "pool_vectors", "params:sampling", "params:seed"],
        "sampling_study",
    ),
    node(
        sampler_results.compare_samplers,
        "sampling_study",
        ["sampling_results", "samplers_left_out"],
    ),
    node(rate_curves.trace_curves, "sampling_results", "sampling_curves"),
    node(
        rate_curves.summarise_samplers,
        ["sampling_curves", "sampling_study"],
        "sampling_summary",
    ),
    node(estimates.measure_estimates, "sampling_study", "estimate_errors"),
    node(choice.choose_samplers, ["sampling_results", "sampling_study"], "sampler_choice"),
    node(
        choice.choose_by_subject,
        "sampling_study",
        ["subject_winners", "subject_choices"],
    ),
    node(
        rate_curves.trace_chosen,
        ["sampler_choice", "subject_choices", "sampling_study"],
        "chosen_curves",
    ),
    node(
        choice.measure_subject_choices,
        ["chosen_curves", "params:sampling"],
        "subject_luck",
    ),
    node(
        choice.choose_subset,
        ["items", "pool_vectors", "sampler_choice", "subject_winners", "sampling_study"],
        "chosen_subset",
    ),
    node(choice.describe_subset, ["chosen_subset", "sampling_study"], "chosen_subset_facts"),
    node(
        sampling_headline.collect_sampling_metrics,
        [*_TESTED, "sampler_choice", "subject_luck", "estimate_errors", "chosen_subset"],
        "sampling_metrics",
    ),
    Node(
        sampler_results.compare_with_random,
        ["sampling_results", "sampling_study"],
        "sampling_against_random",
        name="compare_samplers_with_random",
    ),
]
_PLOTS = [
    node(
        plots.plot_sampling_curves,
        ["sampling_curves", "sampling_panels", "params:sampling"],
        "sampling_curves_plot",
    ),
    node(plots.plot_chosen_curves, "chosen_curves", "chosen_curves_plot"),
]
_SHOWN = (
    "sampling_comparison_section",
    "sampler_choice_section",
    "estimates_section",
    "sampling_curves_plot",
    "chosen_curves_plot",
)
"""What the page shows, with its sections in order."""

_PAGE = [
    node(
        sampling_headline.judge_samplers,
        [
            "sampling_panels",
            "samplers_left_out",
            "sampling_against_random",
            "sampling_summary",
            "sampler_choice",
            "subject_luck",
            "chosen_subset",
            "params:sampling",
        ],
        "sampling_verdict",
    ),
    node(
        page.show_samplers,
        [*_TESTED, "estimate_errors", "params:sampling"],
        "sampling_comparison_section",
    ),
    node(
        page.show_sampler_choice,
        ["sampler_choice", "subject_winners", "params:sampling"],
        "sampler_choice_section",
    ),
    node(page.show_estimates, "estimate_errors", "estimates_section"),
    report_node("sampling_verdict", _SHOWN, "sampling_report", ["sampling"]),
]


def create_responses_pipeline() -> Pipeline:
    """Create the pipeline of a run that asks no models: its responses are an empty dataset."""
    return Pipeline([Node(Responses.empty, None, NO_RESPONSES, name="no_live_responses")])


def create_pipeline() -> Pipeline:
    """Create the sampling stage, which runs no models except the encoders of samplers."""
    return Pipeline([*_NODES, boxed("plots", _PLOTS), boxed("page", _PAGE)])
