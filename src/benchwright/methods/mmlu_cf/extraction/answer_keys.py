"""Separate answer keys, and the question to which each entry belongs."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from benchwright.methods.mmlu_cf.extraction.answer_lines import (
    answer_after,
    counted,
    explanation_after,
    key_after,
    numbered_answer,
    pairs_in,
    parsed_answer,
    speaks_of_questions,
)
from benchwright.methods.mmlu_cf.extraction.answer_words import words_for
from benchwright.methods.mmlu_cf.extraction.given_answers import GivenAnswer
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat
from benchwright.methods.mmlu_cf.extraction.options import Run
from benchwright.methods.mmlu_cf.extraction.stems import Stem

_LABEL = r"(?:[A-Ha-hА-Еа-е]|[ivxIVX]{1,4})"
_NUMBER = (
    r"(?:(?:Q|Ques|Question|Problem|Item|No|Nr|Frage|Вопрос)\s?\.?\s?|#\s?)?"
    r"[(\[]?(?P<number>\d{1,4})[)\]]?"
)
_PAIR = re.compile(
    rf"(?i)(?<![\w.(]){_NUMBER}\s?(?:[.:=)\]]|[-–—→>]{{1,2}})?\s?[-–—:=→]?\s?[(\[]?"
    rf"(?:(?:option|choice)\s)?(?P<label>{_LABEL})[)\].]?(?![\w'’(])"
)
_DIGITS = re.compile(
    r"(?<![\w.])(?P<number>\d{1,4})\s?[-–—:=→)]\s?[(\[]?(?P<label>\d)[)\]]?(?![\w.])"
)
_ROW = re.compile(
    rf"(?is){_NUMBER}\s?(?:[.:=)\]\t]|[-–—→>]{{1,2}}|\s)\s?[-–—:=→]?\s?(?P<rest>\S.*)$"
)
_STRICT = re.compile(
    rf"(?i)(?:(?:the\s)?(?:(?:correct|right)\s)?(?:answer|ans|option|choice)\s?(?:[:.]|is)?\s)?"
    rf"(?:[(\[]\s?{_LABEL}\s?[)\]]"
    rf"|{_LABEL}(?=$|[.):\t]|\s[-–—:=]\s|,\s?{_LABEL}\b|\s(?:and|&)\s{_LABEL}$))"
)
_RANGE = re.compile(
    r"(?<!\d)(?P<from>\d{1,3})\s?(?:-|–|—|to)\s?(?P<to>\d{1,3})\s?[:.)\t ]\s?"
    r"(?P<labels>[A-Ha-h](?:[\s,.;]{0,2}[A-Ha-h]){1,60})(?!\w)"
)
_LETTERS = re.compile(r"[A-Ha-h](?:[\s,;.\t]{0,3}[A-Ha-h]){2,200}\.?")
_HEADER = re.compile(
    r"(?i)(?:question|questions|answer|answers|no|number|key|q|#|nr|correct|option|choice|item|and|the"
    r"|your|letter|explanation|[\s./:|#№])+"
)
_ALONE = re.compile(r"(?:Question|Q|Problem|No\.?|#)?\s?(\d{1,4})\s?[.):]?", re.IGNORECASE)
_NUMERAL = re.compile(r"(?:Q|#|No\.?\s?)?(\d{1,4})[.):]?", re.IGNORECASE)
_SURE = re.compile(rf"\bkey|answers|solutions|{words_for('answers')}", re.IGNORECASE)
_PLURAL = re.compile(rf"(?i)answers|keys?\b|solutions|explanations|{words_for('answers')}")
_OPTION = re.compile(r"[(\[]?[1AaАа][.)\]:]\s|[1Aa]\s(?:[-–—=]>?|::|[»|])\s|[1Aa]\t")
_LONGEST_TEXT = 200


class KeyEntry(NamedTuple):
    """An answer in a key; `number` is None if entries follow the order of the questions."""

    number: int | None
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
        alone, below = _ALONE.fullmatch(text), self.lines[at + 1 : at + 2]
        if alone is not None and below and _STRICT.match(below[0].text):
            return [KeyEntry(int(alone[1]), below[0].text)], 2
        entries = _of_line(text)
        if not entries and not self.entries and at == self.first + 1:
            entries = _positional(text)
        return entries or _text_entry(self.lines, at, text, bool(self.entries)), 1


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
        number = pairs[-1][0] if pairs else number
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
    entries = _pairs(text, digits=False)  # "1) 4" may be an option
    last = at
    while entries and last + 1 < len(lines) and lines[last + 1].region == region:
        more = _pairs(lines[last + 1].text, digits=False)
        if not more or more[0].number != (entries[-1].number or 0) + 1:
            break
        entries += more
        last += 1
    enough = len(entries) >= 3 or (last > at and entries[0].number == 1)
    return KeySection(lines, at, last, entries) if enough else None


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
        entries = [KeyEntry(*pair) for pair in pairs_in(rest)] or _of_line(rest)
        section.entries = entries or _positional(rest)
        if not section.entries and (len(rest) > 60 or not _SURE.search(lines[head].text)):
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


def _of_line(text: str) -> list[KeyEntry]:
    """Return the entries of which a line consists, or the entry at its start."""
    if len(text) > 20_000:
        return []
    ranged = [entry for match in _RANGE.finditer(text) for entry in _ranged(match)]
    if together := ranged or _pairs(text):
        return together
    pairs = pairs_in(text)
    if pairs and all(len(rest) < 80 and _STRICT.match(rest) for _, rest in pairs):
        return [KeyEntry(*pair) for pair in pairs]
    row = _ROW.match(text)
    if row is not None and len(row["number"]) < 4:
        rest = row["rest"].strip()
        if _STRICT.match(rest) is not None:
            label, _, explanation = rest.partition("\t")
            return [KeyEntry(int(row["number"]), label, flat(explanation))]
    return []


def _pairs(text: str, *, digits: bool = True) -> list[KeyEntry]:
    for pattern in (_PAIR, _DIGITS) if digits else (_PAIR,):
        entries = [KeyEntry(int(pair["number"]), pair["label"]) for pair in pattern.finditer(text)]
        if entries and not re.sub(r"[\s,;|/.&•·()]|and\b", "", pattern.sub("", text)):
            return entries
    return []


def _ranged(match: "re.Match[str]") -> list[KeyEntry]:
    labels = re.findall(r"[A-Ha-h]", match["labels"])
    numbers = range(int(match["from"]), int(match["to"]) + 1)
    if len(numbers) != len(labels):
        return []
    return list(map(KeyEntry, numbers, labels))


def _positional(text: str) -> list[KeyEntry]:
    if not _LETTERS.fullmatch(text) or len(text) > 2_000:
        return []
    labels = re.findall(r"[A-Ha-h]", text)
    words = re.search(r"[a-h]{2,}", text)  # "bad" is a word
    few = len(labels) < 6 or len(set(labels)) < 3
    if words and (not text.islower() or " " in text or few):
        return []
    return [KeyEntry(None, label) for label in labels]


def _fields(text: str) -> list[str]:
    fields = [field.strip() for field in text.split("\t")]
    return fields if len(fields) > 1 else text.split()


def _across(lines: list[Line], at: int) -> list[KeyEntry]:
    """Return the entries of a table with the numbers in one row and the labels in the next."""
    if at + 1 >= len(lines) or len(lines[at].text) > 2_000:
        return []
    top, below = _fields(lines[at].text), _fields(lines[at + 1].text)
    if "\t" in lines[at].text and "\t" not in lines[at + 1].text:
        return []
    if top and not _NUMERAL.fullmatch(top[0]):
        top = top[1:]
    if len(below) == len(top) + 1:
        below = below[1:]
    if len(top) < 2 or len(top) != len(below):
        return []
    numbers = [int(number[1]) for text in top if (number := _NUMERAL.fullmatch(text))]
    if len(numbers) < len(top) or any(len(text) > 40 for text in below):
        return []
    if not sum(bool(_STRICT.match(text)) for text in below) * 2 > len(below):
        return []
    return [KeyEntry(number, text) for number, text in zip(numbers, below, strict=True) if text]


def _text_entry(lines: list[Line], at: int, text: str, begun: bool) -> list[KeyEntry]:
    """Return an entry such as `1. Paris`; it counts if it is an option of its question."""
    row = _ROW.match(text) if len(text) <= _LONGEST_TEXT else None
    if row is None or text.rstrip().endswith("?"):
        return []
    if not begun and int(row["number"]) > 1 and lines[at].label == "":
        return []
    for below in lines[at + 1 : at + 2]:
        if re.match(r"[(\[]?[aAа1А][.)\]:]\s", below.text) or below.label[:1] in {"A", "a"}:
            return []
    return [KeyEntry(int(row["number"]), row["rest"].strip())]


def match_keys(
    open_: Sequence[tuple[Run, Stem, Any]], keys: Sequence[KeySection], lines: list[Line]
) -> None:
    """Give questions the answers of keys, by number.

    A key belongs to the questions above it, after the previous key, or else to those below it; a
    key in a comment only to questions there. If numbers restart in the questions and in the key
    alike, the parts are matched in order. A number that fits several questions answers none.
    Questions without any number are matched by order if the key counts 1 … n and there are n.

    `open_` has run, stem and draft of each question without answer, in order; the drafts receive
    `answer`, `explanation` and `by`.
    """
    starts = [stem.first for _, stem, _ in open_]
    start, place = 0, 0
    while place < len(keys):
        key = keys[place]
        entries, last = list(key.entries), key.last
        place += 1
        above = bisect_left(starts, key.first)
        scope = open_[bisect_left(starts, start) : above]
        if not above:
            end = keys[place].first if place < len(keys) else len(lines)
            scope = open_[bisect_right(starts, key.last) : bisect_left(starts, end)]
        while place < len(keys) and above and bisect_left(starts, keys[place].first) == above:
            if keys[place].region == key.region:  # consecutive keys are one
                entries += keys[place].entries
            last = keys[place].last
            place += 1
        depth = len(key.region)
        _match([q for q in scope if lines[q[0].first].region[:depth] == key.region], entries)
        start = last


def _match(scope: list[tuple[Run, Stem, Any]], entries: list[KeyEntry]) -> None:
    if not scope:
        return
    numbers = [entry.number for entry in entries if entry.number is not None]
    in_order = numbers == list(range(1, len(scope) + 1)) or not numbers
    if numbers:
        entries = [entry for entry in entries if entry.number is not None]
    if not numbers or all(stem.number is None for _, stem, _ in scope):
        if in_order and len(entries) == len(scope):
            for (run, _, draft), entry in zip(scope, entries, strict=True):
                _give(run, draft, entry)
        return
    parts = _parts([-1 if stem.number is None else stem.number for _, stem, _ in scope])
    key_parts = _parts(numbers)
    if len(parts) != len(key_parts):
        parts, key_parts = [slice(None)], [slice(None)]
    for part, key_part in zip(parts, key_parts, strict=True):
        _match_part(scope[part], entries[key_part])


def _match_part(scope: list[tuple[Run, Stem, Any]], entries: list[KeyEntry]) -> None:
    questions: defaultdict[int | None, list[tuple[Run, Any]]] = defaultdict(list)
    answers: defaultdict[int | None, set[str]] = defaultdict(set)
    for run, stem, draft in scope:
        questions[stem.number].append((run, draft))
    for entry in entries:
        answers[entry.number].add(entry.rest)
    for entry in entries:
        if len(questions[entry.number]) == len(answers[entry.number]) == 1:
            _give(*questions[entry.number][0], entry)


def _parts(numbers: list[int]) -> list[slice]:
    """Return the stretches of rising numbers; −1 is none."""
    starts = [0]
    last = -1
    for n, number in enumerate(numbers):
        if number == -1:
            continue
        if number <= last:
            starts.append(n)
        last = number
    return [slice(start, end) for start, end in pairwise([*starts, len(numbers)])]


def _give(run: Run, draft: Any, entry: KeyEntry) -> None:
    parsed = parsed_answer(entry.rest, run.labels, run.texts)
    if parsed is None:
        return
    draft.answer, draft.by = GivenAnswer(*parsed, -1, -1), "key"
    explanations = " ".join(filter(None, (parsed.explanation, entry.explanation)))
    draft.explanation = draft.explanation or explanations
