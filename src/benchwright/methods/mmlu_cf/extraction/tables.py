"""Tables with a question in each row, whose head names the columns, as lines of questions."""

import re
from collections.abc import Iterator

from benchwright.methods.mmlu_cf.extraction.answer_words import words_for
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat

_CORRECT = words_for("correct")
_COLUMNS = {
    "question": rf"(?:the\s)?(?:{words_for('question')}|stem|prompt|question text)s?",
    "option": r"(?:(?:option|choice|answer|alternative|distractor|opt)[\s_-]?)?\(?([A-H]|[1-8])\)?",
    "answer": rf"(?:(?:{_CORRECT})?[\s_-]?(?:{words_for('answer')})|{_CORRECT})"
    r"(?:\s(?:option|choice))?",
    "explanation": words_for("explanation"),
}
_HEADS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _COLUMNS.items()}


def without_tables(lines: list[Line]) -> Iterator[Line]:
    """Yield the lines, but the rows of tables of questions as questions with their options."""
    columns: list[tuple[str, str]] = []
    for number, line in enumerate(lines, 1):
        cells = [flat(cell) for cell in line.text.split("\t")] if "\t" in line.text else []
        head = [_column(cell) for cell in cells]
        kinds = [kind for kind, _ in head]
        if "question" in kinds and kinds.count("option") > 1:
            columns = head
        elif cells and len(cells) == len(columns):
            yield from _question(line, dict(zip(columns, cells, strict=True)), -number)
            continue
        else:
            columns = []
        yield line


def _column(head: str) -> tuple[str, str]:
    """Return what a column holds, and the label of an option."""
    for name, pattern in _HEADS.items():
        if (match := pattern.fullmatch(head)) is not None:
            return name, match[1] if match.groups() else ""
    return "", head


def _question(row: Line, cells: dict[tuple[str, str], str], group: int) -> Iterator[Line]:
    yield from (Line(cells[head], "heading", row.block) for head in cells if head[0] == "question")
    for (kind, label), text in cells.items():
        if kind == "option" and text:
            yield Line(text, "option", row.block, f"{label}.", group)
    for kind in ("answer", "explanation"):
        if cells.get((kind, "")):
            yield Line(f"{kind}: {cells[kind, '']}", "text", row.block)
