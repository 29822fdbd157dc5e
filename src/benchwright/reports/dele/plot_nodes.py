"""The nodes that draw the figures of the report."""

from kedro.pipeline import Node

from benchwright.reports.dele.plots.bars import draw_score_spread, draw_winners
from benchwright.reports.dele.plots.clusters import draw_cluster_curves, draw_item_map
from benchwright.reports.dele.plots.curves import (
    draw_chosen_curves,
    draw_curves,
    draw_paper_curves,
    draw_subject_curves,
    draw_target_curves,
)

CURVES = (
    "figure_sampling_tau",
    "figure_sampling_spearman",
    "figure_sampling_pearson",
    "figure_sampling_wasserstein",
    "figure_sampling_error",
    "figure_sampling_spearman_sd",
    "figure_sampling_wasserstein_sd",
)

FIGURES = (
    *CURVES,
    "figure_paper_curves",
    "figure_target_curves",
    "figure_chosen_curves",
    "figure_subject_curves",
    "figure_sampler_winners",
    "figure_score_spread",
    "figure_cluster_curves",
    "figure_item_map",
)


def draw_figures() -> list[Node]:
    """A node for each figure, or for several that are drawn alike."""
    return [
        Node(
            draw_curves,
            ["sampling_curves", "sampling_panels", "params:sampling"],
            list(CURVES),
            name="draw_curves",
        ),
        Node(
            draw_paper_curves,
            ["paper_curves", "paper_panel", "params:sampling"],
            "figure_paper_curves",
            name="draw_paper_curves",
        ),
        Node(
            draw_target_curves,
            ["target_curves", "params:sampling"],
            "figure_target_curves",
            name="draw_target_curves",
        ),
        Node(
            draw_chosen_curves,
            "chosen_curves",
            "figure_chosen_curves",
            name="draw_chosen_curves",
        ),
        Node(
            draw_subject_curves,
            ["subject_curves", "params:sampling"],
            "figure_subject_curves",
            name="draw_subject_curves",
        ),
        Node(
            draw_winners,
            ["sampler_choice", "subject_winners"],
            "figure_sampler_winners",
            name="draw_winners",
        ),
        Node(
            draw_score_spread,
            ["score_spread", "params:sampling"],
            "figure_score_spread",
            name="draw_score_spread",
        ),
        Node(
            draw_cluster_curves,
            "cluster_curves",
            "figure_cluster_curves",
            name="draw_cluster_curves",
        ),
        Node(draw_item_map, "item_map", "figure_item_map", name="draw_item_map"),
    ]
