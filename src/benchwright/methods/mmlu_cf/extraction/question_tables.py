"""Tables with one question a row: columns for the question, the options and the answer."""

import csv
import re
from dataclasses import dataclass
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answer_lines import folded, parsed_answer
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat

_QUESTION = re.compile(
    r"(?:the\s)?(?:question|stem|item|problem|prompt|question text|frage|pregunta)s?", re.I
)
_OPTION = re.compile(
    r"(?:(?:option|choice|answer|alternative|distractor|opt)[\s_-]?)?[(]?([A-H]|[1-8])[)]?", re.I
)
_ANSWER = re.compile(
    r"(?:correct|right)?[\s_-]?(?:answer|key|ans|correct|solution|correct option|correct choice)",
    re.I,
)
_EXPLANATION = re.compile(r"explanation|rationale|feedback|comment|reason", re.I)
_MOST = 14


@dataclass(slots=True)
class FoundQuestion:
    """The columns of a raw item, before it gets its number; characters start … end − 1."""

    question: str
    choices: list[str]
    labels: list[str]
    answer: str | None
    explanation: str | None
    passage: str | None
    layout: str
    start: int
    end: int
    linked: bool = False

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """Equal for the same question with the same choices in any order."""
        return folded(self.question), tuple(sorted(map(folded, self.choices)))


class _Columns(NamedTuple):
    question: int
    options: list[int]
    labels: list[str]
    answer: int | None
    explanation: int | None
    n: int


def table_questions(lines: list[Line]) -> dict[int, FoundQuestion]:
    """Questions by line, of all tables whose head names a question and two options or more."""
    found: dict[int, FoundQuestion] = {}
    columns: _Columns | None = None
    for at, line in enumerate(lines):
        if "\t" not in line.text or len(line.text) > 20_000:
            columns = None
            continue
        cells = [flat(cell) for cell in line.text.split("\t")]
        head = _columns(cells)
        if head is not None:
            columns = head
        elif columns is not None and len(cells) == columns.n:
            row = _row(line, cells, columns)
            if row is not None:
                found[at] = row
        else:
            columns = None
    return found


def csv_lines(rows: list[str]) -> list[Line]:
    """Rows of comma-separated values with such a head, as lines of cells; none of other text."""
    head = next((row for row in rows[:3] if row.strip()), "")
    if len(head) > 1_000 or _columns([cell.strip().strip('"') for cell in head.split(",")]) is None:
        return []
    try:
        cells = list(csv.reader(row for row in rows if len(row) < 20_000))
    except csv.Error:
        return []
    return [Line("\t".join(map(flat, row)), "cells", n) for n, row in enumerate(cells) if row]


def _columns(cells: list[str]) -> _Columns | None:
    if not 3 <= len(cells) <= _MOST:
        return None
    question = [n for n, cell in enumerate(cells) if _QUESTION.fullmatch(cell)]
    options = [(n, found[1]) for n, cell in enumerate(cells) if (found := _OPTION.fullmatch(cell))]
    if not question or len(options) < 2:
        return None
    answer = [n for n, cell in enumerate(cells) if cell and _ANSWER.fullmatch(cell)]
    explanation = [n for n, cell in enumerate(cells) if _EXPLANATION.fullmatch(cell)]
    return _Columns(
        question[0],
        [n for n, _ in options],
        [label for _, label in options],
        answer[0] if answer else None,
        explanation[0] if explanation else None,
        len(cells),
    )


def _row(line: Line, cells: list[str], columns: _Columns) -> FoundQuestion | None:
    choices = [cells[n] for n in columns.options]
    labels = columns.labels
    while len(choices) > 2 and not choices[-1]:  # fewer options than the widest row
        choices, labels = choices[:-1], labels[:-1]
    question = cells[columns.question]
    if not question or sum(map(bool, choices)) < 2:
        return None
    raw = cells[columns.answer] if columns.answer is not None else ""
    parsed = parsed_answer(raw, labels, choices) if raw else None
    told = cells[columns.explanation] if columns.explanation is not None else ""
    answer = parsed.answer if parsed else None
    end = line.start + len(line.text)
    return FoundQuestion(
        question, choices, labels, answer, told or None, None, "rows", line.start, end
    )
