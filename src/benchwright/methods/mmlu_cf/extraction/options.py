"""Options, and runs of options that belong together."""

import re
from dataclasses import dataclass, field

from benchwright.methods.mmlu_cf.extraction.lines import Line, flat
from benchwright.methods.mmlu_cf.extraction.option_labels import without_ticks


@dataclass(slots=True)
class Option:
    """One option: its label as written, its text in pieces, what marks it."""

    label: str
    line: int
    start: int  # in the line, of the text after the label
    end: int
    pieces: list[str]
    marks: set[str] = field(default_factory=set)
    value: str | None = None

    @property
    def text(self) -> str:
        return joined(self.pieces)


@dataclass(slots=True)
class Run:
    """Options that belong together.

    Attributes:
        first, last: its lines; the stem may stand on the first, before the options.
        start: where the first option's label begins in the first line.
        series: of the labels, "" without.
        style: spelling of the labels.
        form: `lines`, `inline`, `fields`, `list`, `inputs`, `items`, `cells`, `bare`.
        sure: the markup says that these are options.
        tail: what stands on the last line after an answer's beginning.
    """

    first: int
    last: int
    start: int
    options: list[Option]
    series: str
    style: str
    form: str
    sure: bool = False
    tail: str = ""


def joined(pieces: list[str]) -> str:
    """Pieces of wrapped text as one; a word broken at a line end is put together."""
    text = ""
    for piece in pieces:
        if len(text) > 2 and text[-1] == "-" and text[-2].isalpha() and piece[:1].islower():
            text = text[:-1] + piece
        else:
            text = f"{text} {piece}" if text else piece
    return flat(text)


def option_of(line: Line, at: int, start: int, end: int) -> Option:
    """The option in a part of a line, without check marks, which count as marks."""
    raw = line.text[start:end]
    text, mark = without_ticks(raw.strip())
    text = text.strip(" \t;|,/") if end < len(line.text) else text.strip()
    option = Option("", at, start, end, [flat(text)] if text else [], set(), line.value)
    if start <= 3 or end == len(line.text):
        option.marks |= line.marks
    option.marks |= faces_of(line, start, end)
    if mark:
        option.marks.add("ticked" if mark == "ticked" else "wrong")
    head = line.text[:start].lstrip()
    if head.startswith("*") and not head.startswith("**"):
        option.marks.add("ticked")
    return option


def faces_of(line: Line, start: int, end: int) -> set[str]:
    """The faces in which a part of a line stands, all but its punctuation."""
    found = set()
    for one in line.emphasis:
        left = line.text[start : max(start, one.start)]
        right = line.text[min(one.end, end) : end]
        if one.start < end and one.end > start and not re.search(r"\w", left + right):
            found.add(one.kind)
    return found
