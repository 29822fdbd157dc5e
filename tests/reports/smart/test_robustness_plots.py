"""Plots of the ablations, also without data."""

import math
import statistics

import pytest

from benchwright.reports.smart.plots.shares import plot_filter_model_ablation
from benchwright.reports.smart.plots.similarity import (
    plot_encoder_overlap,
    plot_neighbour_convergence,
)
from benchwright.tables.similarity import EncoderOverlap
from benchwright.tables.smart import DensityByK, FilterModelAblation, NeighbourConvergence

SHARES = {("a",): 0.5, ("b",): 0.3, ("a", "b"): 0.2}
ABLATION = FilterModelAblation.from_rows(
    [(len(m), ",".join(m), int(100 * s), s, 1, 2) for m, s in SHARES.items()]
)
CONVERGENCE = NeighbourConvergence.from_rows(
    [(5, 2, "first_peak", 0.1, 10, 0.1), (50, 1, "halved", 0.3, 30, 0.3)]
)
DENSITIES = DensityByK.from_rows([(5, 0.0, 0.0), (5, 0.2, 2.0), (50, 0.2, 0.0), (50, 0.4, 4.0)])
OVERLAP = EncoderOverlap.from_rows(
    [
        ("one", "two", 100, 0.1, 0.2, 10, 20, 5, 0.5, 0.25, 0.2, 0.8, 0.74),
        ("one", "<i>three", 100, 0.1, math.nan, 10, 0, 0, 0.0, math.nan, 0.0, 0.9, 0.9),
    ]
)


def caption(plot) -> str:
    return plot.layout.meta["caption"]


def by_name(plot) -> dict:
    return {trace.name: trace for trace in plot.data}


def test_each_set_of_models_is_a_point_at_its_size():
    plot = plot_filter_model_ablation(ABLATION)
    points, means, whole = plot.data
    assert list(points.y) == [0.5, 0.3]
    assert [round(x) for x in points.x] == [1, 1]
    assert points.x[0] != points.x[1]
    assert list(points.customdata) == ["a", "b"]
    assert list(means.y) == pytest.approx([0.4])
    assert list(means.error_y.array) == pytest.approx([statistics.stdev([0.5, 0.3])])
    assert (list(whole.x), list(whole.y)) == ([2], [0.2])
    assert caption(plot).endswith("20.0% with all 2, 40.0% on average with 1")


def test_single_filter_model_is_plotted():
    plot = plot_filter_model_ablation(ABLATION.iloc[[0]])
    assert list(plot.data[0].y) == []
    assert list(plot.data[2].y) == [0.5]
    assert caption(plot).endswith("50.0% with all 1")


def test_threshold_of_each_k_is_on_its_curve_and_in_the_second_plot():
    plot = plot_neighbour_convergence(CONVERGENCE, DENSITIES)
    traces = by_name(plot)
    assert list(traces["k = 50"].y) == [0.0, 4.0]
    assert list(traces["δ"].x) == [0.1, 0.3]
    assert list(traces["δ"].y) == pytest.approx([1.0, 2.0])
    against_k = plot.data[-1]
    assert (list(against_k.x), list(against_k.y)) == ([5, 50], [0.1, 0.3])
    assert against_k.marker.symbol[0] != against_k.marker.symbol[1]
    assert "0.100 at k = 5, 0.300 at k = 50" in caption(plot)
    assert "squares: a single peak, halved" in caption(plot)


def test_k_without_peak_has_no_threshold():
    without = CONVERGENCE.assign(threshold=[math.nan, 0.3])
    plot = plot_neighbour_convergence(without, DENSITIES)
    assert list(plot.data[-1].x) == [50]
    assert "k = 5" in by_name(plot)


def test_fixed_threshold_without_density_is_plotted():
    fixed = CONVERGENCE.assign(branch="fixed", threshold=0.2)
    plot = plot_neighbour_convergence(fixed, DensityByK.empty())
    assert list(plot.data[-1].y) == [0.2, 0.2]
    assert list(by_name(plot)["δ"].x) == []


def test_pairs_of_encoders_show_agreement_and_chance():
    plot = plot_encoder_overlap(OVERLAP)
    jaccard, same, expected = plot.data
    assert list(jaccard.x) == [0.2, 0.0]
    assert list(same.x) == [0.8, 0.9]
    assert list(expected.x) == [0.74, 0.9]
    assert list(plot.layout.yaxis.ticktext) == ["one<br>two", "one<br>&lt;i&gt;three"]
    assert "10 and 20 of 100 items, 5 by both" in jaccard.customdata[0]


@pytest.mark.parametrize(
    ("plot", "why"),
    [
        (plot_filter_model_ablation(FilterModelAblation.empty()), "No rule"),
        (
            plot_neighbour_convergence(NeighbourConvergence.empty(), DensityByK.empty()),
            "was off",
        ),
        (plot_encoder_overlap(EncoderOverlap.empty()), "fewer than two encoders"),
    ],
)
def test_plot_without_data_shows_the_reason(plot, why):
    assert why in plot.layout.annotations[0].text
    assert not plot.data
