"""The question above a run of options, its number, and the passage to which it refers."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answer_lines import (
    answer_after,
    explanation_after,
    is_announcement,
    starts_answer,
)
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat
from benchwright.methods.mmlu_cf.extraction.options import Run, joined

_WORD = (
    r"(?:(?:Q(?:ue|uestion|ues|n|s)?|QUESTION|Problem|PROBLEM|Exercise|Item|ITEM|MCQ|Card|Task|Frage|Aufgabe"
    r"|Pregunta|Вопрос|Question\sn[o°]|No|Nr|№|Domanda|Pergunta|Vraag|question|problem)\s?\.?\s?"
    r"(?:[Nn]o\.?|[Nn]umber|[Nn]r\.?|№)?\s?[#:.]?\s?|#\s?)"
)
_NUMBER = re.compile(
    rf"[*•>\s]{{0,3}}(?:(?P<word>{_WORD})(?P<a>\d{{1,4}})(?:\s?(?:of|/|von|de)\s?\d{{1,4}})?"
    r"(?P<pa>\s?(?:[-=]>|[.):\]–—|»›→-]{0,2}))(?=\s|$|[A-Z])"
    r"|(?P<open>[(\[]?)(?P<b>\d{1,4})(?P<pb>\s?[.):\]、．]{1,2}|(?=\t)|\s(?:[-=]>|::|[–—|»›→-])(?=\s))(?=\s|$|[A-Za-zА-Яа-я\"“'‘_$(]))\s?"
)
_QUESTION_WORD = re.compile(
    r"(?:Q|question|stem|Question|QUESTION|Frage|Pregunta|Вопрос|Ques)\s?[.:]\s?"
)
_POINTS = re.compile(
    r"(?i)[\[(]\s?\d{1,2}(?:\.\d)?\s?(?:points?|pts?|marks?|punkte?)\.?\s?[\])]\s?"
)
_INSTRUCTION = re.compile(
    r"(?i)(?:(?:please\s)?(?:select|choose|pick|mark|tick|check)\s(?:only\s)?(?:one|the|an?|all)?\b.{0,50}"
    r"|(?:answer\s)?(?:options|choices|alternatives)|multiple[- ]choice|single[- ]choice"
    r"|possible answers|\d{1,2}\s(?:points?|marks?))\s?[:.]?"
)
_STATEMENT = re.compile(
    r"(?:[(\[]?(?:[IVX]{1,4}|[ivx]{1,4}|\d{1,2}|[A-Ha-hP-S])[.):\]]|[•–-]|Statement\b|Assertion\b|Reason\b)\s"
)
_QUESTION = re.compile(r"[?？؟]\W{0,4}(?:\([^()]{0,60}\))?\W{0,3}$|_{2,}|\.{3,}|…|\[\s?\]")
_LEADS = re.compile(r":$|\b(?:following|statements|consider|given|these)\b", re.IGNORECASE)
_COUNTER = re.compile(
    r"(?P<at>\d{1,3})\s?(?:/|of|von|de)\s?(?P<of>\d{1,3})(?:[.):]?\s*\n|[.):]\s+|\s+(?=[A-Z]))"
)
_FARTHEST = 40


class Stem(NamedTuple):
    """A question."""

    first: int  # number of its first line, or of the run's line if it begins there
    text: str  # without its number
    number: int | None  # None if it has none
    style: str  # spelling of the number
    asks: bool  # it ends like a question or has a gap


class _Number(NamedTuple):
    line: int
    value: int
    style: str


def number_of(line: Line) -> tuple[int, str] | None:
    """Return the question number at the start of a line, and its spelling."""
    if line.label[:1].isdigit():
        return int(line.label[:-1]), "markup"
    number = _NUMBER.match(line.text)
    if number is None or line.kind == "code":
        return None
    if number["a"]:
        return int(number["a"]), number["word"].strip().lower().rstrip(".:# ") + "#"
    return int(number["b"]), (number["open"] or "") + number["pb"].strip()


def stem_of(lines: list[Line], run: Run, bound: int, before: Stem | None) -> Stem | None:
    """Return the question above a run of options; None if there is no text.

    It begins at a number, preferably the one that follows the number of the question `before`,
    or else with the paragraph above the options, but never before line `bound`.
    """
    inline = run.start > 0 and bool(lines[run.first].text[: run.start].strip())
    top = run.first if inline else run.first - 1
    while top >= bound and not inline and (_skipped(lines[top]) or answer_after(lines[top].text)):
        top -= 1
    if top < bound:
        return None
    first = _first_line(lines, top, bound, before)
    number, style = number_of(lines[first]) or (None, "")
    text = _without_counter(_text(lines, first, top, run if inline else None))
    numbered = number is not None or _QUESTION_WORD.match(text)
    text = _bare(text) if numbered else _POINTS.sub("", text)
    if not re.search(r"\w", text):
        return None
    asks = bool(_QUESTION.search(text[-200:])) or "___" in text
    above = lines[first : top + 1]
    if any(map(_is_matter, above)):
        asks = any(_asks(line) for line in above if not _is_matter(line))
    return Stem(first, text, number, style, asks)


def _without_counter(text: str) -> str:
    """Remove a progress counter such as "5/12"."""
    counter = _COUNTER.match(text)
    if counter is None or not 0 < int(counter["at"]) <= int(counter["of"]) > 1:
        return text
    return text[counter.end() :].strip() or text


def _skipped(line: Line) -> bool:
    instruction = len(line.text) < 80 and _INSTRUCTION.fullmatch(line.text)
    return is_announcement(line.text) or bool(instruction)


def _first_line(lines: list[Line], top: int, bound: int, before: Stem | None) -> int:
    numbers, lowest = _numbers_above(lines, top, max(bound, top - _FARTHEST))
    if before:
        next_ = [number for number in numbers if before.number == number.value - 1]
        alike = [number for number in next_ if number.style == before.style]
        if next_:
            return (alike or next_)[0].line
    if not numbers:
        return _block_start(lines, top, lowest)
    chosen = numbers[-1]
    first = _statements(numbers) if chosen.line < top else -1
    if first > lowest and _LEADS.search(lines[first - 1].text):
        earlier = [number.line for number in numbers if number.line < first]
        return earlier[-1] if earlier else _block_start(lines, first - 1, lowest)
    between = lines[chosen.line : top + 1]
    far = len({line.block for line in between if not _is_matter(line)}) > 3
    if far and all(line.kind != "code" for line in between):
        return _block_start(lines, top, lowest)
    return chosen.line


def _numbers_above(lines: list[Line], top: int, lowest: int) -> tuple[list[_Number], int]:
    """Return the numbers that may begin the question, in order, and its first possible line."""
    numbers: list[_Number] = []
    last = lines[top]
    for at in range(top, lowest - 1, -1):
        line = lines[at]
        if line.region != last.region:
            lowest = at + 1
            break
        number = number_of(line)
        if number is not None:
            numbers.append(_Number(at, *number))
        if line.kind == "heading" and (at < top or number is not None):
            lowest = at if number is not None or _leads(line) else at + 1
            break
    return numbers[::-1], lowest


def _statements(numbers: list[_Number]) -> int:
    """Return the first line of the statements 1 … n that the last numbers count; −1 if none."""
    for before, after in zip(numbers[-2::-1], numbers[:0:-1], strict=True):
        if after.value != before.value + 1 or after.style != before.style:
            return -1
        if before.value == 1:
            return before.line
    return -1


def _block_start(lines: list[Line], top: int, lowest: int) -> int:
    """Return the first line of a paragraph with code or statements and their introduction."""
    at = top
    while at > lowest:
        here, above = lines[at], lines[at - 1]
        if starts_answer(above.text) or explanation_after(above.text) is not None:
            break
        if _QUESTION_WORD.match(here.text):
            break
        matter, more = _is_matter(here), _is_matter(above)
        stated, states = _states(here), _states(above)
        if above.kind == "heading":
            return at - 1 if (matter or stated) and _leads(above) and top - at < 12 else at
        led = (
            (matter and (more or _leads(above) or (here.kind == "code" and above.kind == "text")))
            or (stated and (states or _leads(above)))
            or (more and not (above.kind == "cells" and here.kind == "cells" and not matter))
            or states
        )
        if above.block != here.block and not (led and top - at < 12):
            break
        at -= 1
    return at


def _is_matter(line: Line) -> bool:
    """Return whether a line is code or a table row that belongs to a question."""
    if line.kind == "code" or "code" in line.marks:
        return True
    cells = line.kind == "cells" and "\t" in line.text
    return cells and number_of(line) is None and not _asks(line)


def _states(line: Line) -> bool:
    """Return whether a line is one of several statements."""
    return _STATEMENT.match(line.text) is not None or line.label.rstrip(".").isalpha()


def _leads(line: Line) -> bool:
    """Return whether a line asks, or introduces what follows."""
    return _asks(line) or number_of(line) is not None or _LEADS.search(line.text) is not None


def _asks(line: Line) -> bool:
    return _QUESTION.search(line.text[-200:]) is not None


def _text(lines: list[Line], first: int, top: int, inline: Run | None) -> str:
    """Join lines first … top; wrapped lines become one, other lines stay separate."""
    parts: list[list[str]] = []
    before: Line | None = None
    for at in range(first, top + 1):
        line = lines[at]
        text = line.text if inline is None or at < top else line.text[: inline.start]
        number = _NUMBER.match(text) if at == first and number_of(line) is not None else None
        if number is not None:
            text = f"1. {text[number.end() :]}"  # only a tab may separate the number
        elif at > first and line.label.rstrip(".").isalpha():
            text = f"{line.label} {text}"
        text = (text if line.kind == "code" else flat(text)).rstrip(" ([")
        if not text.strip() or (at > first and _skipped(line)):
            continue
        if (
            before is None
            or "code" in {before.kind, line.kind}
            or line.block != before.block
            or _STATEMENT.match(text) is not None
            or (line.indent == 0 and len(before.text) < 30)
        ):
            parts.append([])
        parts[-1].append(text)
        before = line
    return "\n".join(part[0] if len(part) == 1 else joined(part) for part in parts)


def _bare(text: str) -> str:
    """Remove up to three numbers, question words and points from the start of a text."""
    for _ in range(3):
        prefix = _NUMBER.match(text) or _QUESTION_WORD.match(text) or _POINTS.match(text)
        if prefix is None:
            break
        text = text[prefix.end() :].lstrip(" \n\t.:-–—|»›→")
    return text.strip()


_RANGE = re.compile(
    r"(?i)(?:questions?|items?|problems?|q\.?|nos?\.?)\s?#?(\d{1,4})\s?(?:-|–|—|to|through|and|&)"
    r"\s?#?(\d{1,4})\b"
)
_CUE = re.compile(
    r"(?i)^\W{0,3}(?:reading\s)?(?:passage|extract|text|case|scenario|stimulus|vignette)\b.{0,40}$"
    r"|\b(?:read|refer to|based on|according to|use|study)\b.{0,40}\b(?:passage|text|extract"
    r"|paragraph|information|case|scenario|story|article)\b"
    r"|\b(?:refer|relate|based|pertain|belong)\w{0,3}\b.{0,30}\b(?:passage|text|extract|paragraph|information"
    r"|case|scenario|following|above|below)\b"
)
_SHORTEST = 80


class Passages:
    """The passage of each question, read from top to bottom of the page."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._text: str | None = None
        self._until: int | None = None

    def of(self, stem: Stem, start: int) -> str | None:
        """Return the passage of a question; lines `start` … stem may contain a new one."""
        gap = range(start, stem.first)
        cues = [at for at in gap if self._is_cue(self._lines[at])]
        named = [at for at in gap if "passage" in self._lines[at].marks]
        if cues or named:
            text = self._passage(cues, named, stem.first)
            if text:
                ranges = [match for at in gap if (match := _RANGE.search(self._lines[at].text))]
                self._text = text
                self._until = int(ranges[-1][2]) if ranges else None
        elif any(self._lines[at].kind == "heading" for at in gap):
            self._text = None
        if self._until is not None and stem.number is not None and stem.number > self._until:
            self._text = self._until = None
        return self._text

    def _is_cue(self, line: Line) -> bool:
        return len(line.text) < 200 and bool(_CUE.search(line.text) or _RANGE.search(line.text))

    def _passage(self, cues: list[int], named: list[int], end: int) -> str:
        if named:
            return self._joined([at for at in named if at not in cues])
        text = self._joined([at for at in range(cues[0], end) if at not in cues])
        if len(text) >= _SHORTEST:
            return text
        # the cue is below: "Questions 1–4 refer to the passage above"
        first = cues[0]
        while first:
            line = self._lines[first - 1]
            apart = line.block != self._lines[cues[0] - 1].block
            if line.kind == "heading" or (len(line.text) < 40 and apart):
                break
            first -= 1
        text = self._joined(range(first, cues[0]))
        return text if len(text) >= _SHORTEST else ""

    def _joined(self, places: Iterable[int]) -> str:
        blocks = groupby((self._lines[at] for at in places), key=lambda line: line.block)
        return "\n".join(joined([line.text for line in block]) for _, block in blocks)
