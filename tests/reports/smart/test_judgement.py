"""The explanation of the comparison with random subsets of the same size."""

from typing import Any

import pytest

from benchwright.reports.smart.summary import judge_against_random, write_alarm
from benchwright.tables.evidence import RandomComparison

BELOW, INSIDE, ABOVE = 0.928, 0.97, 0.995  # of a band from .95 to .99
NARROWER, WITHIN, WIDER = 5.0, 7.5, 11.8  # of a band from 6.9 to 8.2


@pytest.fixture
def judge(small) -> Any:
    def on_rows(*rows: dict[str, Any], group: str = "held_out") -> Any:
        table = RandomComparison.from_rows([small.random_comparison_row(**row) for row in rows])
        return judge_against_random(table, group)

    return on_rows


def test_sentences_for_wider_range_and_worse_ranking(judge, small) -> None:
    judgement = judge({}, small.spread)
    assert " ".join(judgement.sentences) == (
        "1,000 random subsets of the same size have a mean of 0.975, the middle 95% of them lie in "
        "[0.950, 0.990]; this run is at percentile 2. This ranking is preserved less well than by "
        "random removal. Range of the top 20: 7.5 → 11.8 points, wider "
        "than random subsets (6.9–8.2). Filtering gains headroom and loses rank fidelity."
    )


@pytest.mark.parametrize(
    ("tau", "place", "said", "best", "headroom", "conclusion"),
    [
        (BELOW, "below", "less well", WIDER, "above", "gains headroom and loses rank fidelity"),
        (INSIDE, "inside", "as good as", WITHIN, "inside", "no headroom and keeps rank fidelity"),
        (ABOVE, "above", "better than by", NARROWER, "below", "loses headroom and gains rank"),
    ],
)
def test_conclusion_combines_ranking_and_headroom(
    judge, small, tau: float, place: str, said: str, best: float, headroom: str, conclusion: str
) -> None:
    judgement = judge({"value": tau}, {**small.spread, "value": best})
    assert (judgement.ranking, judgement.headroom) == (place, headroom)
    assert said in judgement.sentences[1]
    assert conclusion in judgement.sentences[3]


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


@pytest.mark.parametrize(
    ("metric", "value", "place"),
    [
        ("tau", 0.95, "inside"),
        ("tau", 0.99, "inside"),
        ("tau", 0.99 + 4e-4, "inside"),  # written like the bound
        ("tau", 0.99 + 6e-4, "above"),
        ("spread", 8.24, "inside"),
        ("spread", 8.26, "above"),
        ("spread", 6.9 - 1e-10, "inside"),
    ],
)
def test_value_that_is_written_like_a_bound_is_inside(
    judge, small, metric: str, value: float, place: str
) -> None:
    if metric == "tau":
        assert judge({"value": value}).ranking == place
        return
    assert judge({}, {**small.spread, "value": value}).headroom == place


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "no subsets were drawn, or there are too few models"),
        ([{"value": None, "reason": "all tied"}], "all tied"),
        ([{"models": "all"}], "no subsets were drawn"),
        ([{"n_items": 60}], "all of these items were kept"),
    ],
)
def test_missing_comparison_has_a_reason(judge, rows: list[dict[str, Any]], reason: str) -> None:
    judgement = judge(*rows)
    assert (judgement.ranking, judgement.headroom) == ("none", "none")
    assert len(judgement.sentences) == 1
    assert reason in judgement.sentences[0]


def test_range_needs_its_row_and_is_over_all_models_if_fewer_than_top(judge, small) -> None:
    assert judge({}).headroom == "none"
    for n, whose in ((20, "20 models"), (21, "top 20")):
        judgement = judge({}, {**small.spread, "n_models": n})
        assert f"Range of the {whose}:" in judgement.sentences[2]


@pytest.mark.parametrize(
    ("percentile", "written"),
    [(0, "0"), (0.05, "0.1"), (2.05, "2"), (99.4, "99.4"), (99.95, "100")],
)
def test_percentiles_have_decimals_only_at_the_ends(judge, percentile: float, written: str) -> None:
    first = judge({"percentile": percentile}).sentences[0]
    assert f"this run is at percentile {written}." in first


@pytest.mark.parametrize(
    ("rule", "restored", "said"),
    [
        ("easy_unanimous", True, "they would not (`--params filtering.easy.enabled=false`)."),
        ("duplicate", True, "they would not (`--params filtering.duplicates.enabled=false`)."),
        ("similar", False, "No rule alone is the cause; without “similar” the harm is least (`--p"),
    ],
)
def test_alarm_names_the_rule_and_its_setting(rule: str, restored: bool, said: str) -> None:
    alarm = write_alarm({"rule": rule, "restored": restored})
    assert alarm.startswith("Do not rank models by the kept items: they rank held-out models less")
    assert said in alarm
    assert alarm.startswith(write_alarm({}))
