"""Questions of one page, through the package."""

import sys

import pytest

import benchwright as bw
from benchwright.core.errors import InputError

PLAIN = "1. What is the sum of 2 and 3?\n\nA. four\nB. five\n\nAnswer: B\n"
HTML = (
    "<p>1. What is the sum of 2 and 3?</p>"
    "<ol type=A><li>four</li><li>five</li></ol><p>Answer: B</p>"
)


@pytest.mark.parametrize(
    ("text", "media_type"),
    [(PLAIN, "text/plain"), (PLAIN, "text/markdown"), (HTML, "text/html; charset=utf-8")],
)
def test_questions_of_a_page(text: str, media_type: str) -> None:
    (question,) = bw.read_questions(text, media_type)
    assert question.question == "What is the sum of 2 and 3?"
    assert (question.choices, question.labels) == (["four", "five"], ["A", "B"])
    assert question.answer == "B"


def test_a_page_without_questions() -> None:
    assert bw.read_questions("Nothing is asked here.") == []


def test_bad_input_and_a_missing_package_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="text is bytes; expected str"):
        bw.read_questions(b"1. ?")  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "selectolax.lexbor", None)
    with pytest.raises(InputError, match=r"pip install 'benchwright\[documents\]'"):
        bw.read_questions(HTML, "text/html")
