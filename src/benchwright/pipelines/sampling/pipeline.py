"""Items and answers → samplers judged, a subset, figures, metrics and one report."""

from kedro.pipeline import Node, Pipeline

from benchwright.methods.dele.evidence.against_random import compare_with_random, draw_random_bands
from benchwright.methods.dele.evidence.choice import (
    choose_by_subject,
    choose_samplers,
    choose_subset,
    join_changes,
)
from benchwright.methods.dele.evidence.curves import (
    trace_chosen,
    trace_curves,
    trace_subjects,
    trace_targets,
)
from benchwright.methods.dele.evidence.estimates import measure_estimates
from benchwright.methods.dele.evidence.judging import judge_samplers
from benchwright.methods.dele.evidence.panels import choose_panels, choose_paper_panel
from benchwright.methods.dele.evidence.score_spread import spread_scores
from benchwright.methods.dele.evidence.study import encode_pool_texts, prepare_study
from benchwright.methods.dele.evidence.summary import judge_paper_panel, summarise_samplers
from benchwright.methods.dele.evidence.texts import describe_clusters, describe_texts
from benchwright.pipelines.named_nodes import (
    Function,
    boxed,
    inputs_by_name,
    named_nodes,
    report_nodes,
)
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
from benchwright.tables.responses import Responses

NO_ANSWERS = "no_live_responses"
"""The empty dataset in place of answers of models asked in the run."""

_PARAMS = ("estimation", "ingestion", "models", "sampling", "seed", "variant")
_NODES: dict[Function, str | list[str]] = {
    choose_panels: "sampling_panels",
    encode_pool_texts: ["sampling_vectors", "pool_vectors"],
    prepare_study: "sampling_pools",
    judge_samplers: ["sampling_figures", "samplers_left_out"],
    draw_random_bands: "random_bands",
    trace_curves: "sampling_curves",
    summarise_samplers: "sampling_summary",
    choose_paper_panel: "paper_panel",
    judge_paper_panel: ["paper_curves", "paper_summary"],
    trace_targets: "target_curves",
    measure_estimates: "estimate_errors",
    spread_scores: "score_spread",
    choose_samplers: ["sampler_choice", "changed_winner"],
    trace_chosen: "chosen_curves",
    trace_subjects: "subject_curves",
    choose_by_subject: ["subject_winners", "changed_subjects", "subject_luck"],
    join_changes: "changed_winners",
    choose_subset: "chosen_subset",
    describe_texts: ["item_features", "readability_examples", "readability_bands"],
    describe_clusters: ["cluster_sizes", "cluster_curves", "item_map"],
    collect_sampling_metrics: "sampling_metrics",
}
_CURVES = {
    "tau": "figure_sampling_tau",
    "spearman": "figure_sampling_spearman",
    "pearson": "figure_sampling_pearson",
    "wasserstein": "figure_sampling_wasserstein",
    "error": "figure_sampling_error",
    "spearman-sd": "figure_sampling_spearman_sd",
    "wasserstein-sd": "figure_sampling_wasserstein_sd",
}
_FIGURES: dict[str, tuple[Function, str]] = {
    "paper": (draw_paper_curves, "figure_paper_curves"),
    "targets": (draw_target_curves, "figure_target_curves"),
    "chosen": (draw_chosen_curves, "figure_chosen_curves"),
    "subjects": (draw_subject_curves, "figure_subject_curves"),
    "winners": (draw_winners, "figure_sampler_winners"),
    "spread": (draw_score_spread, "figure_score_spread"),
    "cluster-curves": (draw_cluster_curves, "figure_cluster_curves"),
    "item-map": (draw_item_map, "figure_item_map"),
}
"""Functions and outputs of the figures by their places on the page."""

_SECTIONS: dict[Function, str] = {
    show_sampling_method: "sampling_method",
    show_sampling_headline: "sampling_headline",
    show_sampling_few: "sampling_few",
    show_sampling_scores: "sampling_scores",
    show_sampling_choices: "sampling_choices",
    show_sampling_subjects: "sampling_subjects",
    show_sampling_texts: "sampling_texts",
}


def create_answers_pipeline() -> Pipeline:
    """Create the pipeline of a run that asks no models: their answers are an empty dataset."""
    return Pipeline([Node(Responses.empty, None, NO_ANSWERS, name="ask_nobody")])


def create_pipeline() -> Pipeline:
    """Create the sampling stage, which runs no models but the encoders that samplers read."""
    study = {"panels": "sampling_panels", "study": "sampling_pools"}
    curves = ["sampling_curves", "sampling_panels", "params:sampling"]
    figures = {place: figure for place, (_, figure) in _FIGURES.items()}
    sections = inputs_by_name(_SECTIONS, _PARAMS)
    page = report_nodes("sampling_report", render_sampling_report, sections, _CURVES, figures)
    return Pipeline(
        [
            *named_nodes(inputs_by_name(_NODES, _PARAMS, **study)),
            Node(
                compare_with_random,
                {"sampling_figures": "sampling_figures", "study": "sampling_pools"},
                "sampling_against_random",
                name="compare_samplers_with_random",
            ),
            boxed(
                "plots",
                [
                    Node(draw_curves, curves, list(_CURVES.values()), name="draw_curves"),
                    *named_nodes(inputs_by_name(dict(_FIGURES.values()), _PARAMS)),
                ],
            ),
            boxed("page", page),
        ]
    )
