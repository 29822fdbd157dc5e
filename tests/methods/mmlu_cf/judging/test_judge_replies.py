"""Only explicitly stated ratings are read."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchwright.methods.mmlu_cf.judging.replies import Scale, parse_rating

LEVELS = Scale(0, 9, ("rating", "difficulty", "difficulty level", "level", "score"))
STARS = Scale(1, 5, ("rating", "overall rating", "score"))

QUESTION = "A film has a rating: 5 stars. How many stars are missing from 7?"
CHOICES = ("2", "5", "12", "none of them")

STATED = {
    "7": 7,
    "7.": 7,
    "[7]": 7,
    "(7)": 7,
    "“7”": 7,
    "**7**": 7,
    "> 7": 7,
    "0": 0,
    "9": 9,
    "7/9": 7,
    "[7]/[9]": 7,
    "7 out of 9": 7,
    "7 points": 7,
    "[7]\n\nThe question needs knowledge of law.": 7,
    "7 - needs several steps of reasoning": 7,
    "7, since few people know it": 7,
    "Rating: 7": 7,
    "Rating = 7": 7,
    "Rating 7": 7,
    "Rating: [7]": 7,
    "**Rating:** 7": 7,
    "Rating: 7/9": 7,
    "Rating:\n7": 7,
    "Rating: Level 7": 7,
    "Difficulty level: 7": 7,
    "difficulty_level: 7": 7,
    "Level: [7]": 7,
    "Difficulty (hard): 7": 7,
    "The difficulty level of this question is [7].": 7,
    "The difficulty rating for this question is: 7": 7,
    "I'd rate this question as [7].": 7,
    "I’d rate it 7.": 7,
    "I would rate the difficulty of this question at level 7, because it is rare.": 7,
    "I would give this question a difficulty rating of 7 out of 9.": 7,
    "On a scale of 0 to 9, I would rate this question a 7.": 7,
    "On a scale of [0-9], the difficulty is 7": 7,
    "On a scale from 0 (easiest) to 9, hm.\n[7]": None,
    "Rating: 7 (on a scale of 0-9)": 7,
    "Rating: 7\nExplanation: the treaty was signed in 1648 by 109 delegations.": 7,
    "The law of treaties is specialist knowledge.\n\n[7]": 7,
    "Rating: 7\nRating: 7": 7,
    '{"rating": 7}': 7,
    '{"rating": "7"}': 7,
    '{"Difficulty": 7, "reason": "rare"}': 7,
    '```json\n{"rating": 7}\n```': 7,
    '{"difficulty_level": "7/9"}': 7,
}

NOT_STATED = [
    "",
    "seven",
    "Rating:",
    "10",
    "-7",
    "Rating: 12",
    "6-7",
    "6–7",
    "[6]-[7]",
    "6/7",
    "Rating: 6 or 7",
    "Rating: between 6 and 7",
    "Rating: 7+",
    "Rating: ~7",
    "Rating: about 7",
    "Rating: >7",
    "It might be level 7.",
    "Rating: 7.5",
    "7.5",
    "70%",
    "7th",
    "Rating: 7 steps are needed",
    "7/10",
    "Rating: 4/5",
    "Rating: 7 on a scale of 1-10",
    "On a scale of 1 to 10, I would rate this question a 7.",
    "[0-9]",
    "on a scale of [0-9], where level [0] is easiest and level [9] is the most difficult",
    "For example, Rating: 5",
    "The rating is not 7.",
    "This isn't a level 7.",
    "It doesn't deserve a rating of 7.",
    "If this were for children, the rating would be 7.",
    "Rating: 7\nRating: 5",
    "Rating: 7\nDifficulty: 5",
    "7\n\nQuestion: What is DNA?\nRating: [2]",
    "1\n2\n3",
    "75",
    "Rating: 7 because 0 and 8 steps",
    "Rating: 7 because 9 steps",
    "It is not possible to rate this. [7]",
    "I can't rate it. [7]",
    "7. The question is hard.",
    "The answer is B.",
    "There are 7 stars.",
    "7 + 2",
    "7²",
    "½",
    "I'm sorry, but I can't help with that.",
    "As a language model I am unable to give a rating: 0",
    "I need more context. [0]",
    '{"rating": 7.5}',
    '{"rating": true}',
    '{"rating": [7]}',
    '{"rating": 7',
    '{"rating": 7, "rating": 5}',
    '{"rating": 7, "difficulty": 5}',
    '{"answer": 7}',
    "x[7]",
    "\\boxed{7}",
]


@pytest.mark.parametrize(("reply", "rating"), STATED.items())
def test_a_stated_rating_is_read(reply: str, rating: int | None) -> None:
    assert parse_rating(reply, LEVELS) == rating


@pytest.mark.parametrize("reply", NOT_STATED)
def test_unclear_ratings_are_not_read(reply: str) -> None:
    assert parse_rating(reply, LEVELS) is None


def test_a_missing_reply_has_no_rating() -> None:
    assert parse_rating(None, LEVELS) is None


@pytest.mark.parametrize(
    ("reply", "rating"),
    [
        (QUESTION, None),
        (f"Question: {QUESTION}", None),
        (f"{QUESTION}\nRating: 3", 3),
        (f"You ask: {QUESTION} Rating: 3", 3),
        (f"{QUESTION.upper()}\n[3]", 3),
        ("A. 2\nB. 5\nC. 12\nD. none of them\n\nRating: 3", 3),
        ("B. 5", None),
        ("B. 5\n3", 3),
        ("5", None),  # may be the answer to the question
        ("2.", None),
        ("3", 3),
        ("[5]", 5),
        ("Rating: 5", 5),
        ("5/9", 5),
    ],
)
def test_numbers_of_the_question_are_not_ratings(reply: str, rating: int | None) -> None:
    shown = [QUESTION, "A. 2\nB. 5\nC. 12\nD. none of them"]
    assert parse_rating(reply, LEVELS, shown, CHOICES) == rating


@pytest.mark.parametrize(
    ("reply", "rating"),
    [
        ("Rating: 5", 5),
        ("Overall Rating: 4", 4),
        ("4/5", 4),
        ("5 stars", 5),
        ("0", None),
        ("6", None),
        ("Rating: 9/9", None),
        ("1-5", None),
        ("Rating (1-5): 4", None),
        ("Rating: 4 on a scale of 1 to 5", 4),
        ("For example, Rating: 5", None),
        ("Rate the question's correctness on a scale of 1 to 5, with 5 being correct", None),
    ],
)
def test_another_scale_has_another_range(reply: str, rating: int | None) -> None:
    assert parse_rating(reply, STARS) == rating


PROSE = st.text(alphabet="abcdefghij ,;:'\"()-\n", max_size=40)


@given(st.text(max_size=200))
@example("Rating: 7\x00")
@example("[" * 500 + "7" + "]" * 500)
def test_any_text_gives_a_level_or_none(reply: str) -> None:
    read = parse_rating(reply, LEVELS)
    assert read is None or read in range(10)
    if read is not None:
        assert str(int(read)) in reply


@given(st.integers(0, 9), st.integers(0, 9), PROSE, PROSE)
def test_two_different_levels_are_never_read_as_one(
    first: int, second: int, before: str, between: str
) -> None:
    reply = f"{before}\nRating: {first}\n{between}\nRating: {second}"
    assert parse_rating(reply, LEVELS) in ({None, first} if first == second else {None})


@given(st.integers(0, 9), st.sampled_from(["[{}]", "Rating: {}", "{}/9", '{{"rating": {}}}']))
def test_every_level_is_read_in_the_requested_formats(level: int, form: str) -> None:
    assert parse_rating(form.format(level), LEVELS) == level


@given(st.integers(10, 5000))
def test_numbers_outside_the_scale_are_not_clipped(number: int) -> None:
    for form in ("{}", "[{}]", "Rating: {}", "I rate this question {}."):
        assert parse_rating(form.format(number), LEVELS) is None


@given(st.recursive(st.none() | st.integers(0, 9) | st.text("7 a"), st.lists, max_leaves=5))
def test_json_levels_must_be_numbers(value: object) -> None:
    read = parse_rating(json.dumps({"rating": value}), LEVELS)
    assert read is None or str(int(read)) == str(value).strip()


@pytest.mark.parametrize(
    "reply",
    [
        "[" * 100_000,
        "{" * 100_000,
        "7 " * 50_000,
        "rating " * 20_000,
        "or " * 50_000,
        "[7][6]" * 20_000,
        "rating" + " " * 100_000,
        "i rate this " * 10_000,
        "(" * 50_000 + "7",
        "scale of 1 to " * 10_000,
        "a" * 100_000,
        "\x00" * 100_000,
    ],
)
def test_long_and_hostile_replies_take_bounded_time(reply: str) -> None:
    assert parse_rating(reply, LEVELS) is None
    assert parse_rating(reply[:8000], LEVELS) is None  # the longest that is read
