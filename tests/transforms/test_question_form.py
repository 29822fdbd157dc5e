"""Passage and form of a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.transforms.rephrase_checks import (
    last_article,
    part_passage,
    question_form,
    speaks_of_options,
)

PASSAGE = "It was a cold day, and the ships lay in the harbour. " * 6


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Which gas makes dough rise?", "question"),
        ("Which of the following is true:", "question"),
        ("Choose the best word.", "question"),
        ("In which of these is it found", "question"),
        ("When water freezes, it turns into", "stem"),
        ("What has three sides is called a", "stem"),
        ("A knight who rode into battle wore", "stem"),
        ("The cause of it is:", "stem"),
        ("The sky is ____ today.", "blank"),
        ("He went home.", "statement"),
        ("A stone fell. What is it?", "question"),
        ("What is it? A stone fell.", "statement"),
    ],
)
def test_form_of_a_question_is_recognised(text: str, form: str) -> None:
    assert question_form(text) == form


def test_the_last_line_after_a_long_text_is_the_question() -> None:
    parts = part_passage(f"{PASSAGE}\nWhat lay in the harbour?")
    assert parts is not None
    assert parts == (f"{PASSAGE}\n", "What lay in the harbour?")


@pytest.mark.parametrize(
    "last", ["Signed by all of them, in 1648.", "iii) The ships lay there for days", "2. A ship"]
)
def test_long_text_without_a_question_in_the_last_line_is_not_split(last: str) -> None:
    assert part_passage(f"{PASSAGE}\n{PASSAGE}\n{last}") is None


@given(st.text(st.sampled_from("ab ?.\n"), max_size=900), st.booleans())
def test_parts_join_to_the_text(text: str, passage: bool) -> None:
    parts = part_passage(text, "p" if passage else None)
    assert parts is None or parts.passage + parts.question == text


def test_words_about_options_and_articles_are_found() -> None:
    assert speaks_of_options("Which of the following floats?")
    assert not speaks_of_options("What floats?")
    assert last_article("This is called an") == last_article("He saw a")
    assert last_article("He saw the:") == "the"
    assert last_article("He saw") == ""
