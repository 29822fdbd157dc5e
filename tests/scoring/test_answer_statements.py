"""Questions that a model invents are ignored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.scoring.answer_statements import before_next_question
from benchwright.scoring.option_labels import extract_letter

OPTIONS = ["Mars", "Earth", "Venus", "the Moon"]
MADE_UP = (
    "Who reached the moon first?\nA. Alan Shepard\nB. John Glenn\nC. Neil Armstrong\n"
    "The answer is (C).\n\nThe"
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f" Earth\n\n{MADE_UP}", " Earth"),
        (f" It has water. The answer is (B).\n\n{MADE_UP}", " It has water. The answer is (B)."),
        (f" The answer is (B).\n{MADE_UP}", " The answer is (B)."),
        (MADE_UP, ""),
        (" Earth (A) or not.\n\nThe answer is (B).", None),
        (" A. Mars is red.\nB. Earth is blue.\n\nThe answer is (B).", None),
        ("(A) MARS\n(B) Earth\nAnswer: B", None),
        ("", None),
    ],
)
def test_text_after_another_list_of_options_is_cut(text: str, kept: str | None) -> None:
    assert before_next_question(text, OPTIONS) == (text if kept is None else kept)


def test_answer_to_an_invented_question_is_ignored() -> None:
    text = before_next_question(f" Earth\n\n{MADE_UP}", OPTIONS)
    assert extract_letter(text, OPTIONS).answer == 1


@given(st.text(alphabet="AB.)( \n\tx", max_size=200))
def test_result_is_a_prefix_of_the_text(text: str) -> None:
    assert text.startswith(before_next_question(text, OPTIONS))


def test_long_hostile_text_is_read_in_bounded_time() -> None:
    text = "A. x\n" * 100_000 + "B" * 1000 + "\n(A" * 100_000
    assert len(before_next_question(text, OPTIONS)) <= len(text)
