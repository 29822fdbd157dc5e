"""Judges with known answers: kept, removed and unjudged questions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.methods.mmlu_cf.checking import (
    CRITERIA,
    HARMS,
    check_items,
    decide,
    inquiries,
)
from benchwright.methods.mmlu_cf.difficulty.rating import difficulty_prompt
from benchwright.methods.mmlu_cf.judging.judges import judged_values
from benchwright.params.mmlu_cf import CheckingParams
from benchwright.pipelines.judging.nodes import compare_judges
from few_examples import few_examples

ITEMS = pd.DataFrame(
    {
        "item_id": ["good", "poor", "harmful", "mute"],
        "question": ["Which is good?", "Which is poor?", "Which is harmful?", "Which is mute?"],
        "choices": [["this", "that"]] * 4,
        "answer": [0, 1, 0, 1],
    }
)
IDS = ITEMS["item_id"].tolist()


def knows(style: str, silent_at: int = 0) -> Callable[..., list[str | None]]:
    """A judge that rates by the words of the question, and may be silent at an attempt."""

    def reply(text: str, attempt: int) -> str:
        if "mute" in text or attempt == silent_at:
            return "I would rather not say."
        rating = 3 if "Which is poor" in text else 5
        harm = "yes" if "Which is harmful" in text else "no"
        if "nothing else" in text and '"Rating: "' in text:
            return f"Rating: {rating}"
        lines = [f"{criterion.name}: {rating}" for criterion in CRITERIA]
        harms = [f"{name.name}: {harm if name.name == 'violence' else 'no'}" for name in HARMS]
        return "\n".join(harms if "clarity" not in text else lines + harms)

    def ask(texts: Sequence[str], attempt: int = 1) -> list[str | None]:
        return [reply(text, attempt) for text in texts]

    return ask


@pytest.mark.parametrize("style", ["together", "overall"])
def test_a_judge_with_known_answers_keeps_only_the_good_item(style: Any) -> None:
    params = CheckingParams(judges=("j",), ask=style)
    ratings, harms, rounds = check_items(ITEMS, {"j": knows(style, silent_at=1)}, params)
    decisions = decide(IDS, ratings, harms, params).set_index("item_id")
    assert decisions["reason"].to_dict() == {
        "good": "good",
        "poor": "low_rating",
        "harmful": "harmful",
        "mute": "unjudged",
    }
    assert decisions["kept"].tolist() == [True, False, False, False]
    assert decisions.loc["harmful", "harms"] == "violence"
    assert decisions.loc["poor", "mean_rating"] == 3
    assert rounds["parse_rate"].tolist() == pytest.approx([0, 0.75, 0])
    assert rounds["attempt"].tolist() == [1, 2, 3]
    assert ratings.loc[ratings["item_id"] == "mute", "value"].isna().all()
    assert len(harms) == 16


def test_unjudged_items_are_kept_on_request_and_remain_unjudged() -> None:
    params = CheckingParams(judges=("j",), unjudged="keep")
    ratings, harms, _ = check_items(ITEMS, {"j": knows("together")}, params)
    row = decide(IDS, ratings, harms, params).set_index("item_id").loc["mute"]
    assert row["kept"]
    assert row["reason"] == "unjudged"


def tables(
    ratings: dict[str, dict[str, list[float | None]]], flags: dict[str, dict[str, list[float]]]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ratings by item and judge, criterion by criterion; flags the same, harm by harm."""
    rated = [
        (item, judge, criterion.name, value)
        for item, judges in ratings.items()
        for judge, values in judges.items()
        for criterion, value in zip(CRITERIA, values, strict=False)
    ]
    flagged = [
        (item, judge, harm.name, value)
        for item, judges in flags.items()
        for judge, values in judges.items()
        for harm, value in zip(HARMS, values, strict=True)
    ]
    return judged_values(rated), judged_values(flagged)


NO = [0.0, 0.0, 0.0, 0.0]


def reason(ratings: Any, flags: Any, **params: Any) -> str:
    rated, flagged = tables({"i": ratings}, {"i": flags})
    settings = CheckingParams(**{"ask": "together", **params})
    return str(decide(["i"], rated, flagged, settings)["reason"].iloc[0])


def test_a_mean_of_exactly_four_is_not_above_four() -> None:
    three = {"a": [4.0] * 5, "b": [5.0] * 5, "c": [3.0] * 5}
    silent = dict.fromkeys("abc", NO)
    assert reason(three, silent) == "low_rating"
    assert reason(three | {"c": [3.0, 3, 3, 3, 4]}, silent) == "good"
    assert reason(three, silent, above=3.9) == "good"


def test_a_criterion_below_the_floor_is_not_made_up_for_by_the_others() -> None:
    silent = dict.fromkeys("abc", NO)
    without_answer = {judge: [5.0, 5, 5, 5, 1] for judge in "abc"}  # the mean is 4.2
    assert reason(without_answer, silent) == "low_criterion"
    assert reason(without_answer, silent, floor=1) == "good"
    assert reason(without_answer | {"a": [5.0] * 5, "b": [5.0] * 5}, silent) == "good"  # 3.67
    on_the_floor = {"a": [5.0, 5, 5, 5, 4], "b": [5.0, 5, 5, 5, 2]}
    assert reason(on_the_floor, dict.fromkeys("ab", NO)) == "good"
    assert reason(on_the_floor, dict.fromkeys("ab", NO), floor=3.1) == "low_criterion"


def test_by_default_one_rating_decides_and_the_floor_has_no_effect() -> None:
    params = CheckingParams(judges=("j",), above=1, floor=5)
    ratings, harms, _ = check_items(ITEMS, {"j": knows("overall")}, params)
    assert set(ratings["criterion"]) == {"overall"}
    decisions = decide(IDS, ratings, harms, params).set_index("item_id")
    assert decisions["reason"].to_dict()["poor"] == "good"
    assert decisions["lowest_criterion"].isna().all()


def test_a_harm_counts_for_any_judge_or_for_more_than_half() -> None:
    good = dict.fromkeys("abcd", [5.0] * 5)
    minority = {"a": [1.0, 0, 0, 0], "b": NO, "c": NO, "d": NO}
    half = minority | {"b": [1.0, 0, 0, 0]}
    spread = minority | {"b": [0, 1.0, 0, 0], "c": [0, 0, 1.0, 0]}
    most = half | {"c": [1.0, 0, 0, 0]}
    assert reason(good, minority) == "harmful"
    assert reason(good, minority, harmful="majority") == "good"
    assert reason(good, half, harmful="majority") == "good"
    assert reason(good, spread, harmful="majority") == "good"
    assert reason(good, most, harmful="majority") == "harmful"


def test_a_judge_with_a_missing_criterion_does_not_count() -> None:
    partly = {"a": [5.0] * 5, "b": [1.0, 1, 1, 1, None]}
    heard = {"a": NO, "b": NO}
    assert reason(partly, heard) == "good"
    assert reason(partly, heard, min_judges=2) == "unjudged"
    assert reason(partly, {"a": NO}, min_judges=2) == "unjudged"


def test_a_flag_counts_without_ratings() -> None:
    assert reason({"a": [None] * 5}, {"a": [0, 0, 0, 1.0]}, unjudged="keep") == "harmful"
    assert reason({"a": [5.0] * 5}, {}) == "unjudged"


@pytest.mark.parametrize("style", ["overall", "together"])
def test_every_prompt_shows_judges_the_right_answer(style: Any) -> None:
    question = ("Which is odd?", ["2", "3", "4"], 1)
    prompts = [inquiry.prompt for inquiry in inquiries(*question, style)]
    for prompt in [*prompts, difficulty_prompt(*question, ())]:
        assert "Which is odd?\nA. 2\nB. 3\nC. 4\nRight answer: B" in prompt


def test_items_without_prompts_are_unjudged() -> None:
    rated, flagged = tables({}, {})
    table = decide(["x", "y"], rated, flagged, CheckingParams(ask="together"))
    assert table["reason"].tolist() == ["unjudged", "unjudged"]
    assert not table["kept"].any()
    assert len(decide([], rated, flagged, CheckingParams())) == 0
    assert len(compare_judges(judged_values([]), rated, flagged, seed=0)) == 0


@given(
    st.lists(st.lists(st.integers(1, 5), min_size=5, max_size=5), min_size=1, max_size=4),
    st.permutations(range(4)),
)
@few_examples
def test_an_item_is_kept_only_above_the_bound_and_the_floor(
    judges: list[list[int]], order: list[int]
) -> None:
    named = {f"j{place}": [float(value) for value in row] for place, row in enumerate(judges)}
    shuffled = {f"j{place}": named[f"j{place}"] for place in order if f"j{place}" in named}
    total, number = sum(map(sum, judges)), 5 * len(judges)
    least = min(sum(criterion) for criterion in zip(*judges, strict=True))
    expected = "good" if total > 4 * number else "low_rating"
    if expected == "good" and least < 3 * len(judges):
        expected = "low_criterion"
    silent = dict.fromkeys(named, NO)
    assert reason(named, silent) == reason(shuffled, silent) == expected


def test_disagreement_is_reported_by_criterion_and_harm() -> None:
    rated, flagged = tables(
        {
            "x": {"a": [5.0, 1, 1, 1, 1], "b": [5.0, 5, 1, 1, 1]},
            "y": {"a": [1.0, 5, 1, 1, 1], "b": [1.0, 1, 1, 1, 1]},
        },
        {"x": {"a": [1.0, 0, 0, 0], "b": [1.0, 1, 0, 0]}, "y": {"a": NO, "b": NO}},
    )
    table = compare_judges(judged_values([]), rated, flagged, seed=0)
    together = table[table["judge"] == ""].set_index("criterion")["alpha"]
    assert together["clarity"] == together["hatred"] == 1
    assert together["logic"] < 0
    assert np.isnan(together["facts"])
    assert set(table["task"]) == {"quality", "harms"}
