"""Items and answers → samplers judged, a subset, figures, metrics and one report."""

from kedro.pipeline import Node, Pipeline

from benchwright.methods.dele.evidence.against_random import compare_with_random, draw_random_bands
from benchwright.methods.dele.evidence.choice import (
    choose_by_subject,
    choose_samplers,
    join_changes,
)
from benchwright.methods.dele.evidence.chosen_subset import choose_subset
from benchwright.methods.dele.evidence.curves import (
    trace_chosen,
    trace_curves,
    trace_subjects,
    trace_targets,
)
from benchwright.methods.dele.evidence.estimates import measure_estimates
from benchwright.methods.dele.evidence.judging import judge_samplers
from benchwright.methods.dele.evidence.panels import ask_nobody, choose_panels
from benchwright.methods.dele.evidence.paper_panel import choose_paper_panel, judge_paper_panel
from benchwright.methods.dele.evidence.pools import build_pools, encode_pool_texts
from benchwright.methods.dele.evidence.score_spread import spread_scores
from benchwright.methods.dele.evidence.summary import summarise_samplers
from benchwright.methods.dele.evidence.texts import describe_clusters, describe_texts
from benchwright.reports.dele.metrics import collect_sampling_metrics
from benchwright.reports.dele.plot_nodes import FIGURES, draw_figures
from benchwright.reports.dele.render import render_sampling_report

NO_ANSWERS = "no_live_responses"
"""What takes the place of answers of models that were asked in the run."""


def create_answers_pipeline() -> Pipeline:
    """The absence of live answers, as a dataset."""
    return Pipeline([Node(ask_nobody, None, NO_ANSWERS, name="ask_nobody")])


def create_pipeline() -> Pipeline:
    """The sampling stage: no model is run but encoders that samplers ask for."""
    shared = ["params:sampling", "params:seed"]
    return Pipeline(
        [
            Node(
                choose_panels,
                ["response_matrix", "items", "models_table", "published_scores", *shared],
                "sampling_panels",
                name="choose_panels",
            ),
            Node(
                encode_pool_texts,
                [
                    "items",
                    "sampling_panels",
                    "sampling_vector_cache",
                    "params:sampling",
                    "params:models",
                ],
                ["sampling_vectors", "pool_vectors"],
                name="encode_pool_texts",
            ),
            Node(
                build_pools,
                ["items", "sampling_panels", "pool_vectors", "params:sampling", "params:models"],
                "sampling_pools",
                name="build_pools",
            ),
            *_evidence(shared),
            *_choice(shared),
            *_views(shared),
            *draw_figures(),
            *_results(),
        ]
    )


def _evidence(shared: list[str]) -> list[Node]:
    return [
        Node(
            judge_samplers,
            ["sampling_pools", "sampling_panels", *shared],
            ["sampling_figures", "samplers_left_out"],
            name="judge_samplers",
        ),
        Node(
            draw_random_bands,
            ["sampling_panels", *shared],
            "random_bands",
            name="draw_random_bands",
        ),
        Node(
            trace_curves,
            ["sampling_figures", "random_bands"],
            "sampling_curves",
            name="trace_curves",
        ),
        Node(
            compare_with_random,
            ["sampling_figures", "sampling_panels", *shared],
            "sampling_against_random",
            name="compare_samplers_with_random",
        ),
        Node(
            summarise_samplers,
            ["sampling_curves", "sampling_pools", "sampling_panels", *shared],
            "sampling_summary",
            name="summarise_samplers",
        ),
        Node(
            choose_paper_panel,
            ["response_matrix", "items", "published_scores", "params:sampling"],
            "paper_panel",
            name="choose_paper_panel",
        ),
        Node(
            judge_paper_panel,
            [
                "items",
                "paper_panel",
                "pool_vectors",
                "params:sampling",
                "params:models",
                "params:seed",
            ],
            ["paper_curves", "paper_summary"],
            name="judge_paper_panel",
        ),
        Node(
            trace_targets,
            ["sampling_pools", "sampling_panels", *shared],
            "target_curves",
            name="trace_targets",
        ),
        Node(
            measure_estimates,
            [
                "sampling_pools",
                "sampling_panels",
                "params:sampling",
                "params:estimation",
                "params:seed",
            ],
            "estimate_errors",
            name="measure_estimates",
        ),
    ]


def _choice(shared: list[str]) -> list[Node]:
    return [
        Node(
            choose_samplers,
            [
                "sampling_figures",
                "sampling_pools",
                "sampling_panels",
                "saved_sampler_choice",
                *shared,
            ],
            ["sampler_choice", "changed_winner"],
            name="choose_samplers",
        ),
        Node(
            trace_chosen,
            ["sampler_choice", "sampling_pools", "sampling_panels", *shared],
            "chosen_curves",
            name="trace_chosen",
        ),
        Node(
            trace_subjects,
            ["sampling_pools", "sampling_panels", *shared],
            "subject_curves",
            name="trace_subjects",
        ),
        Node(
            choose_by_subject,
            ["sampling_pools", "sampling_panels", "saved_subject_winners", *shared],
            ["subject_winners", "changed_subjects", "subject_luck"],
            name="choose_by_subject",
        ),
        Node(
            join_changes,
            ["changed_winner", "changed_subjects"],
            "changed_winners",
            name="join_changes",
        ),
        Node(
            choose_subset,
            ["items", "sampling_pools", "pool_vectors", "sampler_choice", "params:sampling"],
            "chosen_subset",
            name="choose_subset",
        ),
    ]


def _views(shared: list[str]) -> list[Node]:
    return [
        Node(
            spread_scores,
            ["sampling_pools", "sampling_panels", *shared],
            "score_spread",
            name="spread_scores",
        ),
        Node(
            describe_texts,
            "sampling_pools",
            ["item_features", "readability_examples", "readability_bands"],
            name="describe_texts",
        ),
        Node(
            describe_clusters,
            ["sampling_pools", *shared],
            ["cluster_sizes", "cluster_curves", "item_map"],
            name="describe_clusters",
        ),
    ]


def _results() -> list[Node]:
    return [
        Node(
            collect_sampling_metrics,
            [
                "sampling_panels",
                "sampling_against_random",
                "sampling_summary",
                "sampler_choice",
                "subject_luck",
                "estimate_errors",
                "chosen_subset",
                "params:sampling",
            ],
            "sampling_metrics",
            name="collect_sampling_metrics",
        ),
        Node(
            render_sampling_report,
            [
                "params:ingestion",
                "params:variant",
                "params:sampling",
                "params:estimation",
                "params:seed",
                "sampling_panels",
                "paper_panel",
                "samplers_left_out",
                "sampling_against_random",
                "sampling_summary",
                "paper_summary",
                "target_curves",
                "sampler_choice",
                "chosen_curves",
                "subject_winners",
                "subject_luck",
                "changed_winners",
                "estimate_errors",
                "score_spread",
                "readability_examples",
                "readability_bands",
                "cluster_sizes",
                "chosen_subset",
                *FIGURES,
            ],
            "sampling_report",
            name="render_sampling_report",
        ),
    ]
