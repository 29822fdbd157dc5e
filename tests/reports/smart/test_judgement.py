"""The explanation of the comparison with random subsets of the same size."""

from typing import Any

import pytest

from benchwright.reports.smart.comparisons import random_tables
from benchwright.reports.smart.summary import judge_against_random, write_alarm
from benchwright.tables.evidence import RandomComparison

BELOW, INSIDE, ABOVE = 0.928, 0.97, 0.995  # of a band from .95 to .99
NARROWER, WITHIN, WIDER = 5.0, 7.5, 11.8  # of a band from 6.9 to 8.2


@pytest.fixture
def judge(small) -> Any:
    def on_rows(*rows: dict[str, Any], group: str = "held_out", top: int | None = 20) -> Any:
        table = RandomComparison.from_rows([small.random_comparison_row(**row) for row in rows])
        return judge_against_random(table, group, top)

    return on_rows


def test_sentences_for_wider_range_and_worse_ranking(judge, small) -> None:
    judgement = judge({}, small.spread)
    assert " ".join(judgement.sentences) == (
        "1,000 random subsets of the same size have a mean of 0.975, the middle 95% of them lie in "
        "[0.950, 0.990]; this run is at percentile 2. This ranking is preserved less well than by "
        "random removal. Range of the top 20: 7.5 → 11.8 points, wider "
        "than random subsets (6.9–8.2). Filtering gains headroom but loses rank fidelity."
    )


@pytest.mark.parametrize(
    ("tau", "spread", "places", "conclusion"),
    [
        (BELOW, WIDER, ("below", "above"), "Filtering gains headroom but loses rank fidelity."),
        (BELOW, WITHIN, ("below", "inside"), "loses rank fidelity and gains no headroom"),
        (BELOW, NARROWER, ("below", "below"), "loses both rank fidelity and headroom"),
        (
            INSIDE,
            WIDER,
            ("inside", "above"),
            "gains headroom and loses no rank fidelity over random removal",
        ),
        (
            INSIDE,
            WITHIN,
            ("inside", "inside"),
            "In rank agreement and range filtering does not differ",
        ),
        (INSIDE, NARROWER, ("inside", "below"), "loses headroom and gains no rank fidelity"),
        (ABOVE, WIDER, ("above", "above"), "gains both headroom and rank fidelity"),
        (ABOVE, WITHIN, ("above", "inside"), "gains rank fidelity but no headroom"),
        (ABOVE, NARROWER, ("above", "below"), "gains rank fidelity but loses headroom"),
    ],
)
def test_conclusion_combines_ranking_and_headroom(
    judge, small, tau: float, spread: float, places: tuple[str, str], conclusion: str
) -> None:
    judgement = judge({"value": tau}, {**small.spread, "value": spread})
    assert (judgement.ranking, judgement.headroom) == places
    assert conclusion in judgement.sentences[-1]
    says = {"below": "less well", "inside": "as good as", "above": "better than by"}
    assert says[places[0]] in judgement.sentences[1]
    says = {"below": "narrower than", "inside": "within", "above": "wider than"}
    assert says[places[1]] in judgement.sentences[2]


def test_further_metric_that_differs_from_random_is_named(judge, small) -> None:
    noise = {"metric": "signal_to_noise", "random_low": 4.9, "random_high": 5.4}
    rows = ({"value": INSIDE}, {**small.spread, "value": WITHIN})
    assert "Signal to noise: 4.84, below random subsets [4.90, 5.40]." in (
        judge(*rows, {**noise, "value": 4.84}).sentences
    )
    assert judge(*rows, {**noise, "value": 5.0}).sentences == judge(*rows).sentences


@pytest.mark.parametrize(
    ("tau", "spread", "doubted"),
    [(ABOVE, WITHIN, True), (INSIDE, WIDER, True), (INSIDE, WITHIN, False)],
)
def test_gain_in_sample_is_no_evidence(
    judge, small, tau: float, spread: float, doubted: bool
) -> None:
    rows = {"value": tau}, {**small.spread, "value": spread}
    in_sample = judge(*({**row, "models": "all"} for row in rows), group="all")
    assert ("only held-out models can show a gain" in in_sample.sentences[-1]) == doubted
    assert "in-sample" not in judge(*rows).sentences[-1]


@pytest.mark.parametrize("bound", [0.95, 0.99])
def test_value_on_a_bound_is_inside(judge, bound: float) -> None:
    assert judge({"value": bound}).ranking == "inside"


def test_value_that_rounds_to_a_bound_is_inside(judge, small) -> None:
    assert judge({"value": 0.99 + 4e-4}).ranking == "inside"
    assert judge({"value": 0.99 + 6e-4}).ranking == "above"
    assert judge({}, {**small.spread, "value": 8.24}).headroom == "inside"
    assert judge({}, {**small.spread, "value": 8.26}).headroom == "above"


def test_no_conclusion_without_range_of_best_models(judge) -> None:
    judgement = judge({})
    assert (judgement.ranking, judgement.headroom, len(judgement.sentences)) == ("below", "none", 2)


def test_stratified_subsets_are_mentioned_only_if_they_differ(judge) -> None:
    same = judge({}, {"random": "stratified"})
    assert not any("stratified" in sentence for sentence in same.sentences)
    other = judge({}, {"random": "stratified", "random_low": 0.9})
    assert (
        "random subsets stratified by subject it is inside their band [0.900, 0.990]."
        in " ".join(other.sentences)
    )


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "no subsets were drawn, or there are too few models"),
        ([{"value": None, "reason": "all tied"}], "all tied"),
        ([{"random_low": None, "random_high": None}], "no subsets were drawn"),
        ([{"method": "ire"}], "no subsets were drawn"),
        ([{"models": "all"}], "no subsets were drawn"),
        ([{"n_items": 60}], "all of these items were kept"),
    ],
)
def test_missing_comparison_has_a_reason(judge, rows: list[dict[str, Any]], reason: str) -> None:
    judgement = judge(*rows)
    assert (judgement.ranking, judgement.headroom) == ("none", "none")
    assert len(judgement.sentences) == 1
    assert reason in judgement.sentences[0]


def test_each_set_of_models_uses_its_rows(judge) -> None:
    rows = [{"value": ABOVE, "models": "all"}, {"value": BELOW}]
    assert judge(*rows, group="all").ranking == "above"
    assert judge(*rows).ranking == "below"


def test_range_is_over_all_models_if_fewer_than_top(judge, small) -> None:
    assert "Range of the 22 models:" in judge({}, small.spread, top=40).sentences[2]
    assert "Range of the best models:" in judge({}, small.spread, top=None).sentences[2]


@pytest.mark.parametrize(
    ("percentile", "written"),
    [
        (0, "0 (all of them are higher)"),
        (0.05, "0.1"),
        (2.05, "2"),
        (99.95, "100"),
        (99.4, "99.4"),
        (100, "100 (all of them are lower)"),
    ],
)
def test_percentiles_have_decimals_only_at_the_ends(judge, percentile: float, written: str) -> None:
    first = judge({"percentile": percentile}).sentences[0]
    assert f"this run is at percentile {written}." in first


@pytest.mark.parametrize("off", [-1e-10, -7e-15, 0, 7e-15, 1e-10])
@pytest.mark.parametrize("bound", [6.9, 8.2])
def test_rounding_does_not_change_headroom(small: Any, bound: float, off: float) -> None:
    spread = {**small.spread, "value": bound + off}
    table = RandomComparison.from_rows(
        [small.random_comparison_row(), small.random_comparison_row(**spread)]
    )
    assert judge_against_random(table, "held_out", 20).headroom == "inside"
    rows = random_tables(table, "held_out")[0].rows
    assert [row[2].strong for row in rows] == [True, False]  # tau-b, range


@pytest.mark.parametrize(
    ("rule", "chosen", "setting"),
    [
        ("easy", ["org/a", "org/b"], "easy.enabled=false`). Weaker filter models of different fam"),
        ("easy_unanimous", "all", "are safer (`--params filter_models=forward`)."),
        ("answer_only", {"choose": "strongest"}, "params filter_models.choose=forward,filter_mo"),
        ("easy", {"distinct": "none"}, "params filter_models.choose=forward,filter_models.d"),
        ("easy_unanimous", {}, "(`--params filtering.easy.enabled=false`)."),
        ("duplicate", ["org/a"], "(`--params filtering.duplicates.enabled=false`)."),
    ],
)
def test_alarm_names_a_safer_setting(rule: str, chosen: Any, setting: str) -> None:
    alarm = write_alarm({"rule": rule, "restored": True}, chosen)
    assert alarm.startswith("Do not rank models by the kept items: they rank held-out models less")
    assert "they would not (`--params filtering." in alarm
    assert setting in alarm
    assert ("filter_models" in alarm) == (rule != "duplicate" and chosen != {})


def test_alarm_says_where_no_rule_alone_is_the_cause() -> None:
    alarm = write_alarm({"rule": "similar", "restored": False}, None)
    assert "No rule alone is the cause; without “similar” the harm is least (`--params" in alarm
