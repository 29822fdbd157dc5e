"""Judges with known answers: kept, removed and unjudged questions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.mmlu_cf.checking import HARMS, check_items, decide
from benchwright.methods.mmlu_cf.judged_benchmark import compare_judges
from benchwright.methods.mmlu_cf.judging.judges import judged_values
from benchwright.params.mmlu_cf import CheckingParams

ITEMS = pd.DataFrame(
    {
        "item_id": ["good", "poor", "harmful", "mute"],
        "question": ["Which is good?", "Which is poor?", "Which is harmful?", "Which is mute?"],
        "choices": [["this", "that"]] * 4,
        "answer": [0, 1, 0, 1],
    }
)
NO = [0.0, 0.0, 0.0, 0.0]


def test_a_judge_with_known_answers_keeps_only_the_good_item() -> None:
    shown: list[str] = []

    def judge(texts: Sequence[str], attempt: int = 1) -> list[str | None]:
        shown.extend(texts)
        return [reply(text, attempt) for text in texts]

    def reply(text: str, attempt: int) -> str:
        if "mute" in text or attempt == 1:
            return "I would rather not say."
        if '{"rating"' in text:
            return "Rating: 3" if "Which is poor" in text else "Rating: 5"
        harm = "yes" if "Which is harmful" in text else "no"
        return "\n".join(f"{h.name}: {harm if h.name == 'violence' else 'no'}" for h in HARMS)

    params = CheckingParams(judges=("j",))
    ratings, harms, rounds = check_items(ITEMS, {"j": judge}, params)
    decisions = decide(ITEMS["item_id"].tolist(), ratings, harms, params).set_index("item_id")
    reasons = ["good", "low_rating", "harmful", "unjudged"]
    assert decisions["reason"].tolist() == reasons
    assert decisions["kept"].tolist() == [True, False, False, False]
    assert decisions.loc["harmful", "harms"] == "violence"
    assert decisions.loc["poor", "mean_rating"] == 3
    assert rounds["parse_rate"].tolist() == pytest.approx([0, 0.75, 0])
    assert ratings["value"].tolist() == pytest.approx([5, 5, np.nan, 3], nan_ok=True)
    assert len(harms) == 16
    assert all("\nA. this\nB. that\nRight answer: " in text for text in shown)


def reason(ratings: Sequence[float | None], flags: Sequence[list[float]], **params: Any) -> str:
    """The decision on an item with these ratings and harms, judge by judge."""
    judges = "abcd"
    rated = [
        ("i", judge, "overall", rating) for judge, rating in zip(judges, ratings, strict=False)
    ]
    flagged = [
        ("i", judge, harm.name, value)
        for judge, values in zip(judges, flags, strict=False)
        for harm, value in zip(HARMS, values, strict=True)
    ]
    table = decide(["i"], judged_values(rated), judged_values(flagged), CheckingParams(**params))
    assert table["kept"].iloc[0] == (
        table["reason"].iloc[0] == "good"
        or (table["reason"].iloc[0] == "unjudged" and params.get("unjudged") == "keep")
    )
    return str(table["reason"].iloc[0])


HATE = [1.0, 0, 0, 0]


@pytest.mark.parametrize(
    ("ratings", "flags", "params", "expected"),
    [
        ([3, 4, 5], [NO], {}, "low_rating"),  # exactly 4 is not above 4
        ([3, 4, 5], [NO], {"above": 3.9}, "good"),
        ([4, 4, 5, None], [NO], {}, "good"),
        ([5] * 4, [HATE, NO, NO, NO], {}, "harmful"),
        ([None], [HATE], {"unjudged": "keep"}, "harmful"),
        ([5], [], {"unjudged": "keep"}, "unjudged"),
        ([], [], {}, "unjudged"),
    ],
)
def test_decisions(
    ratings: list[float | None], flags: list[list[float]], params: dict[str, Any], expected: str
) -> None:
    assert reason(ratings, flags, **params) == expected


def test_disagreement_is_reported_by_criterion_and_harm() -> None:
    rows = [("x", "a", "overall", 5.0), ("x", "b", "overall", 5.0)]
    rows += [("y", "a", "overall", 1.0), ("y", "b", "overall", 1.0)]
    flags = [(i, j, "sex", float(i == "x" and j == "b")) for i in "xy" for j in "ab"]
    table = compare_judges(judged_values([]), judged_values(rows), judged_values(flags), seed=0)
    alpha = table[table["judge"] == ""].set_index(["task", "criterion"])["alpha"]
    assert alpha["quality", "overall"] == 1
    assert alpha["harms", "sex"] == 0
    assert not len(compare_judges(*[judged_values([])] * 3, seed=0))
