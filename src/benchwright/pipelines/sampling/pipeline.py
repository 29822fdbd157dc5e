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
from benchwright.pipelines.named_nodes import NodeParts, OneOutput, boxed, named_nodes, report_nodes
from benchwright.reports.dele.headline import collect_sampling_metrics
from benchwright.reports.dele.page import (
    render_sampling_report,
    show_sampling_choices,
    show_sampling_few,
    show_sampling_headline,
    show_sampling_method,
    show_sampling_scores,
    show_sampling_subjects,
    show_sampling_texts,
)
from benchwright.reports.dele.plots.bars import draw_score_spread, draw_winners
from benchwright.reports.dele.plots.clusters import draw_cluster_curves, draw_item_map
from benchwright.reports.dele.plots.curves import (
    draw_chosen_curves,
    draw_curves,
    draw_paper_curves,
    draw_subject_curves,
    draw_target_curves,
)

NO_ANSWERS = "no_live_responses"
"""What takes the place of answers of models that were asked in the run."""

_SETTINGS = {"sampling": "params:sampling", "seed": "params:seed"}
_PANELS = {"panels": "sampling_panels", **_SETTINGS}
_JUDGED = {"pools": "sampling_pools", **_PANELS}
_MODELS = {"models": "params:models", "sampling": "params:sampling"}
_SHARED = ["params:sampling", "params:seed"]


def _also(names: str, given: dict[str, str]) -> dict[str, str]:
    """Datasets whose parameters are called as they are, and those given by parameter."""
    return {**{name: name for name in names.split()}, **given}


_POOLS: tuple[NodeParts, ...] = (
    (
        choose_panels,
        ["response_matrix", "items", "models_table", "published_scores", *_SHARED],
        "sampling_panels",
    ),
    (
        encode_pool_texts,
        _also("items sampling_vector_cache", {"panels": "sampling_panels", **_MODELS}),
        ["sampling_vectors", "pool_vectors"],
    ),
    (
        build_pools,
        _also("items pool_vectors", {"panels": "sampling_panels", **_MODELS}),
        "sampling_pools",
    ),
)
_EVIDENCE: tuple[NodeParts, ...] = (
    (judge_samplers, _JUDGED, ["sampling_figures", "samplers_left_out"]),
    (draw_random_bands, _PANELS, "random_bands"),
    (trace_curves, ["sampling_figures", "random_bands"], "sampling_curves"),
    (summarise_samplers, _also("sampling_curves", _JUDGED), "sampling_summary"),
    (
        choose_paper_panel,
        ["response_matrix", "items", "published_scores", "params:sampling"],
        "paper_panel",
    ),
    (
        judge_paper_panel,
        _also("items paper_panel pool_vectors", {**_MODELS, **_SETTINGS}),
        ["paper_curves", "paper_summary"],
    ),
    (trace_targets, _JUDGED, "target_curves"),
    (measure_estimates, {**_JUDGED, "estimation": "params:estimation"}, "estimate_errors"),
    (spread_scores, _JUDGED, "score_spread"),
)
_CHOICE: tuple[NodeParts, ...] = (
    (
        choose_samplers,
        _also("sampling_figures saved_sampler_choice", _JUDGED),
        ["sampler_choice", "changed_winner"],
    ),
    (trace_chosen, _also("sampler_choice", _JUDGED), "chosen_curves"),
    (trace_subjects, _JUDGED, "subject_curves"),
    (
        choose_by_subject,
        _also("saved_subject_winners", _JUDGED),
        ["subject_winners", "changed_subjects", "subject_luck"],
    ),
    (join_changes, ["changed_winner", "changed_subjects"], "changed_winners"),
    (
        choose_subset,
        _also(
            "items pool_vectors sampler_choice",
            {"pools": "sampling_pools", "sampling": "params:sampling"},
        ),
        "chosen_subset",
    ),
)
_RESULTS: tuple[NodeParts, ...] = (
    (
        describe_texts,
        {"pools": "sampling_pools"},
        ["item_features", "readability_examples", "readability_bands"],
    ),
    (
        describe_clusters,
        {"pools": "sampling_pools", **_SETTINGS},
        ["cluster_sizes", "cluster_curves", "item_map"],
    ),
    (
        collect_sampling_metrics,
        [
            *("sampling_panels", "sampling_against_random", "sampling_summary", "sampler_choice"),
            *("subject_luck", "estimate_errors", "chosen_subset", "params:sampling"),
        ],
        "sampling_metrics",
    ),
)
_CURVES = {
    "tau": "figure_sampling_tau",
    "spearman": "figure_sampling_spearman",
    "pearson": "figure_sampling_pearson",
    "wasserstein": "figure_sampling_wasserstein",
    "error": "figure_sampling_error",
    "spearman-sd": "figure_sampling_spearman_sd",
    "wasserstein-sd": "figure_sampling_wasserstein_sd",
}
_FIGURES: dict[str, OneOutput] = {
    "paper": (
        draw_paper_curves,
        ["paper_curves", "paper_panel", "params:sampling"],
        "figure_paper_curves",
    ),
    "targets": (draw_target_curves, ["target_curves", "params:sampling"], "figure_target_curves"),
    "chosen": (draw_chosen_curves, "chosen_curves", "figure_chosen_curves"),
    "subjects": (
        draw_subject_curves,
        ["subject_curves", "params:sampling"],
        "figure_subject_curves",
    ),
    "winners": (draw_winners, ["sampler_choice", "subject_winners"], "figure_sampler_winners"),
    "spread": (draw_score_spread, ["score_spread", "params:sampling"], "figure_score_spread"),
    "cluster-curves": (draw_cluster_curves, "cluster_curves", "figure_cluster_curves"),
    "item-map": (draw_item_map, "item_map", "figure_item_map"),
}
"""Figures by their places on the page."""

_SECTIONS: tuple[OneOutput, ...] = (
    (
        show_sampling_method,
        [
            *("params:ingestion", "params:variant", "params:sampling", "params:estimation"),
            "params:seed",
        ],
        "sampling_method",
    ),
    (
        show_sampling_headline,
        [
            *("sampling_panels", "samplers_left_out", "sampling_against_random"),
            *("sampling_summary", "sampler_choice", "params:sampling"),
        ],
        "sampling_headline",
    ),
    (show_sampling_few, ["sampling_summary", "paper_summary", "paper_panel"], "sampling_few"),
    (
        show_sampling_scores,
        ["sampling_against_random", "target_curves", "score_spread", "params:sampling"],
        "sampling_scores",
    ),
    (
        show_sampling_choices,
        [
            *("sampler_choice", "chosen_curves", "changed_winners", "chosen_subset"),
            "params:sampling",
        ],
        "sampling_choices",
    ),
    (
        show_sampling_subjects,
        ["subject_winners", "subject_luck", "estimate_errors"],
        "sampling_subjects",
    ),
    (
        show_sampling_texts,
        ["readability_examples", "readability_bands", "cluster_sizes"],
        "sampling_texts",
    ),
)


def create_answers_pipeline() -> Pipeline:
    """The absence of live answers, as a dataset."""
    return Pipeline([Node(ask_nobody, None, NO_ANSWERS, name="ask_nobody")])


def create_pipeline() -> Pipeline:
    """The sampling stage: no model is run but encoders that samplers ask for."""
    against_random = Node(
        compare_with_random,
        _also("sampling_figures", _PANELS),
        "sampling_against_random",
        name="compare_samplers_with_random",
    )
    curves = ["sampling_curves", "sampling_panels", "params:sampling"]
    figures = {place: figure for place, (_, _, figure) in _FIGURES.items()}
    curve_plots = Node(draw_curves, curves, list(_CURVES.values()), name="draw_curves")
    page = report_nodes("sampling_report", render_sampling_report, _SECTIONS, _CURVES, figures)
    return Pipeline(
        [
            against_random,
            *named_nodes([*_POOLS, *_EVIDENCE, *_CHOICE, *_RESULTS]),
            boxed("plots", [curve_plots, *named_nodes(_FIGURES.values())]),
            boxed("page", page),
        ]
    )
