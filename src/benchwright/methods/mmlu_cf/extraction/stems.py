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
    starts_answer,
)
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat, joined

_WORD = rf"(?i:{words_for('question')})\s?\.?\s?(?i:n[or]\.?|number|№)?\s?[#:.]?\s?"
_COUNT = r"(?:\s?(?:of|/|von|de)\s?\d{1,4})?\s?(?:题|題|问|問|번)?"
_WORDED = (
    rf"(?P<word>{_WORD})(?P<a>\d{{1,4}}){_COUNT}(?P<pa>\s?(?:[-=]>|[.):\]：、·–—|»›→-]{{0,2}}))"
    r"(?=\s|$|[A-Z]|[^\x00-\xff])"
)
_CODE = rf"(?P<code>{CODE})[.:)]?(?=\s|$)"
_PLAIN = (
    r"(?P<open>[(\[]?)(?P<b>\d{1,4})(?P<pb>\s?[.):\]、．]{1,2}|(?=\t)|\s(?:[-=]>|::|[–—|»›→-])(?=\s))"
    r"(?=\s|$|[^\W\d]|[\"“'‘$(《「])"
)
_NUMBER = re.compile(rf"[*•>\s]{{0,3}}(?:{_CODE}|{_WORDED}|{_PLAIN})\s?")
_QUESTION_WORD = re.compile(rf"(?:{words_for('question')}|stem)\s?[.:：]\s?", re.IGNORECASE)
_INSTRUCTION = re.compile(
    r"(?i)(?:(?:please\s)?(?:select|choose|pick|mark|tick|check)\b.{0,55}"
    r"|(?:answer\s|possible\s)?(?:options|choices|alternatives|answers)"
    r"|(?:multiple|single)[- ]choice|\d{1,2}\s(?:points?|marks?))\s?[:.]?"
)
_STATEMENT = re.compile(
    r"(?:[(\[]?(?:[IVX]{1,4}|[ivx]{1,4}|\d{1,2}|[A-Ha-hP-S])[.):\]]|[•–-]|Statement\b)\s"
)
_ASKS = re.compile(r"[?？؟]\W{0,4}(?:\([^()]{0,60}\))?\W{0,3}$|_{2,}|\.{3,}|…|\[\s?\]")
_LEADS = re.compile(r":$|\b(?:following|statements|consider|given|these)\b", re.IGNORECASE)
_GIVEN = re.compile(r"[(\[]?([A-H])[)\]]?(?:\s?\[[^\[\]]*\])?")  # "(D) [97.301]"
_GIVEN_AT_END = re.compile(
    r"(?:（\s*([A-H])\s*）|\(\s+([A-H])\s+\)|(?<=[^\x00-\xff])\(([A-H])\))\W{0,3}$"
)
_FARTHEST, _FARTHEST_PART = 40, 12


class Stem(NamedTuple):
    """A question."""

    first: int  # number of its first line, or of the run's line if it begins there
    text: str  # without its number
    number: str | None  # None if it has none
    style: str  # spelling of the number
    asks: bool  # it ends like a question or has a gap
    given: str = ""  # label of the right option beside the number


def number_of(line: Line) -> tuple[str, str] | None:
    """Return the question number at the start of a line, and its spelling."""
    if line.label[:1].isdigit():
        return line.label[:-1], "markup"
    number = _NUMBER.match(line.text)
    if number is None or (line.kind == "code" and not number["word"]):
        return None
    if number["code"]:
        return number["code"], "code"
    if number["a"]:
        return number["a"], number["word"].strip().lower().rstrip(".:# ") + "#"
    return number["b"], number["open"] + number["pb"].strip()


def stem_of(
    lines: list[Line], run: tuple[int, int], bound: int, before: Stem | None
) -> Stem | None:
    """Return the question above a run of options, whose first label has a line and a start in it.

    It begins at a number, preferably the one that follows the number of the question `before`,
    or else with the paragraph above the options, but never before line `bound`. None if there is
    no text.
    """
    at, start = run
    inline = start if lines[at].text[:start].strip() else 0
    top = at if inline else at - 1
    while top >= bound and not inline and _skipped(lines[top]):
        top -= 1
    if top < bound:
        return None
    first = _first_line(lines, top, bound, before)
    number, style = number_of(lines[first]) or (None, "")
    given, begin = _given(lines, first, top) if style == "code" else ("", first)
    text = _text(lines, begin, top, inline)
    numbered = number is not None or _QUESTION_WORD.match(text)
    text = _bare(text) if numbered else text
    if not given and (behind := _GIVEN_AT_END.search(text)) is not None:
        given, text = next(filter(None, behind.groups())), f"{text[: behind.start()]}( )"
    if not re.search(r"\w", text):
        return None
    above = [line for line in lines[first : top + 1] if not _is_matter(line)]
    matter = len(above) <= top - first
    asked = any(map(asks, above)) if matter else _ASKS.search(text[-200:]) is not None
    return Stem(first, text, number, style, asked, given)


def _given(lines: list[Line], first: int, top: int) -> tuple[str, int]:
    """Return the answer beside or below the code of a question, and the stem's first line."""
    number = _NUMBER.match(lines[first].text)
    rest = lines[first].text[number.end() :].strip() if number is not None else ""
    if given := _GIVEN.fullmatch(rest):
        return given[1], first + 1
    if not rest and first + 1 < top and (given := _GIVEN.fullmatch(lines[first + 1].text)):
        return given[1], first + 2
    return "", first


def _skipped(line: Line) -> bool:
    instruction = len(line.text) < 80 and _INSTRUCTION.fullmatch(line.text)
    return bool(instruction) or is_announcement(line.text) or starts_answer(line.text)


def _first_line(lines: list[Line], top: int, bound: int, before: Stem | None) -> int:
    """Return the line at which the question that ends on line `top` begins."""
    numbers, lowest = _numbers_above(lines, top, max(bound, top - _FARTHEST))
    count, spelling, start = _value(before.number) + 1 if before else 0, "", -1
    for at, (name, style) in numbers.items():
        ahead = _value(name) - count
        if count and (ahead == 0 if start < 0 else ahead in {1, 2} and style == spelling):
            start, count, spelling = at, _value(name), style  # also after questions without options
        elif start >= 0:
            break
    if start >= 0:
        return start
    if not numbers:
        return _block_start(lines, top, lowest)
    last, ones = max(numbers), [at for at, (name, _) in numbers.items() if name == "1"]
    first = ones[-1] if ones else last
    if lowest < first < last < top and _LEADS.search(lines[first - 1].text):
        earlier = [at for at in numbers if at < first]  # the others number statements
        return earlier[-1] if earlier else _block_start(lines, first - 1, lowest)
    return last


def _value(number: str | None) -> int:
    return int(number) if number and number.isdecimal() else 0


def _numbers_above(
    lines: list[Line], top: int, lowest: int
) -> tuple[dict[int, tuple[str, str]], int]:
    """Return the numbers that may begin the question, by line, and its first possible line."""
    numbers = {}
    for at in range(top, lowest - 1, -1):
        line = lines[at]
        if (number := number_of(line)) is not None:
            numbers[at] = number
        if line.kind == "heading":
            lowest = at if _leads(line) else at + 1
            break
    return dict(reversed(numbers.items())), lowest


def _block_start(lines: list[Line], top: int, lowest: int) -> int:
    """Return the first line of a paragraph with code or statements and their introduction."""
    at = top
    while at > lowest and not _QUESTION_WORD.match(lines[at].text):
        here, above = lines[at], lines[at - 1]
        near = any(map(_is_part, (here, above))) and top - at < _FARTHEST_PART
        if above.kind == "heading":
            led = _leads(above) if near else asks(above) and not asks(here)
            return at - 1 if led else at
        apart = above.block != here.block and not near
        if apart or starts_answer(above.text) or explanation_after(above.text) is not None:
            break
        at -= 1
    return at


def _is_part(line: Line) -> bool:
    """Return whether a line is code, a table row or a statement, which paragraphs introduce."""
    return _is_matter(line) or _STATEMENT.match(f"{line.label} {line.text}".lstrip()) is not None


def _is_matter(line: Line) -> bool:
    """Return whether a line is code or a table row that belongs to a question."""
    cells = line.kind == "cells" and number_of(line) is None and not asks(line)
    return cells or line.kind == "code" or "code" in line.marks


def _leads(line: Line) -> bool:
    """Return whether a line asks, or introduces what follows."""
    return asks(line) or number_of(line) is not None or _LEADS.search(line.text) is not None


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
        number = _NUMBER.match(text) if at == first and number_of(line) is not None else None
        if number is not None:
            text = f"1. {text[number.end() :]}"  # only a tab may separate the number
        elif at > first and line.label:
            text = f"{line.label} {text}"
        text = (text if line.kind == "code" else flat(text)).rstrip(" ([")
        if not text.strip() or (at > first and _skipped(line)):
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


def _bare(text: str) -> str:
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
        cues = [at for at in gap if len(text := self._lines[at].text) < 200 and _CUE.search(text)]
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
