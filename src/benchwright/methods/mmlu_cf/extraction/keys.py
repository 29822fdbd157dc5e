"""Separate answer keys, and the question to which each entry belongs."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answer_words import words_for
from benchwright.methods.mmlu_cf.extraction.answers import (
    NUMBER,
    answer_after,
    counted,
    explanation_after,
    key_after,
    numbered_answer,
    pairs_in,
    speaks_of_questions,
)
from benchwright.methods.mmlu_cf.extraction.lines import Line

_LABEL = r"(?:[A-Ha-hА-Еа-е]|[ivxIVX]{1,4})"
_ROW = re.compile(
    rf"(?s)(?i:(?:{words_for('question')})\s?\.?\s?)?[(\[]?(?P<number>{NUMBER})[)\]]?"
    r"\s?(?:[.:=)\]\t、]|[-–—→>]{1,2}|\s|$)\s?[-–—:=→]?\s?(?P<rest>.*)$"
)
_STRICT = re.compile(
    rf"(?i)(?:(?:the\s)?(?:(?:{words_for('correct')})\s)?(?:answer|ans|option|choice)\s?(?:[:.]|is)?\s)?"
    rf"(?:[(\[]\s?{_LABEL}\s?[)\]]"
    rf"|{_LABEL}(?=$|[.):\t]|\s[-–—:=]\s|,\s?{_LABEL}\b|\s(?:and|&)\s{_LABEL}$))"
)
_RANGE = re.compile(
    r"(?<!\d)(?P<from>\d{1,3})\s?(?:[-–—~～]|to)\s?(?P<to>\d{1,3})\s?[:.)\t ]\s?"
    r"(?P<labels>[A-Ha-h](?:[\s,.;]{0,2}[A-Ha-h]){1,60})(?!\w)"
)
_LETTERS = re.compile(r"[A-Ha-h](?:[\s,;.\t]{0,3}[A-Ha-h]){2,200}\.?")
_HEADER = re.compile(
    rf"(?i)(?:{words_for('question')}|{words_for('answers')}|{words_for('answer')}|{words_for('correct')}"
    r"|number|option|choice|and|the|your|letter|explanation|[\s./:|#№])+"
)
_PLURAL = re.compile(rf"(?i)answers|keys?\b|solutions|explanations|{words_for('answers')}")
_OPTION = re.compile(r"[(\[]?[1AaАа][.)\]:]\s|[1Aa]\s(?:[-–—=]>?|::|[»|])\s|[1Aa]\t")
_LONGEST_TEXT = 200


class KeyEntry(NamedTuple):
    """An answer in a key; `number` is None if entries follow the order of the questions."""

    number: str | None
    rest: str
    explanation: str = ""


@dataclass(slots=True)
class KeySection:
    """A key on the lines first … last."""

    lines: list[Line]
    first: int
    last: int
    entries: list[KeyEntry]

    @property
    def region(self) -> tuple[int, ...]:
        return self.lines[self.first].region

    def take(self, at: int) -> int:
        """Return how many lines from `at` on belong to the key, and add their entries."""
        line = self.lines[at]
        text = _numbered(line)
        if not self.entries and at < self.first + 4 and len(text) < 80 and _HEADER.fullmatch(text):
            return 1
        entries, n = self._entries(at, text)
        if entries:
            if line.kind == "heading" and self.entries:
                return 0
            self.entries += entries
            self.last = at + n - 1
            return n
        if len(text) < 40 and at + 1 < len(self.lines) and _of_line(_numbered(self.lines[at + 1])):
            return 1  # "Part Two"
        explains = explanation_after(line.text)
        wraps = line.block == self.lines[self.last].block and line.kind != "heading"
        if self.entries and (explains is not None or (wraps and not line.label)):
            entry = self.entries[-1]
            explanation = f"{entry.explanation} {explains or line.text}".strip()
            self.entries[-1] = entry._replace(explanation=explanation)
            self.last = at
            return 1
        return 0

    def _entries(self, at: int, text: str) -> tuple[list[KeyEntry], int]:
        """Return the entries that begin on a line, and the number of their lines."""
        if across := _across(self.lines, at):
            return across, 2
        row, below = _row(text), self.lines[at + 1 : at + 2]
        if row is not None and not row.rest and below and _STRICT.match(below[0].text):
            return [row._replace(rest=below[0].text)], 2
        entries = _of_line(text)
        if not entries and not self.entries and at == self.first + 1:
            entries = _positional(text)
        if not entries and self._counts(at, row):
            entries = [row] if row is not None else []
        return entries, 1

    def _counts(self, at: int, row: KeyEntry | None) -> bool:
        """Return whether a row such as `1. Paris` is an entry, not a question."""
        if row is None or not row.rest or len(row.rest) > _LONGEST_TEXT or row.rest.endswith("?"):
            return False
        if not self.entries and row.number != "1" and self.lines[at].label == "":
            return False
        below = [f"{line.label} {line.text}".lstrip() for line in self.lines[at + 1 : at + 2]]
        return not any(_OPTION.match(text) for text in below)


def key_sections(lines: list[Line]) -> list[KeySection]:
    """Return all keys of a page in order."""
    sections: list[KeySection] = []
    at = 0
    while at < len(lines):
        rest = _head(lines, at)
        section = _section(lines, at, rest) if rest is not None else _headless(lines, at)
        if section is not None:
            sections.append(section)
            at = section.last
        at += 1
    return sections


def _head(lines: list[Line], at: int) -> str | None:
    """Return the text after the heading of a key on its line; None if a line is no heading."""
    text = lines[at].text
    if numbered_answer(text) is not None:
        return None
    rest = key_after(text)
    if rest is None:
        rest = answer_after(text)
        if not rest or not (speaks_of_questions(rest.lstrip("*_ ")) or _running(lines, at, rest)):
            return None
    return rest.lstrip("*_ ")


def _running(lines: list[Line], head: int, rest: str) -> int:
    """Return how many lines below a heading continue the count of questions on its line.

    If options follow below them, they are questions and none counts.
    """
    first = counted(rest)
    if first is None:
        return 0
    number, sign = first
    pairs = pairs_in(rest)
    at = head + 1
    while True:
        number = int(pairs[-1][0]) if pairs and pairs[-1][0].isdecimal() else number
        if at == len(lines) or lines[at].region != lines[head].region:
            break
        if counted(_numbered(lines[at])) != (number + 1, sign):
            break
        number += 1
        pairs = pairs_in(lines[at].text)
        at += 1
    below = lines[at : at + 4]
    if any(_OPTION.match(f"{line.label} {line.text}".lstrip()) for line in below):
        return 0
    return at - head - 1


def _headless(lines: list[Line], at: int) -> KeySection | None:
    text, region = lines[at].text, lines[at].region
    numbered = numbered_answer(text)
    if numbered is not None:
        return KeySection(lines, at, at, [KeyEntry(*numbered)])
    if not text[:1].isdigit() and text[:1] not in "Qq(#":
        return None
    entries = _labelled_pairs(text)
    last = at
    while entries and last + 1 < len(lines) and lines[last + 1].region == region:
        more = _labelled_pairs(lines[last + 1].text)
        if not more or not _follows(entries[-1].number, more[0].number):
            break
        entries += more
        last += 1
    enough = len(entries) >= 3 or (last > at and entries[0].number == "1")
    return KeySection(lines, at, last, entries) if enough else None


def _labelled_pairs(text: str) -> list[KeyEntry]:
    """Return the pairs of a line, or its only pair, if all have letters: `1) 4` is an option."""
    pairs = [KeyEntry(*pair) for pair in pairs_in(text)]
    row = _row(text) if len(text) < 20 else None
    entries = pairs or ([row] if row is not None else [])
    alone = all(_STRICT.match(e.rest) and len(e.rest.strip("().[] ")) < 5 for e in entries)
    return entries if alone else []


def _follows(number: str | None, after: str | None) -> bool:
    numbers = [int(n) for n in (number, after) if n and n.isdecimal()]
    return len(numbers) == 2 and numbers[1] == numbers[0] + 1


def _section(lines: list[Line], head: int, rest: str) -> KeySection | None:
    """Return the key below a heading such as "Answers"; it may begin on the heading's line."""
    section = KeySection(lines, head, head, [])
    if rest:
        n = _running(lines, head, rest)
        section.last += n
        text = "\n".join([rest, *(_numbered(line) for line in lines[head + 1 : head + n + 1])])
        section.entries = [KeyEntry(*pair) for pair in pairs_in(text)]
        if n and section.entries:
            return section
        section.entries = section.entries or _of_line(rest) or _positional(rest)
        if not section.entries and len(rest) > 60:
            return None
        if section.entries and section.entries[0].number is None:
            return section
    plural = _PLURAL.search(lines[head].text) is not None
    at = head + 1
    while plural and at < len(lines) and lines[at].region == lines[head].region:
        taken = section.take(at)
        if not taken:
            break
        at += taken
    labelled = any(_STRICT.match(entry.rest) for entry in section.entries)
    enough = len(section.entries) > 1 or (plural and labelled)
    return section if section.entries and enough else None


def _numbered(line: Line) -> str:
    return f"{line.label} {line.text}" if line.label[:1].isdigit() else line.text


def _row(text: str) -> KeyEntry | None:
    """Return the number at the start of a text and the text after it."""
    row = _ROW.match(text)
    return KeyEntry(row["number"], row["rest"].strip()) if row is not None else None


def _of_line(text: str) -> list[KeyEntry]:
    """Return the entries of which a line consists, or the entry at its start."""
    if len(text) > 20_000:
        return []
    ranged = [entry for match in _RANGE.finditer(text) for entry in _ranged(match)]
    pairs = [KeyEntry(*pair) for pair in pairs_in(text)]
    if ranged or (pairs and all(len(e.rest) < 80 and _STRICT.match(e.rest) for e in pairs)):
        return ranged or pairs
    row = _row(text)
    return [row] if row is not None and _STRICT.match(row.rest) else []


def _ranged(match: "re.Match[str]") -> list[KeyEntry]:
    first, last = int(match["from"]), int(match["to"])
    labels = re.findall(r"[A-Ha-h]", match["labels"])
    if last - first + 1 != len(labels):
        return []
    return [KeyEntry(str(first + n), label) for n, label in enumerate(labels)]


def _positional(text: str) -> list[KeyEntry]:
    if not _LETTERS.fullmatch(text) or len(text) > 2_000:
        return []
    labels = re.findall(r"[A-Ha-h]", text)
    if re.search(r"[a-h]{2,}", text) and len(labels) < 6:  # "bad" is a word
        return []
    return [KeyEntry(None, label) for label in labels]


def _across(lines: list[Line], at: int) -> list[KeyEntry]:
    """Return the entries of a table with the numbers in one row and the labels in the next."""
    if at + 1 >= len(lines) or len(lines[at].text) > 2_000:
        return []
    tabs = "\t" in lines[at].text
    top, below = (line.text.split("\t" if tabs else None) for line in lines[at : at + 2])
    if top and not top[0].strip(".:)").isdecimal():
        top = top[1:]
    if len(below) == len(top) + 1:
        below = below[1:]
    numbers = [text.strip("Qq#.:) ") for text in top]
    if len(top) < 2 or len(top) != len(below) or not all(map(str.isdecimal, numbers)):
        return []
    if any(len(text) > 40 for text in below) or not 2 * sum(map(_is_strict, below)) > len(below):
        return []
    return [KeyEntry(number, text) for number, text in zip(numbers, below, strict=True) if text]


def _is_strict(text: str) -> bool:
    return _STRICT.match(text) is not None


class Place(NamedTuple):
    """Where a question without an answer stands: its lines, number and region."""

    first: int
    number: str | None
    region: tuple[int, ...]


def answers_of_keys(
    places: Sequence[Place], keys: Sequence[KeySection], n_lines: int
) -> dict[int, KeyEntry]:
    """Return the entry of each question, by its place in `places`, in page order.

    A key belongs to the questions above it, after the previous key, or else to those below it; a
    key in a comment only to questions there. If numbers restart in the questions and in the key
    alike, the parts are matched in order. A number that fits several questions answers none.
    Questions without any number are matched by order if the key counts 1 … n and there are n.
    """
    starts = [place.first for place in places]
    found: dict[int, KeyEntry] = {}
    start, at = 0, 0
    while at < len(keys):
        key = keys[at]
        entries, last = list(key.entries), key.last
        at += 1
        above = bisect_left(starts, key.first)
        scope = range(bisect_left(starts, start), above)
        if not above:
            end = keys[at].first if at < len(keys) else n_lines
            scope = range(bisect_right(starts, key.last), bisect_left(starts, end))
        while at < len(keys) and above and bisect_left(starts, keys[at].first) == above:
            if keys[at].region == key.region:  # consecutive keys are one
                entries += keys[at].entries
            last = keys[at].last
            at += 1
        depth = len(key.region)
        here = [n for n in scope if places[n].region[:depth] == key.region]
        found |= _matched(here, [places[n].number for n in here], entries)
        start = last
    return found


def _matched(
    scope: list[int], numbers: list[str | None], entries: list[KeyEntry]
) -> dict[int, KeyEntry]:
    counted_ = [entry for entry in entries if entry.number is not None]
    if not counted_ or not any(numbers):
        in_order = [entry.number for entry in counted_] == [str(n + 1) for n in range(len(scope))]
        entries = counted_ or entries
        whole = (in_order or not counted_) and len(entries) == len(scope)
        return dict(zip(scope, entries, strict=True)) if whole else {}
    parts, key_parts = _parts(numbers), _parts([entry.number for entry in counted_])
    if len(parts) != len(key_parts):
        parts, key_parts = [slice(None)], [slice(None)]
    found: dict[int, KeyEntry] = {}
    for part, key_part in zip(parts, key_parts, strict=True):
        questions, rests = defaultdict(list), defaultdict(set)
        for n, number in zip(scope[part], numbers[part], strict=True):
            questions[number].append(n)
        for entry in counted_[key_part]:
            rests[entry.number].add(entry.rest)
        found |= {
            questions[entry.number][0]: entry
            for entry in counted_[key_part]
            if len(questions[entry.number]) == len(rests[entry.number]) == 1
        }
    return found


def _parts(numbers: Sequence[str | None]) -> list[slice]:
    """Return the stretches of rising numbers."""
    starts = [0]
    last = -1
    for n, number in enumerate(numbers):
        if number is None or not number.isdecimal():
            continue
        if int(number) <= last:
            starts.append(n)
        last = int(number)
    return [slice(start, end) for start, end in pairwise([*starts, len(numbers)])]
