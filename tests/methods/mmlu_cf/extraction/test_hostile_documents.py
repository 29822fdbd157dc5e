"""Documents that take a naive reader hours; each must take seconds."""

import pytest

from benchwright.methods.mmlu_cf.extraction import extract
from benchwright.methods.mmlu_cf.extraction.extract import questions_in

N = 4_000
LINES = {
    "opening brackets and spaces": "[ " * N,
    "letters with brackets": "a) " * (N // 4),
    "labels on one line": "(a) x (b) y " * (N // 2),
    "options without questions": "a) x\nb) y\nc) z\nd) w\n" * (N // 40),
    "one letter a line": "A\n" * N,
    "spaces": " " * N + "x",
    "bold that does not end": "**a" * N,
    "links that do not end": "[a](" * N,
    "answers on one line": "Answer: " * N,
    "heads of keys": "Answers\n" * N,
    "a key of dashes": "Answers: " + "1 – 2; " * N,
    "a key that does not rise": "Answers: 1 - x " + "2 " * N,
    "a counted key of lines": "".join(f"Answer: 1 - x\n{i} - x\n" for i in range(2, N // 10)),
    "braces and stems that do not end": "x ::a\n{~a =b" * N,
    "options of Aiken without an answer": "A. a\nB. b\n" * N,
    "statements": "I. x\nII. y\n" * (N // 10),
    "rows of a table": "a\tb\n" * N,
    "a thread": "x wrote:\n" * N,
    "elements in elements": "<html>" + "<div>" * N,
    "tables in tables": "<html>" + "<table>" * N,
    "formatting that does not end": "<html>" + "".join(f"<font a={i}>" for i in range(N)) + "x",
    "attributes": "<html><p " + " ".join(f"a{i}=1" for i in range(N)) + ">x",
    "marks around everything": "<html>" + "<span class=correct>" * 500 + "x<br>" * (N // 10),
}


@pytest.mark.parametrize("text", LINES.values(), ids=[name.replace(" ", "-") for name in LINES])
def test_pages_without_questions_give_none(text: str) -> None:
    for kind in ("text/plain", "text/markdown"):
        assert questions_in(text, kind) == []


def test_texts_of_a_megabyte_are_kept_whole() -> None:
    long = "word " * 200_000
    text = f"1. {long}?\nA. {long}\nB. y\nC. z\nD. w\nAnswer: B\nExplanation: {long}\n"
    (question,) = questions_in(text, "text/plain")
    kept = question.question, question.choices[0], question.explanation
    assert min(len(text or "") for text in kept) > 999_990
    assert question.answer == "B"


def test_thousands_of_questions_with_one_key_get_their_answers() -> None:
    n = 1_000
    text = "".join(f"{i}) Foo {i}?\na) x\nb) y\nc) z\n" for i in range(1, n + 1)) + "Answers\n"
    text += "".join(f"{i}. {'abc'[i % 3]}\n" for i in range(1, n + 1))
    questions = questions_in(text, "text/plain")
    assert [question.answer for question in questions] == ["abc"[i % 3] for i in range(1, n + 1)]


@pytest.mark.parametrize("odd", ["\x00", "\ufeff", "\ud800", "\x0c", "\r"])
def test_odd_characters_do_not_hide_a_question(odd: str) -> None:
    text = f"Quiz{odd}\n1. What{odd} is it?\nA. one{odd}\nB. two\nC. three\nAnswer: B\n"
    (question,) = questions_in(text, "text/plain")
    assert (len(question.choices), question.choices[1]) == (3, "two")


def test_a_document_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract, "_DOCUMENT_CHARACTERS", 100)
    text = "1. What?\nA. x\nB. y\nAnswer: B\n" + " " * 100 + "\n2. Why?\nA. x\nB. y\nAnswer: B\n"
    assert len(questions_in(text, "text/plain")) == 1
