"""What is said about a result beside random subsets of its size."""

from typing import Any

import pytest

from benchwright.reports.smart.comparisons import comparison_rows
from benchwright.reports.smart.summary import judge_against_random
from benchwright.tables.evidence import RandomComparison

BELOW, INSIDE, ABOVE = 0.928, 0.97, 0.995  # of a band from .95 to .99
NARROWER, WITHIN, WIDER = 5.0, 7.5, 11.8  # of a band from 6.9 to 8.2


@pytest.fixture
def judge(small) -> Any:
    def on_rows(*rows: dict[str, Any], group: str = "held_out", top: int | None = 20) -> Any:
        table = RandomComparison.from_rows([small.random_comparison_row(**row) for row in rows])
        return judge_against_random(table, group, top)

    return on_rows


def test_the_sentences_of_a_filter_that_widens_the_top_and_loses_the_ranking(judge, small) -> None:
    found = judge({}, small.spread)
    assert " ".join(found.sentences) == (
        "1,000 random subsets of the same size reach 0.975 on average, the middle 95% of them "
        "[0.950, 0.990]; this run is at percentile 2. This ranking is kept less well than by "
        "removing items at random. Range of the top 20: 7.5 → 11.8 points, wider "
        "than what random subsets give (6.9–8.2). Filtering buys headroom, not rank fidelity."
    )


@pytest.mark.parametrize(
    ("tau", "spread", "places", "conclusion"),
    [
        (BELOW, WIDER, ("below", "above"), "Filtering buys headroom, not rank fidelity."),
        (BELOW, WITHIN, ("below", "inside"), "costs rank fidelity and buys no headroom"),
        (BELOW, NARROWER, ("below", "below"), "costs both rank fidelity and headroom"),
        (INSIDE, WIDER, ("inside", "above"), "buys headroom, at no loss of rank fidelity"),
        (INSIDE, WITHIN, ("inside", "inside"), "cannot be told from removing at random"),
        (INSIDE, NARROWER, ("inside", "below"), "costs headroom and gains no rank fidelity"),
        (ABOVE, WIDER, ("above", "above"), "buys both headroom and rank fidelity"),
        (ABOVE, WITHIN, ("above", "inside"), "buys rank fidelity, not headroom"),
        (ABOVE, NARROWER, ("above", "below"), "rank fidelity at the price of headroom"),
    ],
)
def test_the_conclusion_follows_from_both_places(
    judge, small, tau: float, spread: float, places: tuple[str, str], conclusion: str
) -> None:
    found = judge({"value": tau}, {**small.spread, "value": spread})
    assert (found.ranking, found.headroom) == places
    assert conclusion in found.sentences[-1]
    says = {"below": "less well", "inside": "as good as", "above": "better than by"}
    assert says[places[0]] in found.sentences[1]
    says = {"below": "narrower than", "inside": "within", "above": "wider than"}
    assert says[places[1]] in found.sentences[2]


@pytest.mark.parametrize("bound", [0.95, 0.99])
def test_a_value_on_a_bound_of_the_band_is_inside(judge, bound: float) -> None:
    assert judge({"value": bound}).ranking == "inside"


def test_a_value_that_is_written_like_a_bound_is_inside(judge, small) -> None:
    assert judge({"value": 0.99 + 4e-4}).ranking == "inside"
    assert judge({"value": 0.99 + 6e-4}).ranking == "above"
    assert judge({}, {**small.spread, "value": 8.24}).headroom == "inside"
    assert judge({}, {**small.spread, "value": 8.26}).headroom == "above"


def test_without_a_range_of_the_best_there_is_no_conclusion(judge) -> None:
    found = judge({})
    assert (found.ranking, found.headroom, len(found.sentences)) == ("below", "none", 2)


def test_subsets_by_subject_are_mentioned_only_where_they_say_something_else(judge) -> None:
    same = judge({}, {"random": "stratified"})
    assert not any("each subject" in said for said in same.sentences)
    other = judge({}, {"random": "stratified", "random_low": 0.9})
    assert "each subject keeps its share it is inside their band [0.900, 0.990]." in " ".join(
        other.sentences
    )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no subsets were drawn, or there are too few models"),
        ([{"value": None, "reason": "all tied"}], "all tied"),
        ([{"random_low": None, "random_high": None}], "no subsets were drawn"),
        ([{"method": "ire"}], "no subsets were drawn"),
        ([{"models": "all"}], "no subsets were drawn"),
        ([{"n_items": 60}], "All of these items were kept"),
    ],
)
def test_where_nothing_can_be_compared_it_says_so(
    judge, rows: list[dict[str, Any]], said: str
) -> None:
    found = judge(*rows)
    assert (found.ranking, found.headroom) == ("none", "none")
    assert len(found.sentences) == 1
    assert said in found.sentences[0]


def test_each_set_of_models_is_judged_by_its_own_rows(judge) -> None:
    rows = [{"value": ABOVE, "models": "all"}, {"value": BELOW}]
    assert judge(*rows, group="all").ranking == "above"
    assert judge(*rows).ranking == "below"


def test_with_fewer_models_than_the_top_the_range_is_that_of_all(judge, small) -> None:
    assert "Range of the 22 models:" in judge({}, small.spread, top=40).sentences[2]
    assert "Range of the best models:" in judge({}, small.spread, top=None).sentences[2]


@pytest.mark.parametrize(
    ("percentile", "said"),
    [
        (0, "0 (all of them are higher)"),
        (0.05, "0.1"),
        (2.05, "2"),
        (99.95, "100"),
        (99.4, "99.4"),
        (100, "100 (all of them are lower)"),
    ],
)
def test_percentiles_have_a_decimal_only_at_the_ends(judge, percentile: float, said: str) -> None:
    first = judge({"percentile": percentile}).sentences[0]
    assert f"this run is at percentile {said}." in first


@pytest.mark.parametrize("off", [-1e-10, -7e-15, 0, 7e-15, 1e-10])
@pytest.mark.parametrize("bound", [6.9, 8.2])
def test_rounding_does_not_decide_about_headroom(small: Any, bound: float, off: float) -> None:
    spread = {**small.spread, "value": bound + off}
    table = RandomComparison.from_rows(
        [small.random_comparison_row(), small.random_comparison_row(**spread)]
    )
    assert judge_against_random(table, "held_out", 20).headroom == "inside"
    rows = comparison_rows(table, "held_out")[0]["rows"]
    assert [row["outside"] for row in rows] == [True, False]  # tau-b, range
