"""Plots of the report, also without data."""

import json
import math
import statistics
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.reports.smart.plots import (
    plot_distance_distribution,
    plot_encoder_overlap,
    plot_filter_model_ablation,
    plot_filter_shares,
    plot_neighbour_convergence,
    plot_random_band,
    plot_rank_chart,
    plot_spread_band,
    plot_subject_shares,
)
from benchwright.tables.evidence import RandomComparison, RandomSubsets, Scores, SubjectShares
from benchwright.tables.similarity import DistanceDensity, EncoderOverlap
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


def caption(plot: Any) -> str:
    return plot.layout.meta["caption"]


def notes(plot: Any) -> list[str]:
    return [note.text for note in plot.layout.annotations]


def scores_of(n: int, shift: int = 0) -> pd.DataFrame:
    """Scores whose ranking is rotated by `shift` places."""
    accuracy = np.linspace(0.9, 0.3, n)
    after = np.roll(accuracy, shift)
    return Scores.from_rows(
        [
            (f"org/model-{i}", "held_out", 100, full, 0.01, i + 1, 50, part, 0.02, rank)
            for i, (full, part, rank) in enumerate(
                zip(accuracy, after, (-after).argsort().argsort() + 1, strict=True)
            )
        ]
    )


def test_filter_shares_distinguish_no_findings_from_not_run(small) -> None:
    inputs = small.inputs()
    plot = plot_filter_shares(inputs["items"], inputs["kept_items"], inputs["rule_coverage"])
    removed, spared = plot.data
    names = plot.layout.yaxis.ticktext
    shown = dict(zip(names, zip(removed.x, spared.x, spared.text, strict=True), strict=True))
    assert shown["anomalous"][2] == "off"
    assert shown["answer only"][2] == "not run"
    assert shown["easy"] == (9, 1, "9 · 15.0%")
    assert shown["suspect label"] == (0, 1, "0 · 0.0%, 91.7% judged")
    assert shown["all rules together"][::2] == (10, "10 · 16.7%")


def test_benchmark_with_one_subject_has_one_bar() -> None:
    plot = plot_subject_shares(SubjectShares.from_rows([("all", 10, 4, 0.6)]))
    assert list(plot.data[0].x) == [0.6]
    assert list(plot.data[0].text) == ["10 → 4"]


def test_many_subjects_are_cut_to_both_ends_and_the_caption_says_so() -> None:
    rows = [(f"s{i:03d}", 100, i, 1 - i / 100) for i in range(100)]
    plot = plot_subject_shares(SubjectShares.from_rows(rows))
    assert len(plot.data[0].x) == 80
    assert (plot.data[0].x[0], plot.data[0].x[-1]) == (1.0, pytest.approx(0.01))
    assert "40 most and 40 least of 100" in caption(plot)


def test_many_models_are_thinned_and_the_caption_says_so() -> None:
    plot = plot_rank_chart(scores_of(200))
    assert len(plot.layout.yaxis.ticktext) == len(plot.layout.yaxis2.ticktext) == 60
    assert plot.layout.yaxis.ticktext[0] == "model-0  90.0%  1"
    assert "60 of 200 models" in caption(plot)


def test_distance_plot_shows_threshold_branch_and_peaks(small) -> None:
    inputs = small.inputs()
    plot = plot_distance_distribution(inputs["distance_density"], inputs["similarity_threshold"])
    assert "δ = 0.250" in caption(plot)
    assert "halved" in caption(plot)
    assert plot.layout.shapes[0].x0 == 0.25
    assert list(plot.data[2].x) == [0.5]
    assert 0.2 < max(plot.data[0].x) <= 0.25  # the shaded area lies below the threshold
    assert "δ = 0.250" in notes(plot)
    bounded = {**inputs["similarity_threshold"], "limit": 0.2}
    shaded = plot_distance_distribution(inputs["distance_density"], bounded).data[0]
    assert max(shaded.x) <= 0.2


def test_random_band_counts_all_subsets_and_marks_this_run_and_ire(small) -> None:
    draws = small.random_subsets(50)
    plot = plot_random_band(draws, small.random_comparison())
    bars = [trace for trace in plot.data if trace.type == "bar"]
    outlines = [trace for trace in plot.data if trace.type == "scatter" and trace.mode == "lines"]
    assert [sum(trace.y) for trace in (*bars, *outlines)] == [50] * 4
    bands = [
        (min(trace.x), max(trace.x))
        for trace in plot.data
        if trace.type == "scatter" and trace.fill
    ]
    assert [trace.yaxis for trace in bars] == ["y", "y2"]
    lines = [shape.x0 for shape in plot.layout.shapes if shape.type == "line"]
    assert lines == [0.928, 0.928]
    assert bands == [(0.95, 0.99), (0.95, 0.99)]
    low, high = plot.layout.xaxis.range
    assert low < 0.928 < draws.query("metric == 'kendall_tau_b'")["value"].max() < high
    assert "22 held-out models" in caption(plot)
    assert notes(plot) == ["this run 0.928", "50 items", "IRE 0.928", "50 items"]


def test_range_of_the_best_models_is_in_points_and_shows_all_items(small) -> None:
    plot = plot_spread_band(small.random_subsets(50), small.random_comparison())
    lines = [shape.x0 for shape in plot.layout.shapes if shape.type == "line"]
    assert lines[:2] == pytest.approx([11.8, 7.5])
    assert notes(plot)[:2] == ["this run 11.8", "all items 7.5"]


def test_without_held_out_models_the_band_uses_all_models(small) -> None:
    table = small.random_comparison().query("models == 'all' and method == 'kept'")
    draws = small.random_subsets(20).assign(models="all")
    plot = plot_random_band(draws, table)
    assert "models)" in caption(plot)
    assert "held-out" not in caption(plot)
    assert {trace.yaxis for trace in plot.data} == {"y"}


def test_equal_random_subsets_can_be_plotted(small) -> None:
    draws = small.random_subsets(20)
    draws["value"] = 1.0
    table = small.random_comparison().assign(value=1.0, random_low=1.0, random_high=1.0)
    plot = plot_random_band(draws, table)
    assert sum(next(trace for trace in plot.data if trace.type == "bar").y) == 20
    assert plot.layout.xaxis.range[0] < 1 < plot.layout.xaxis.range[1]


@pytest.mark.parametrize(
    ("plot", "why"),
    [
        (lambda: plot_rank_chart(Scores.empty()), "No model"),
        (
            lambda: plot_random_band(RandomSubsets.empty(), RandomComparison.empty()),
            "No random subsets were drawn",
        ),
        (
            lambda: plot_spread_band(RandomSubsets.empty(), RandomComparison.empty()),
            "No random subsets were drawn",
        ),
        (lambda: plot_subject_shares(SubjectShares.empty()), "no items"),
        (
            lambda: plot_distance_distribution(DistanceDensity.empty(), {"branch": "none"}),
            "off or could not run",
        ),
        (lambda: plot_filter_model_ablation(FilterModelAblation.empty()), "No rule"),
        (
            lambda: plot_neighbour_convergence(NeighbourConvergence.empty(), DensityByK.empty()),
            "was off",
        ),
        (lambda: plot_encoder_overlap(EncoderOverlap.empty()), "fewer than two encoders"),
    ],
)
def test_empty_plot_shows_the_reason(plot, why: str) -> None:
    drawn = plot()
    assert why in notes(drawn)[0]
    assert json.loads(drawn.to_json())["data"] == []


def test_names_with_markup_are_plain_text_in_plots() -> None:
    rows = [("<b>bold</b>", 4, 2, 0.5), ('<a href="javascript:x">y</a>', 4, 3, 0.25)]
    drawn = [plot_subject_shares(SubjectShares.from_rows(rows)).to_json()]
    table = scores_of(2)
    table["model"] = ["<b>bold", "<i>it"]
    drawn.append(plot_rank_chart(table).to_json())
    for text in drawn:
        shown = json.dumps(json.loads(text))  # without the escapes that keep it out of HTML
        assert "&lt;b&gt;bold" in shown
        assert "<b>bold" not in shown
        assert "<a href" not in shown


def test_each_set_of_models_is_a_point_at_its_size() -> None:
    plot = plot_filter_model_ablation(ABLATION)
    points, means, whole = plot.data
    assert list(points.y) == [0.5, 0.3]
    assert list(points.x) == pytest.approx([0.92, 1.08])
    assert list(points.hovertext) == ["50.0% removed with a", "30.0% removed with b"]
    assert list(means.y) == pytest.approx([0.4])
    assert list(means.error_y.array) == pytest.approx([statistics.stdev([0.5, 0.3])], abs=1e-6)
    assert (list(whole.x), list(whole.y)) == ([2], [0.2])
    assert caption(plot).endswith("20.0% with all 2, 40.0% on average with 1")
    assert list(plot.layout.xaxis.ticktext) == ["1 (2 sets)", "2 (all)"]
    assert caption(plot_filter_model_ablation(ABLATION.iloc[[0]])).endswith("50.0% with all 1")


def test_threshold_of_each_k_is_on_its_curve() -> None:
    plot = plot_neighbour_convergence(CONVERGENCE, DENSITIES)
    *curves, found = plot.data
    assert [curve.name for curve in curves] == ["k = 5", "k = 50"]
    assert (list(found.x), list(found.y)) == ([0.1, 0.3], pytest.approx([1.0, 2.0]))
    assert "0.100 at k = 5, 0.300 at k = 50" in caption(plot)
    without = plot_neighbour_convergence(CONVERGENCE.assign(threshold=[math.nan, 0.3]), DENSITIES)
    assert list(without.data[-1].x) == [0.3]
    fixed = plot_neighbour_convergence(CONVERGENCE.assign(branch="fixed"), DensityByK.empty())
    assert list(fixed.data[-1].x) == []


def test_pairs_of_encoders_show_agreement_and_chance() -> None:
    plot = plot_encoder_overlap(OVERLAP)
    assert [list(trace.x) for trace in plot.data] == [[0.2, 0.0], [0.8, 0.9], [0.74, 0.9]]
    assert list(plot.layout.yaxis.ticktext) == ["one / two", "one / &lt;i&gt;three"]
    assert "10 and 20 of 100 items, 5 by both" in plot.data[0].hovertext[0]
