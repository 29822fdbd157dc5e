"""Plots of the report, also without data."""

from typing import Any

from plotly.graph_objects import Figure

from benchwright.evidence.panel import Panel
from benchwright.reports.smart.plots import (
    plot_distance_distribution,
    plot_random_band,
    plot_rank_chart,
)
from benchwright.tables.evidence import RandomComparison, RandomSubsets, Scores
from benchwright.tables.similarity import DistanceDensity


def caption(plot: Any) -> str:
    return Figure(plot).layout.meta["caption"]


def notes(plot: Any) -> list[str]:
    return [note.text for note in Figure(plot).layout.annotations]


def test_distance_plot_shows_threshold_branch_and_peaks(small) -> None:
    inputs = small.inputs()
    plot = plot_distance_distribution(inputs["distance_density"], inputs["similarity_threshold"])
    assert "δ = 0.250" in caption(plot)
    assert "halved" in caption(plot)
    assert Figure(plot).layout.shapes[0].x0 == 0.25
    assert list(Figure(plot).data[2].x) == [0.5]
    assert 0.2 < max(Figure(plot).data[0].x) <= 0.25  # the shaded area lies below the threshold
    assert "δ = 0.250" in notes(plot)
    bounded = {**inputs["similarity_threshold"], "limit": 0.2}
    shaded = Figure(plot_distance_distribution(inputs["distance_density"], bounded)).data[0]
    assert max(shaded.x) <= 0.2


PANEL = Panel(("a", "b", "c"), ("held_out",) * 3, (), 60, "items", (), 60)


def test_random_band_counts_all_subsets_and_marks_this_run(small) -> None:
    draws = small.random_subsets(50)
    plot = plot_random_band(draws, small.random_comparison(), PANEL)
    middle, steps = Figure(plot).data
    assert (min(middle.x), max(middle.x)) == (0.95, 0.99)
    assert sum(steps.y) == 2 * 50  # each step has two corners
    assert [shape.x0 for shape in Figure(plot).layout.shapes] == [0.928]
    low, high = Figure(plot).layout.xaxis.range
    own = draws.query("metric == 'kendall_tau_b' and method == 'kept' and random == 'plain'")
    assert low < 0.928 < own["value"].max() < high
    assert "(22 held-out models, 50 items)" in caption(plot)
    assert notes(plot) == ["This run 0.928, percentile 2"]


def test_without_held_out_models_the_band_uses_all_models_and_equal_subsets(small) -> None:
    table = small.random_comparison().query("models == 'all' and method == 'kept'")
    draws = small.random_subsets(20).assign(models="all", value=1.0)
    table = table.assign(value=1.0, random_low=1.0, random_high=1.0)
    plot = plot_random_band(draws, table, PANEL._replace(roles=("filter",) * 3))
    assert "models, 50 items)" in caption(plot)
    assert "held-out" not in caption(plot)
    assert sum(Figure(plot).data[1].y) == 2 * 20
    assert Figure(plot).layout.xaxis.range[0] < 1 < Figure(plot).layout.xaxis.range[1]


def test_empty_plots_show_the_reason() -> None:
    none = {"branch": "none"}
    for plot, why in (
        (plot_rank_chart(Scores.empty()), "No model"),
        (
            plot_random_band(RandomSubsets.empty(), RandomComparison.empty(), PANEL),
            "No random subsets",
        ),
        (plot_distance_distribution(DistanceDensity.empty(), none), "off or could not run"),
    ):
        assert why in notes(plot)[0]
        assert not Figure(plot).data
