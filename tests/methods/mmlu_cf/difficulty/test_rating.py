"""Ratings of difficulty: recorded, combined, and replaced if missing."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.mmlu_cf.difficulty.rating import (
    BUNDLED,
    combine_ratings,
    difficulty_prompt,
    parse_level,
    rate_difficulty,
)
from benchwright.methods.mmlu_cf.judging.judges import judged_values

ITEMS = pd.DataFrame(
    {
        "item_id": ["a", "b", "c"],
        "question": ["What is two plus two?", "Who was the first?", "How many are there?"],
        "choices": [["3", "4", "5"], ["she", "he"], ["7", "8"]],
        "answer": [1, 0, 1],
    }
)
LEVEL = {"What is two plus two?": 1, "Who was the first?": 6, "How many are there?": 9}


def knows(texts: Sequence[str], attempt: int = 1) -> list[str | None]:
    """A judge that knows the levels and writes them as requested from the second attempt."""
    asked = [text.rsplit("Question: ", 1)[1].split("\n")[0] for text in texts]
    return [
        f"[{LEVEL[question]}]" if attempt > 1 or question[0] == "W" else "8" for question in asked
    ]


def test_known_levels_are_read_by_the_second_attempt() -> None:
    ratings, rounds = rate_difficulty(ITEMS, {"judge": knows}, BUNDLED, attempts=3)
    assert ratings["value"].tolist() == [1, 6, 9]
    assert rounds["asked"].tolist() == [3, 1]  # "8" may be the answer to the last question
    assert rounds["parse_rate"].tolist() == pytest.approx([2 / 3, 1])
    table = combine_ratings(["a", "b", "c"], ratings, seed=0)
    assert table["level"].tolist() == [1, 6, 9]
    assert set(table["source"]) == {"judges"}


def test_a_judge_sees_five_worked_examples_and_the_question_with_its_answer() -> None:
    text = difficulty_prompt("How many?", ["7", "8"], 1, BUNDLED)
    assert text.count("Right answer: ") == 6
    assert text.endswith("Question: How many?\nA. 7\nB. 8\nRight answer: B\nReply:")
    assert sorted(example.rating for example in BUNDLED) == [0, 2, 4, 6, 9]
    assert difficulty_prompt("How many?", ["7", "8"], 1, ()).count("Right answer: ") == 1


@pytest.mark.parametrize(
    ("reply", "level"),
    [
        ("6", 6),
        ('{"difficulty": 8}', 8),
        ("[6]\n\nQuestion: What is DNA?\nDifficulty: [2]", 6),  # goes on with the pattern
        ("Question: What is DNA?\nDifficulty: [2]", None),  # another question's level
        ("Question: How many?\nA. 7\nB. 8\nRight answer: B\nDifficulty: [6]", 6),
        ("B. 8", None),
        ("8", None),
        ("[0]-[9]", None),
        (None, None),
    ],
)
def test_levels_of_other_questions_are_not_read(reply: str | None, level: int | None) -> None:
    assert parse_level(reply, "How many?", ["7", "8"]) == level


def ratings(*rows: tuple[str, str, float | None]) -> pd.DataFrame:
    return judged_values([(item, judge, "difficulty", value) for item, judge, value in rows])


def test_several_judges_give_their_median() -> None:
    given = ratings(("a", "x", 1), ("a", "y", 2), ("a", "z", 9), ("a", "silent", None))
    row = combine_ratings(["a"], given, seed=0).iloc[0]
    assert (row["difficulty"], row["level"]) == (2, 2)


def test_half_levels_round_up_or_down_equally_often_and_reproducibly() -> None:
    names = [f"i{number}" for number in range(400)]
    given = ratings(
        *((name, judge, value) for name in names for judge, value in (("x", 5), ("y", 6)))
    )
    first = combine_ratings(names, given, seed=1)
    assert set(first["difficulty"]) == {5.5}
    assert 150 < (first["level"] == 6).sum() < 250
    other = combine_ratings(names[::-1], given.iloc[::-1], seed=1)
    pd.testing.assert_frame_equal(first, other.iloc[::-1].reset_index(drop=True))


def test_unrated_items_get_a_level_from_responses_or_are_not_judged() -> None:
    given = ratings(("a", "x", 3), ("b", "x", None), ("c", "x", None))
    table = combine_ratings(
        ["a", "b", "c", "d"], given, seed=0, from_responses={"a": 9, "b": 7, "d": np.nan}
    )
    assert table["source"].tolist() == ["judges", "responses", "not_judged", "not_judged"]
    assert table["level"].tolist()[:2] == [3, 7]
    assert table["level"].isna().tolist() == [False, False, True, True]
