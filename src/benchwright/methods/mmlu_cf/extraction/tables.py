"""Tables with a question in each row, whose head names the columns."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answer_words import words_for
from benchwright.methods.mmlu_cf.extraction.answers import parsed_answer
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat

_QUESTION = re.compile(
    rf"(?:the\s)?(?:{words_for('question')}|stem|prompt|question text)s?", re.IGNORECASE
)
_OPTION = re.compile(
    r"(?i)(?:(?:option|choice|answer|alternative|distractor|opt)[\s_-]?)?[(]?([A-H]|[1-8])[)]?"
)
_ANSWER = re.compile(
    rf"(?i)(?:(?:{words_for('correct')})?[\s_-]?(?:{words_for('answer')})|{words_for('correct')})"
    r"(?:\s(?:option|choice))?"
)
_EXPLANATION = re.compile(words_for("explanation"), re.IGNORECASE)
_MOST_COLUMNS = 14


@dataclass
class FoundQuestion:
    """The columns of a raw item at characters start … end − 1."""

    question: str
    choices: list[str]
    labels: list[str]
    answer: str | None
    explanation: str | None
    passage: str | None
    layout: str
    start: int
    end: int


class _Columns(NamedTuple):
    question: int
    options: list[int]
    labels: list[str]
    answer: int | None
    explanation: int | None
    n: int


def table_questions(lines: list[Line]) -> dict[int, FoundQuestion]:
    """Return the questions, by line, of all tables whose head names a question and two options."""
    questions: dict[int, FoundQuestion] = {}
    columns: _Columns | None = None
    for at, line in enumerate(lines):
        if "\t" not in line.text or len(line.text) > 20_000:
            columns = None
            continue
        cells = [flat(cell) for cell in line.text.split("\t")]
        head = _columns(cells)
        if head is not None or columns is None or len(cells) != columns.n:
            columns = head
        elif (question := _row_question(line, cells, columns)) is not None:
            questions[at] = question
    return questions


def _columns(cells: list[str]) -> _Columns | None:
    if not 3 <= len(cells) <= _MOST_COLUMNS:
        return None
    question = [n for n, cell in enumerate(cells) if _QUESTION.fullmatch(cell)]
    options = {n: match[1] for n, cell in enumerate(cells) if (match := _OPTION.fullmatch(cell))}
    if not question or len(options) < 2:
        return None
    answer, explanation = (
        next((n for n, cell in enumerate(cells) if cell and pattern.fullmatch(cell)), None)
        for pattern in (_ANSWER, _EXPLANATION)
    )
    return _Columns(question[0], [*options], [*options.values()], answer, explanation, len(cells))


def _row_question(line: Line, cells: list[str], columns: _Columns) -> FoundQuestion | None:
    choices = [cells[n] for n in columns.options]
    labels = columns.labels
    while len(choices) > 2 and not choices[-1]:  # fewer options than the widest row
        choices, labels = choices[:-1], labels[:-1]
    question = cells[columns.question]
    if not question or sum(map(bool, choices)) < 2:
        return None
    answer, explanation = (
        cells[n] if n is not None else "" for n in (columns.answer, columns.explanation)
    )
    parsed = parsed_answer(answer, labels, choices) if answer else None
    end = line.start + len(line.text)
    return FoundQuestion(
        question, choices, labels, parsed.answer if parsed else None, explanation or None, None,
        "rows", line.start, end,
    )  # fmt: skip
