"""The plot of comparisons and gates."""

import numpy as np
import pandas as pd
from plotly.graph_objects import Figure

from benchwright.reports.comparison import plot_differences
from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED
from benchwright.verdicts.compare import compare
from benchwright.verdicts.pair import Pair, Side

ROWS = pd.DataFrame(
    [
        ("all items", 90, 0.0, -0.1, 0.1, 1.0),
        ("a<b>", 30, 0.2, 0.1, 0.3, 0.01),
        ("c_d", 60, -0.1, -0.2, -0.01, 0.01),
        ("e", 60, -0.1, -0.2, -0.01, 0.06),
    ],
    columns=["name", "items", "difference", "low", "high", "holm"],
)

SIDES = (Side("s", "a", 0.5, 0, 0), Side("s", "b", 0.5, 0, 0))
MADE = compare(Pair(*SIDES, ("q", "r"), np.eye(2), np.arange(2), None), 0.9, 0.05)


def test_colours_say_on_which_side_of_zero_an_interval_lies() -> None:
    chart = plot_differences(ROWS, MADE, 0.02)
    found = {trace.marker.color: list(trace.y) for trace in Figure(chart).data}
    assert found == {KEPT: [1], REMOVED: [2], QUIET: [0, 3]}
    assert list(Figure(chart).layout.yaxis.ticktext) == [
        "all items (90)",
        "a&lt;b&gt; (30)",
        "c d (60)",
        "e (60)",
    ]
    assert [shape.x0 for shape in Figure(chart).layout.shapes] == [0, -2]
    error = Figure(chart).data[0].error_x
    np.testing.assert_allclose([error.array[0], error.arrayminus[0]], [10, 10])


def test_lines_at_zero_and_at_the_margin_are_on_the_axis() -> None:
    chart = plot_differences(ROWS[1:2].reset_index(drop=True), MADE, 0.05)
    low, high = Figure(chart).layout.xaxis.range
    assert (low < -5, high > 30) == (True, True)
