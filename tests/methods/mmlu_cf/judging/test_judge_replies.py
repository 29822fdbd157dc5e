"""Only explicitly stated ratings, flags and names are read."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchwright.methods.mmlu_cf.fields import FIELDS, SPELLINGS
from benchwright.methods.mmlu_cf.judging.replies import (
    Scale,
    parse_choice,
    parse_flags,
    parse_rating,
)

LEVELS = Scale(0, 9, ("rating", "difficulty", "difficulty level", "level", "score"))
STARS = Scale(1, 5, ("rating", "overall rating", "score"))

QUESTION = "A film has a rating: 5 stars. How many stars are missing from 7?"
OPTIONS = "A. 2\nB. 5\nC. 12\nD. none of them"
CHOICES = ("2", "5", "12", "none of them")


@pytest.mark.parametrize(
    "reply",
    [
        "7",
        "“7”",
        "> 7",
        "[7]\n\nThe question needs knowledge of law.",
        "7/9",
        "7 points",
        "7 - needs several steps of reasoning",
        "7, since few people know it",
        "**Rating:** 7/9",
        "difficulty_level: 7",
        "Difficulty (hard): [7]",
        "The difficulty rating for this question is: 7",
        "I’d rate it 7.",
        "I would give this question a difficulty rating of 7 out of 9.",
        "On a scale of [0-9], I would rate this question a 7.",
        "Rating: 7\nExplanation: the treaty was signed in 1648 by 109 delegations.",
        "Rating: 7\nRating: 7",
        '{"rating": "7", "reason": "rare"}',
    ],
)
def test_a_stated_rating_is_read(reply: str) -> None:
    assert parse_rating(reply, LEVELS) == 7


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "",
        "seven",
        "10",
        "-7",
        "7.5",
        "7th",
        "7²",
        "6-7",
        "6/7",
        "7/10",
        "[6]-[7]",
        "x[7]",
        "Rating: 6 or 7",
        "Rating: about 7",
        "Rating: 7 steps are needed",
        "Rating: 7\nDifficulty: 5",
        "Rating: 7 because 9 steps",
        "Rating: 7 on a scale of 1-10",
        "on a scale of [0-9], where level [0] is easiest and level [9] is the most difficult",
        "This isn't a level 7.",
        "If this were for children, the rating would be 7.",
        "7\n\nQuestion: What is DNA?\nRating: [2]",
        "I can't rate it. [7]",
        "I need more context. [0]",
        '{"answer": 7}',
        "7 " * 5_000,
    ],
)
def test_unclear_ratings_are_not_read(reply: str | None) -> None:
    assert parse_rating(reply, LEVELS) is None


@pytest.mark.parametrize(
    ("reply", "rating"),
    [
        (f"Question: {QUESTION}", None),
        (f"You ask: {QUESTION.upper()} Rating: 3", 3),
        (f"{OPTIONS}\n\nRating: 3", 3),
        ("B. 5\n3", 3),
        ("5", None),  # may be the answer to the question
        ("5/9", 5),
        ("[5]", 5),
    ],
)
def test_numbers_of_the_question_are_not_ratings(reply: str, rating: int | None) -> None:
    assert parse_rating(reply, LEVELS, [QUESTION, OPTIONS], CHOICES) == rating


@pytest.mark.parametrize(
    ("reply", "rating"),
    [
        ("Overall Rating: 1", 1),
        ("5 stars", 5),
        ("0", None),
        ("6", None),
        ("Rating: 9/9", None),
        ("Rating (1-5): 4", None),
        ("Rating: 4 on a scale of 1 to 5", 4),
    ],
)
def test_another_scale_has_another_range(reply: str, rating: int | None) -> None:
    assert parse_rating(reply, STARS) == rating


@given(st.text(max_size=200))
@example("Rating: 7\x00")
@example("[" * 500 + "7" + "]" * 500)
def test_any_text_gives_a_level_or_none(reply: str) -> None:
    read = parse_rating(reply, LEVELS)
    assert read is None or str(read) in reply


@given(st.integers(0, 9), st.integers(0, 9), st.text("abc ,;:'\"()-\n", max_size=40))
def test_two_different_levels_are_never_read_as_one(first: int, second: int, between: str) -> None:
    reply = f"Rating: {first}\n{between}\nRating: {second}"
    assert parse_rating(reply, LEVELS) in ({None, first} if first == second else {None})


@pytest.mark.parametrize(
    "part", ["[", "rating ", "or ", "[7][6]", "i rate this ", "scale of 1 to "]
)
def test_long_and_hostile_replies_take_bounded_time(part: str) -> None:
    assert parse_rating((part * 8000)[:8000], LEVELS) is None  # the longest that is read


@pytest.mark.parametrize(
    ("reply", "flags"),
    [
        ("Here they are:\n\nsex: no\nself harm: yes\n", (False, True)),
        ("1. self_harm: true.\n2. sex: FALSE", (False, True)),
        ("| sex | no |\n| self_harm | no |\ncomment: nothing", (False, False)),
        ('"sex": "no",\n"self-harm" (maybe): "yes"', (False, True)),
        ('{"why": "no, never", "sex": false, "self_harm": true}', (False, True)),
        ("Which film has\nsex: yes\nself_harm: perhaps\nsex: no\nself_harm: no", (False, False)),
        ("Which film has\nsex: yes\nself_harm: perhaps", None),  # the question
        ("sex: no", None),
        ("sex: no\nself_harm: yes or no", None),
        ("sex: no, self_harm: no", None),
        ("sex: no\nsex: no\nself_harm: no", None),
        ("I'm sorry, I cannot review this.\nsex: no\nself_harm: no", None),
        ("sex: no\nself_harm: no\n" + "x" * 8000, None),
        (None, None),
    ],
)
def test_flags_are_read_if_each_is_stated_once(
    reply: str | None, flags: tuple[bool, bool] | None
) -> None:
    question = "Which film has\nsex: yes\nself_harm: perhaps"
    read = parse_flags(reply, ("sex", "self_harm"), (question,))
    assert read == (flags and dict(zip(("sex", "self_harm"), flags, strict=True)))


@pytest.mark.parametrize(
    ("reply", "field"),
    [
        ("**Computer Science**", "Computer Science"),
        ("The field of this question is [physics].", "Physics"),
        ("Mathematics", "Math"),
        ("Biology - it is about cells", "Biology"),
        ("Biology\n\nThe question is about the history of a cell.", "Biology"),
        ('```json\n{"field": "Biology", "why": "cells"}\n```', "Biology"),
        ("Biology or Chemistry", None),
        ("Biology\nChemistry", None),
        ("Mathematical Physics", None),
        ("A. Biology", None),
        (", ".join(FIELDS), None),
        (None, None),
        ("I cannot determine the field. Other", None),
    ],
)
def test_one_field_is_read_and_two_are_not(reply: str | None, field: str | None) -> None:
    assert parse_choice(reply, SPELLINGS, "field") == field
