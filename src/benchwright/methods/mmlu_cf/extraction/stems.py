"""The question above a run of options, its number, and the passage to which it refers."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answer_words import words_for
from benchwright.methods.mmlu_cf.extraction.answers import (
    CODE,
    explanation_after,
    is_announcement,
)
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat, joined

_WORD = (
    rf"(?:(?i:{words_for('question')})|P(?=\d{{1,4}}[.):]))\s?\.?\s?"
    r"(?i:n[or]\.?|number|№)?\s?[#:.]?\s?"
)
_COUNT = r"(?:\s?(?:of|/|von|de)\s?\d{1,4})?\s?(?:题|題|问|問|번)?"
_WORDED = (
    rf"(?P<word>{_WORD})(?P<a>\d{{1,4}}){_COUNT}(\s?(?:[-=]>|[.):\]：、·–—|»›→-]{{0,2}}))"
    r"(?=\s|$|[A-Z]|[^\x00-\xff])"
)
_CODE = rf"(?P<code>{CODE})[.:)]?(?=\s|$)"
_PLAIN = (
    r"[(\[]?(?P<b>\d{1,4})(\s?[.):\]、．]{1,2}|(?=\t)|\s(?:[-=]>|::|[–—|»›→-])(?=\s))"
    r"(?=\s|$|[^\W\d]|[\"“'‘$(《「])"
)
_NUMBER = re.compile(rf"[*•>\s]{{0,3}}(?:{_CODE}|{_WORDED}|{_PLAIN})\s?")
_QUESTION_WORD = re.compile(rf"(?:{words_for('question')}|stem)\s?[.:：]\s?", re.IGNORECASE)
_INSTRUCTION = re.compile(
    r"(?i)(?:(?:please\s)?(?:select|choose|pick|mark|tick|check|seleccion[ea]|selecione|elij[ae]"
    r"|escolha|marque|choisis\w*|wählen?|выберите|scegli\w*)\b.{0,55}"
    r"|(?:answer\s|possible\s)?(?:options|choices|alternatives|answers)"
    r"|(?:multiple|single)[- ]choice|\d{1,2}\s(?:points?|marks?))\s?[:.]?"
)
_STATEMENT = re.compile(
    r"(?:[(\[]?(?:[IVX]{1,4}|[ivx]{1,4}|\d{1,2}|[A-Ha-hP-S])[.):\]]|[•–-]|Statement\b)\s"
)
_ASKS = re.compile(r"[?？؟]\W{0,4}(?:\([^()]{0,60}\))?\W{0,3}$|_{2,}|\.{3,}|…|\[\s?\]")
_LEADS = re.compile(r":$|\b(?:following|statements|consider|given|these)\b", re.IGNORECASE)
_GIVEN = re.compile(rf"{CODE}\s+[(\[]?([A-H])[)\]]?(?:\s?\[[^\[\]]*\])?")  # "T1A01 (D) [97.1]"
_GIVEN_AT_END = re.compile(
    r"(?:（\s*([A-H])\s*）|\(\s+([A-H])\s+\)|(?<=[?\u0100-\uffff])\(([A-H])\))\W{0,3}$"
)
_FARTHEST, _FARTHEST_PART = 40, 12


class Stem(NamedTuple):
    """A question."""

    first: int  # number of its first line, or of the run's line if it begins there
    text: str  # without its number
    number: str | None  # None if it has none
    asks: bool  # it ends like a question or has a gap
    given: str = ""  # label of the right option beside the number


def number_of(line: Line) -> str | None:
    """Return the question number at the start of a line."""
    if line.label[:1].isdigit():
        return line.label[:-1]
    number = _NUMBER.match(line.text)
    if number is None or (line.kind == "code" and not number["word"]):
        return None
    return number["code"] or number["a"] or number["b"]


def stem_of(lines: list[Line], at: int, inline: int, bound: int) -> Stem | None:
    """Return the question above the options that begin on line `at`, after `inline` characters.

    It begins at a number, or else with the paragraph above the options, but never before line
    `bound`. None if there is no text.
    """
    top = at if inline else at - 1
    while top >= bound and _skipped(lines[top]):
        top -= 1
    if top < bound:
        return None
    first = _first_line(lines, top, bound)
    given, begin = _given(lines, first)
    text = without_number(_text(lines, begin, top, inline))
    if behind := _GIVEN_AT_END.search(text):
        given, text = next(filter(None, behind.groups())), f"{text[: behind.start()]}( )"
    if not re.search(r"\w", text):
        return None
    above = [line for line in lines[first : top + 1] if not _is_matter(line)]
    asked = _ASKS.search(text[-200:]) is not None or any(map(asks, above))
    return Stem(first, text, number_of(lines[first]), asked, given)


def _given(lines: list[Line], first: int) -> tuple[str, int]:
    """Return the answer beside or below the code of a question, and the stem's first line."""
    for end in (first + 1, first + 2):
        if given := _GIVEN.fullmatch(" ".join(line.text for line in lines[first:end])):
            return given[1], end
    return "", first


def _skipped(line: Line) -> bool:
    return _INSTRUCTION.fullmatch(line.text) is not None or is_announcement(line.text)


def _first_line(lines: list[Line], top: int, bound: int) -> int:
    """Return the line at which the question that ends on line `top` begins."""
    numbers, lowest = _numbers_above(lines, top, max(bound, top - _FARTHEST))
    if not numbers:
        return _block_start(lines, top, lowest)
    last, ones = max(numbers), [at for at, name in numbers.items() if name == "1"]
    first = ones[-1] if ones else last
    if lowest < first < last < top and _LEADS.search(lines[first - 1].text):
        earlier = [at for at in numbers if at < first]  # the others number statements
        return earlier[-1] if earlier else _block_start(lines, first - 1, lowest)
    return last


def _value(number: str | None) -> int:
    return int(number) if number and number.isdecimal() else 0


def _numbers_above(lines: list[Line], top: int, lowest: int) -> tuple[dict[int, str], int]:
    """Return the numbers that may begin the question, by line, and its first possible line."""
    numbers: dict[int, str] = {}
    for at in range(top, lowest - 1, -1):
        line = lines[at]
        if (number := number_of(line)) is not None:
            numbers = {n: one for n, one in numbers.items() if not _is_deeper(lines[n], line)}
            numbers[at] = number
        if line.kind == "heading":
            lowest = at if asks(line) else at + 1
            break
    return dict(reversed(numbers.items())), lowest


def _is_deeper(line: Line, above: Line) -> bool:
    """Return whether a line goes on with the text of a numbered line above it."""
    return line.block == above.block and line.indent > above.indent + 1


def _block_start(lines: list[Line], top: int, lowest: int) -> int:
    """Return the first line of a paragraph with code or statements and their introduction."""
    at = top
    while at > lowest and not _QUESTION_WORD.match(lines[at].text):
        here, above = lines[at], lines[at - 1]
        near = any(map(_is_part, (here, above))) and top - at < _FARTHEST_PART
        if above.kind == "heading":
            return at - 1
        apart = above.block != here.block and not near
        if apart or explanation_after(above.text) is not None:
            break
        at -= 1
    return at


def _is_part(line: Line) -> bool:
    """Return whether a line is code, a table row or a statement, which paragraphs introduce."""
    return _is_matter(line) or _STATEMENT.match(f"{line.label} {line.text}".lstrip()) is not None


def _is_matter(line: Line) -> bool:
    """Return whether a line is code or a table row that belongs to a question."""
    return line.kind in {"cells", "code"} or "code" in line.marks


def asks(line: Line) -> bool:
    """Return whether a line ends like a question, or has a gap."""
    return _ASKS.search(line.text[-200:]) is not None


def _text(lines: list[Line], first: int, top: int, inline: int) -> str:
    """Join lines first … top; wrapped lines become one, other lines stay separate."""
    parts: list[list[str]] = []
    before: Line | None = None
    for at in range(first, top + 1):
        line = lines[at]
        text = line.text[:inline] if inline and at == top else line.text
        if at == first and (number := _NUMBER.match(text)) is not None:
            text = f"1. {text[number.end() :]}"  # only a tab may separate the number
        elif at > first and line.label:
            text = f"{line.label} {text}"
        text = (text if line.kind == "code" else flat(text)).rstrip(" ([")
        if not text.strip() or _skipped(line):
            continue
        if before is None or _begins_part(line, text, before):
            parts.append([])
        parts[-1].append(text)
        before = line
    return "\n".join(part[0] if len(part) == 1 else joined(part) for part in parts)


def _begins_part(line: Line, text: str, before: Line) -> bool:
    apart = "code" in {before.kind, line.kind} or line.block != before.block
    short = line.indent == 0 and len(before.text) < 30
    return apart or short or _STATEMENT.match(text) is not None


def without_number(text: str) -> str:
    """Remove up to three numbers and question words from the start of a text."""
    for _ in range(3):
        prefix = _NUMBER.match(text) or _QUESTION_WORD.match(text)
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
        self._until = 0  # the last question to which it belongs; 0 if unknown

    def of(self, stem: Stem, start: int) -> str | None:
        """Return the passage of a question; lines `start` … stem may contain a new one."""
        gap = range(start, stem.first)
        lines = [at for at in gap if self._lines[at].kind != "code"]
        cues = [at for at in lines if len(text := self._lines[at].text) < 200 and _CUE.search(text)]
        text = self._joined([at for at in gap if at > cues[0] and at not in cues]) if cues else ""
        if len(text) >= _SHORTEST:
            ranges = [match for at in gap if (match := _RANGE.search(self._lines[at].text))]
            self._text, self._until = text, int(ranges[-1][2]) if ranges else 0
        elif not cues and any(self._lines[at].kind == "heading" for at in gap):
            self._text = None
        if 0 < self._until < _value(stem.number):
            self._text = None
        return self._text

    def _joined(self, places: Iterable[int]) -> str:
        blocks = groupby((self._lines[at] for at in places), key=lambda line: line.block)
        return "\n".join(joined([line.text for line in block]) for _, block in blocks)
