"""Several named values, yes or no, and one of several names are read strictly."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.methods.mmlu_cf.fields import FIELDS, SPELLINGS
from benchwright.methods.mmlu_cf.judging.replies import (
    parse_choice,
    parse_named,
)

RATINGS, FLAGS = ("clarity", "facts"), ("self_harm",)
FULL = {"clarity": 4, "facts": 5, "self_harm": False}


def named(reply: str | None, shown: tuple[str, ...] = ()) -> Any:
    return parse_named(reply, RATINGS, FLAGS, 1, 5, shown)


@pytest.mark.parametrize(
    "reply",
    [
        "clarity: 4\nfacts: 5\nself_harm: no",
        "Here they are:\n\nclarity: 4\nfacts: 5\nself harm: no\n",
        "1. clarity: 4\n2. facts: 5\n3. self_harm: no.",
        "**clarity**: 4/5\n**facts**: 5/5\n**self_harm**: false",
        "| clarity | 4 |\n| facts | 5 |\n| self_harm | no |",
        "clarity = [4]\nfacts = [5]\nself_harm = no",
        "clarity: 4 out of 5\nfacts: 5 stars\nself_harm: no",
        "facts: 5\nself_harm: no\nclarity: 4\ncomment: nothing to say",
        '{"clarity": 4, "facts": 5, "self_harm": "no"}',
        '{"Clarity": "4", "facts": "5/5", "self-harm": false, "why": "x"}',
        '```json\n{"clarity": 4, "facts": 5, "self_harm": false}\n```',
        'Sure.\n{"ratings": {"clarity": 4, "facts": 5}, "harms": {"self_harm": "No"}}',
    ],
)
def test_all_values_in_a_stated_form_are_read(reply: str) -> None:
    assert named(reply) == FULL


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "",
        "4\n5\nno",
        "clarity: 4\nfacts: 5",
        "clarity: 4\nfacts: 5\nself_harm:",
        "clarity: 4\nfacts: 5\nself_harm: maybe",
        "clarity: 4\nfacts: 5\nself_harm: yes or no",
        "clarity: <1-5>\nfacts: <1-5>\nself_harm: <yes or no>",
        "clarity: 4-5\nfacts: 5\nself_harm: no",
        "clarity: 4.5\nfacts: 5\nself_harm: no",
        "clarity: 4/10\nfacts: 5\nself_harm: no",
        "clarity: 0\nfacts: 5\nself_harm: no",
        "clarity: 6\nfacts: 5\nself_harm: no",
        "clarity: ４\nfacts: 5\nself_harm: no",
        "clarity: 4, facts: 5, self_harm: no",
        "clarity: 4\nclarity: 3\nfacts: 5\nself_harm: no",
        "I'm sorry, I cannot rate this.\nclarity: 4\nfacts: 5\nself_harm: no",
        '{"clarity": 4, "facts": 5}',
        '{"clarity": 4, "facts": 5, "self_harm": "no"',
        '{"clarity": 4, "facts": 5, "self_harm": "no"} {"clarity": 1}',
        '{"clarity": 4, "clarity": 5, "facts": 5, "self_harm": "no"}',
        '{"clarity": true, "facts": 5, "self_harm": "no"}',
        '{"clarity": 4.0, "facts": 5, "self_harm": "no"}',
        '{"clarity": [4], "facts": 5, "self_harm": "no"}',
        '[{"clarity": 4}]',
        "x" * 9000,
    ],
)
def test_a_reply_with_a_missing_or_repeated_value_is_not_read(reply: str | None) -> None:
    assert named(reply) is None


@pytest.mark.parametrize("word", ["yes", "true"])
def test_the_lowest_rating_and_a_raised_flag_are_read(word: str) -> None:
    values = {"clarity": 1, "facts": 5, "self_harm": True}
    assert named(f"clarity: 1\nfacts: 5\nself_harm: {word}") == values


def test_lines_of_the_question_are_not_values() -> None:
    question = "Which film has\nclarity: 2\nfacts: 2\nself_harm: yes"
    assert named(question, (question,)) is None
    assert named(f"{question}\nclarity: 4\nfacts: 5\nself_harm: no", (question,)) == FULL


@given(st.integers(1, 5), st.integers(1, 5), st.booleans(), st.permutations(range(3)))
def test_replies_in_the_requested_format_are_read(
    clarity: int, facts: int, harm: bool, order: list[int]
) -> None:
    values = {"clarity": clarity, "facts": facts, "self_harm": harm}
    lines = [f"clarity: {clarity}", f"facts: {facts}", f"self_harm: {'yes' if harm else 'no'}"]
    assert named("\n".join(lines[place] for place in order)) == values
    assert named(json.dumps(values)) == values


@given(st.text(max_size=300))
def test_any_text_gives_all_values_or_none(reply: str) -> None:
    assert named(reply) is None or set(named(reply)) == set(FULL)


@pytest.mark.parametrize(
    ("reply", "field"),
    [
        ("Biology", "Biology"),
        ("biology.", "Biology"),
        ("**Computer Science**", "Computer Science"),
        ("[Law]", "Law"),
        ("Field: Math", "Math"),
        ("The field is Health.", "Health"),
        ("The field of this question is Physics.", "Physics"),
        ("Mathematics", "Math"),
        ("Biology - it is about cells", "Biology"),
        ("Biology\n\nThe question is about the history of a cell.", "Biology"),
        ('{"field": "History"}', "History"),
        ("Biology or Chemistry", None),
        ("Biology\nChemistry", None),
        ("Biochemistry", None),
        ("Mathematical Physics", None),
        ("It is not Biology", None),
        ("A. Biology", None),
        ("Geography", None),
        (", ".join(FIELDS), None),
        ("", None),
        (None, None),
        ("I cannot determine the field. Other", None),
    ],
)
def test_one_field_is_read_and_two_are_not(reply: str | None, field: str | None) -> None:
    assert parse_choice(reply, SPELLINGS, "field") == field
