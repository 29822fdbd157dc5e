"""Any questions, written in any of the recognised spellings, are read back."""

import html
import string
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.methods.mmlu_cf.extraction.extract import questions_in
from benchwright.methods.mmlu_cf.extraction.measure import answered_choice

Question = tuple[str, list[str], int]

WORDS = st.text(string.ascii_lowercase, min_size=3, max_size=9).filter(
    lambda word: word not in {"answer", "answers", "ans", "key", "option", "iii", "viii", "correct"}
)
PHRASE = st.lists(WORDS, min_size=1, max_size=5).map(lambda words: " ".join(words).capitalize())


@st.composite
def questions(draw: st.DrawFn) -> Question:
    choices = draw(st.lists(PHRASE, min_size=4, max_size=4, unique_by=str.casefold))
    return f"Which {draw(PHRASE).lower()}?", choices, draw(st.integers(0, 3))


def lines(form: str, answer: str, names: str = "ABCD") -> Callable[[int, Question], str]:
    def write(number: int, question: Question) -> str:
        stem, choices, right = question
        rows = [f"{number}. {stem}"]
        rows += [form.format(names[n], choice) for n, choice in enumerate(choices)]
        return "\n".join([*rows, answer.format(names[right], choices[right])]) + "\n\n"

    return write


def inline(form: str, gap: str) -> Callable[[int, Question], str]:
    def write(number: int, question: Question) -> str:
        stem, choices, right = question
        options = gap.join(form.format("abcd"[n], choice) for n, choice in enumerate(choices))
        return f"{number}. {stem} {options}\nAns: {'abcd'[right]}\n\n"

    return write


def items(number: int, question: Question) -> str:
    stem, choices, right = question
    listed = "".join(f"<li>{html.escape(choice)}</li>" for choice in choices)
    return f"<h3>{number}. {stem}</h3><ol type='A'>{listed}</ol><p>Answer: {'ABCD'[right]}</p>"


def inputs(number: int, question: Question) -> str:
    stem, choices, right = question
    options = "".join(
        f"<label><input type='radio' name='q{number}' data-correct='{str(n == right).lower()}'>"
        f" {choice}</label>"
        for n, choice in enumerate(choices)
    )
    return f"<div><p>{stem}</p>{options}</div>"


def ticked(number: int, question: Question) -> str:
    stem, choices, right = question
    rows = [f"- [{'x' if n == right else ' '}] {choice}" for n, choice in enumerate(choices)]
    return "\n".join([f"### {number}. {stem}", "", *rows]) + "\n\n"


SPELLINGS: dict[str, tuple[str, Callable[[int, Question], str]]] = {
    "A. with label": ("text/plain", lines("{}. {}", "Answer: {}")),
    "A) with label and text": ("text/plain", lines("{}) {}", "Correct answer: {}) {}")),
    "(A) in brackets": ("text/plain", lines("({}) {}", "The correct answer is ({}).")),
    "[A] in square brackets": ("text/plain", lines("[{}] {}", "Ans. {}")),
    "A: with text": ("text/plain", lines("{}: {}", "Answer: {1}")),
    "A - with dash": ("text/plain", lines("{} - {}", "Key: {}")),
    "a. small letters": ("text/plain", lines("   {}. {}", "   Answer: {}", "abcd")),
    "1) numbers": ("text/plain", lines("{}) {}", "Answer: {}", "1234")),
    "option A": ("text/plain", lines("Option {}: {}", "Correct option: {}")),
    "inline brackets": ("text/plain", inline("({}) {}", " ")),
    "inline tabs": ("text/plain", inline("{}. {}", "\t")),
    "ol type A": ("text/html", items),
    "radio buttons": ("text/html", inputs),
    "check boxes": ("text/markdown", ticked),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@settings(suppress_health_check=list(HealthCheck))
@given(asked=st.lists(questions(), min_size=1, max_size=4))
def test_questions_are_read_back_as_written(spelling: str, asked: list[Question]) -> None:
    kind, write = SPELLINGS[spelling]
    text = "".join(write(number, question) for number, question in enumerate(asked, start=1))
    extracted = questions_in(text, kind)
    rows = [
        {"choices": question.choices, "labels": question.labels, "answer": question.answer}
        for question in extracted
    ]
    assert [
        (question.question, question.choices, answered_choice(row))
        for question, row in zip(extracted, rows, strict=True)
    ] == asked


@given(
    asked=st.lists(questions(), min_size=2, max_size=6),
    gap=st.sampled_from([", ", "  ", "; ", "\n"]),
)
def test_a_key_at_the_end_answers_by_number(asked: list[Question], gap: str) -> None:
    text = "".join(
        lines("{}) {}", "")(number, question) for number, question in enumerate(asked, start=1)
    )
    text += "ANSWER KEY\n" + gap.join(
        f"{n}. {'ABCD'[question[2]]}" for n, question in enumerate(asked, start=1)
    )
    extracted = questions_in(text, "text/plain")
    assert [question.answer for question in extracted] == [
        "ABCD"[question[2]] for question in asked
    ]


@given(text=st.text(st.sampled_from("AaBb12.)(\n\t ?:<>/-*[]xX✓"), max_size=400))
def test_any_text_is_read_without_error_and_spans_lie_in_order(text: str) -> None:
    for kind in ("text/plain", "text/markdown", "text/html"):
        extracted = questions_in(text, kind)
        assert all(question.start <= question.end for question in extracted)
        assert all(
            len(question.choices) == len(question.labels) >= 2 and question.question
            for question in extracted
        )
