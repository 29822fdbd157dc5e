"""Shapes of plots: what they hold, and how a page draws them."""

import re
from typing import Any
from xml.etree import ElementTree as Xml

import pandas as pd
import pytest
from plotly.graph_objects import Figure

from benchwright.reports.page import shapes
from benchwright.reports.page.figure import Line, Mark, Scale
from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED, clip, distinct_names
from benchwright.reports.page.shapes import Step


def drawing(figure: Any) -> Any:
    """Return the drawing as a tree without namespaces."""
    return Xml.fromstring(figure["layout"]["meta"]["drawing"])  # noqa: S314


def texts(figure: Any) -> list[str]:
    return ["".join(text.itertext()) for text in drawing(figure).iter("text")]


def places(figure: Any, letter: str) -> dict[str, float]:
    return {t.text: float(t.attrib[letter]) for t in drawing(figure).iter("text")}


def boxes(figure: Any) -> list[tuple[float, ...]]:
    names = ("x", "y", "width", "height")
    return [tuple(float(b.attrib[n]) for n in names) for b in drawing(figure).iter("rect")]


def paths(figure: Any, colour: str) -> list[str]:
    return [p.attrib["d"] for p in drawing(figure).iter("path") if p.get("stroke") == colour]


def test_bars_start_at_0_are_stacked_and_notes_have_room() -> None:
    figure = shapes.funnel("t", [Step("rows", 2, 1, "n1"), Step("easy", 4, 0, "n2")])
    kept, removed = Figure(figure).data
    assert [list(kept.x), list(removed.x), list(removed.base)] == [[2, 4], [1, 0], [2, 4]]
    assert list(Figure(figure).layout.xaxis.range) == [0, pytest.approx(5.2)]
    first, second, tail = boxes(figure)
    assert second[2] == pytest.approx(2 * first[2], abs=0.2)
    assert tail[:3] == pytest.approx((first[0] + first[2], first[1], first[2] / 2), abs=0.2)
    assert texts(figure)[-2:] == ["n1", "n2"]


def test_intervals_end_at_their_bounds_and_are_left_out_where_these_are_missing() -> None:
    nan = float("nan")
    columns = {"difference": [0.5, 0.5, nan], "low": [0.25, nan, 0], "high": [1, nan, 1]}
    values = pd.DataFrame(columns)
    scale = Scale(reach=(0, 1))
    figure = shapes.intervals("t", list("abc"), values, colours=[KEPT] * 3, x=scale)
    assert list(Figure(figure).data[0].error_x.arrayminus) == [0.25, 0]
    (whisker,) = paths(figure, KEPT)
    low, high = map(float, re.findall(r"[MH]([\d.]+)", whisker))
    start, end = (places(figure, "x")[tick] for tick in "01")
    assert (low, high) == pytest.approx((start + 0.25 * (end - start), end), abs=0.2)


def test_line_is_broken_where_a_value_is_missing() -> None:
    line = Mark("line", [0, 1, 2, 3], [0, float("nan"), 1, 2], KEPT)
    figure = shapes.curves("t", [line], Scale(), Scale())
    (path,) = paths(figure, KEPT)
    assert path.count("M") == 2
    assert path.count("L") == 1
    assert list(Figure(figure).data[0].y)[1] is None


def test_lines_have_labels_above_one_another() -> None:
    lines = [Line(1, "one", KEPT), Line(1.1, "two", REMOVED), Line(0.5, level=True)]
    curve = Mark("line", [1, 10, 100], [0, 0, 0.5], QUIET)
    figure = shapes.curves("t", [curve], Scale("items"), Scale(ticks={}), lines=lines)
    down = places(figure, "y")
    assert down["two"] == down["one"] - 14
    assert len(paths(figure, KEPT)) == len(paths(figure, REMOVED)) == 1


@pytest.mark.parametrize(
    ("values", "zero", "ends"),
    [
        ([1, 2], True, (0, 2.1)),
        ([-1, -2], True, (-2.1, 0)),
        ([0, 0], True, (0, 0.05)),
        ([2, 2], False, (1.9, 2.1)),
        ([], False, (0.95, 1.05)),
    ],
)
def test_axis_holds_its_values_with_room(values: Any, zero: bool, ends: Any) -> None:
    dots = Mark("dots", [0] * len(values), values, KEPT)
    figure = shapes.curves("t", [dots], Scale(), Scale(zero=zero))
    assert list(Figure(figure).layout.yaxis.range) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("after", "rows", "colours"),
    [
        ([1, 2, 3], [0, 1, 2], [QUIET] * 3),
        ([3, 1, 2], [2, 0, 1], [REMOVED, KEPT, KEPT]),
        ([2, 2, 2], [0, 1, 2], [REMOVED, QUIET, KEPT]),  # ties keep their order
    ],
)
def test_slopes_cross_only_where_ranks_change(after: Any, rows: Any, colours: Any) -> None:
    figure = shapes.slopes("t", ranks(after), ("full", "kept"))
    assert [list(line.y) for line in Figure(figure).data[:3]] == [
        [i, p] for i, p in enumerate(rows)
    ]
    assert [line.line.color for line in Figure(figure).data[:3]] == colours
    assert "<b>m0  80.0%  1" in texts(figure)
    assert f"{after[0]}  70.0%  <b>m0" in texts(figure)


def ranks(after: list[int]) -> pd.DataFrame:
    names = [f"org/<b>m{i}" for i in range(len(after))]
    table = {"model": names, "rank_full": range(1, len(after) + 1), "rank_kept": after}
    return pd.DataFrame({**table, "accuracy_full": 0.8, "accuracy_kept": 0.7})


@pytest.mark.parametrize(("n", "shown"), [(60, 60), (61, 60)])
def test_many_models_are_thinned_and_the_caption_says_so(n: int, shown: int) -> None:
    figure = shapes.slopes("t", ranks(list(range(1, n + 1))), ("full", "kept"))
    assert len(Figure(figure).layout.yaxis.ticktext) == shown
    assert len(Figure(figure).layout.annotations) == shown
    assert ("60 of 61 models" in Figure(figure).layout.meta["caption"]) == (n > shown)


def test_distribution_counts_every_value_once_and_holds_the_line() -> None:
    figure = Figure(shapes.distribution("t", [0, 0.5, 1], "draws", (0.1, 0.9), Line(2, "here")))
    middle, steps = figure.data
    assert sum(steps.y) == 2 * 3  # each step has two corners
    assert (min(middle.x), max(middle.x)) == (0.1, 0.9)
    assert figure.layout.xaxis.range[0] < 0
    assert figure.layout.xaxis.range[1] > 2


def test_data_is_text_in_figures_and_drawings() -> None:
    nasty = "<b>bold</b> & <script>"
    escaped = "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;script&gt;"
    values = pd.DataFrame({"difference": [1.0], "low": [0.5], "high": [2.0]})
    words = {KEPT: nasty}
    lines = [Line(0, nasty)]
    given = {"colours": [KEPT], "x": Scale(nasty), "words": words, "lines": lines}
    figure = shapes.intervals(nasty, [nasty], values, **given)
    assert Figure(figure).layout.yaxis.ticktext == (escaped,)
    assert Figure(figure).data[0].name == escaped
    drawn = figure["layout"]["meta"]["drawing"]
    assert "<script>" not in drawn
    assert [text for text in texts(figure) if text == nasty] == [nasty] * 3  # row, title, line
    assert [name for _, name in figure["layout"]["meta"]["legend"]] == [nasty]
    assert drawn.count("<title>&lt;b&gt;bold") == 1
    noted = shapes.funnel("t", [Step(nasty, 1, 0, nasty)])
    assert texts(noted).count(nasty) == 2
    assert Figure(noted).data[1].text == (escaped,)


def test_names_are_shortened_only_if_they_stay_distinct() -> None:
    assert distinct_names(["x/one", "y/two"]) == ["one", "two"]
    assert distinct_names(["x/one", "y/one", "y/two"]) == ["x/one", "y/one", "two"]
    assert [clip("abcdefghijkl"[:n], 10) for n in (10, 11)] == ["abcdefghij", "abcde…hijk"]
