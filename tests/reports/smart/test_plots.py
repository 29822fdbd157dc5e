"""Plots of the report, also without data."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.page.plot_style import clip, short_names
from benchwright.reports.smart.plots.agreement_maps import plot_agreement
from benchwright.reports.smart.plots.random_band import plot_random_band, plot_spread_band
from benchwright.reports.smart.plots.rank_chart import plot_rank_chart
from benchwright.reports.smart.plots.shares import plot_filter_shares, plot_subject_shares
from benchwright.reports.smart.plots.similarity import (
    plot_distance_distribution,
    plot_threshold_sensitivity,
)
from benchwright.tables.evidence import (
    Agreement,
    RandomComparison,
    RandomSubsets,
    Scores,
    SubjectShares,
)
from benchwright.tables.similarity import DistanceDensity, ThresholdSensitivity

OFF = {"threshold": None, "branch": "none"}


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
    shown = dict(zip(removed.y, zip(removed.x, spared.x, spared.text, strict=True), strict=True))
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


@pytest.mark.parametrize("n", [1, 7, 30, 60])
def test_each_model_has_a_line_with_name_and_both_ranks(n: int) -> None:
    plot = plot_rank_chart(scores_of(n), EvaluationParams())
    lines = [trace for trace in plot.data if trace.mode == "lines+markers"]
    assert len(lines) == n
    assert len(set(plot.layout.yaxis.ticktext)) == n
    assert plot.layout.height >= 24 * n


def test_lines_cross_only_where_ranks_change() -> None:
    same = plot_rank_chart(scores_of(6), EvaluationParams())
    assert all(line.y[0] == line.y[1] for line in same.data[:-1])
    turned = plot_rank_chart(scores_of(6, shift=1), EvaluationParams())
    assert [line.y for line in turned.data[:-1]] == [(0, 5), *((i, i - 1) for i in range(1, 6))]


def test_tied_models_keep_their_order() -> None:
    table = scores_of(3)
    table["rank_kept"] = 2.0
    plot = plot_rank_chart(table, EvaluationParams())
    assert [line.y for line in plot.data[:-1]] == [(0, 0), (1, 1), (2, 2)]


def test_many_models_are_thinned_and_the_caption_says_so() -> None:
    plot = plot_rank_chart(scores_of(200), EvaluationParams(rank_chart_models=60))
    assert len(plot.data) == 60 + 1
    assert "60 of 200 models" in caption(plot)


def test_agreement_maps_are_symmetric_and_have_titles() -> None:
    rows = [
        ("x/a", "x/b", "correctness", 10, 0.8, 5, 0.6),
        ("x/a", "x/c", "correctness", 10, 0.7, 5, None),
    ]
    rows.append(("x/b", "x/c", "correctness", 10, 0.9, 5, 0.5))
    plot = plot_agreement(Agreement.from_rows(rows))
    before, after = (np.array(trace.z, dtype=float) for trace in plot.data)
    assert before[0].tolist()[1:] == [0.8, 0.7]
    assert np.array_equal(before, before.T, equal_nan=True)
    assert np.isnan(after[0, 2])
    assert "correctness" in caption(plot)
    assert "80.0% → 55.0%" in caption(plot)


def test_distance_plot_shows_threshold_branch_and_peaks(small) -> None:
    inputs = small.inputs()
    plot = plot_distance_distribution(inputs["distance_density"], inputs["similarity_threshold"])
    assert "δ = 0.250" in caption(plot)
    assert "halved" in caption(plot)
    assert plot.layout.shapes[0].x0 == 0.25
    assert list(plot.data[2].x) == [0.5]
    assert 0.2 < max(plot.data[0].x) <= 0.25  # the shaded area lies below the threshold
    bounded = {**inputs["similarity_threshold"], "limit": 0.2}
    shaded = plot_distance_distribution(inputs["distance_density"], bounded).data[0]
    assert max(shaded.x) <= 0.2


def test_sensitivity_plot_marks_the_bandwidth_in_use(small) -> None:
    inputs = small.inputs()
    table, threshold = inputs["threshold_sensitivity"], inputs["similarity_threshold"]
    plot = plot_threshold_sensitivity(table, threshold)
    assert list(plot.data[0].y) == [1, 2]
    assert plot.data[0].marker.color[0] != plot.data[0].marker.color[1]
    assert "used: 0.15" in caption(plot)


def test_random_band_counts_all_subsets_and_marks_this_run_and_ire(small) -> None:
    draws = small.random_subsets(50)
    plot = plot_random_band(draws, small.random_comparison())
    bars = [trace for trace in plot.data if trace.type == "bar"]
    outlines = [trace for trace in plot.data if trace.type == "scatter"]
    assert [sum(trace.y) for trace in (*bars, *outlines)] == [50] * 4
    assert [trace.yaxis for trace in bars] == ["y", "y2"]
    lines = [shape.x0 for shape in plot.layout.shapes if shape.type == "line"]
    bands = [(s.x0, s.x1) for s in plot.layout.shapes if s.type == "rect"]
    assert lines == [0.928, 0.928]
    assert bands == [(0.95, 0.99), (0.95, 0.99)]
    low, high = plot.layout.xaxis.range
    assert low < 0.928 < draws.query("metric == 'kendall_tau_b'")["value"].max() < high
    assert "22 held-out models" in caption(plot)
    assert notes(plot)[0] == "<b>this run 0.928</b>"


def test_range_of_the_best_models_is_in_points_and_shows_all_items(small) -> None:
    plot = plot_spread_band(small.random_subsets(50), small.random_comparison())
    lines = [shape.x0 for shape in plot.layout.shapes if shape.type == "line"]
    assert lines[:2] == pytest.approx([11.8, 7.5])
    assert notes(plot)[:2] == ["<b>this run 11.8</b>", "all items 7.5"]


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
    assert sum(plot.data[0].y) == 20
    assert plot.layout.xaxis.range[0] < 1 < plot.layout.xaxis.range[1]


@pytest.mark.parametrize(
    ("plot", "why"),
    [
        (lambda: plot_rank_chart(Scores.empty(), EvaluationParams()), "No model"),
        (lambda: plot_agreement(Agreement.empty()), "Fewer than two models"),
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
        (
            lambda: plot_threshold_sensitivity(ThresholdSensitivity.empty(), OFF),
            "off or could not run",
        ),
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
    drawn.append(plot_rank_chart(table, EvaluationParams()).to_json())
    for text in drawn:
        shown = json.dumps(json.loads(text))  # without the escapes that keep it out of HTML
        assert "&lt;b&gt;bold" in shown
        assert "<b>bold" not in shown
        assert "<a href" not in shown


def test_names_are_shortened_only_if_they_stay_distinct() -> None:
    assert short_names(["x/one", "y/two"]) == ["one", "two"]
    assert short_names(["x/one", "y/one", "y/two"]) == ["x/one", "y/one", "two"]


@pytest.mark.parametrize("length", [1, 9, 10, 11, 200])
def test_clipped_text_has_at_most_the_length_and_keeps_both_ends(length: int) -> None:
    text = "".join(chr(97 + i % 26) for i in range(length))
    seen = clip(text, 10)
    assert len(seen) == min(length, 10)
    assert (seen[0], seen[-1]) == (text[0], text[-1])
