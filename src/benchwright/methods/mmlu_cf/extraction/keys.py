"""Separate answer keys, and the question to which each entry belongs."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answer_words import words_for
from benchwright.methods.mmlu_cf.extraction.answers import (
    NUMBER,
    answer_after,
    key_after,
    pairs_in,
    speaks_of_questions,
)
from benchwright.methods.mmlu_cf.extraction.lines import Line
from benchwright.methods.mmlu_cf.extraction.stems import Stem

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
_SERIES_PART = re.compile(
    r"(?:(?P<first>\d{1,3})\s?[-–—~～]\s?(?P<last>\d{1,3})\s?[:.)\t ]\s?)?"
    r"(?P<letters>[A-H](?:[\s,;.]{0,3}[A-H]){1,200})\.?(?:\s|$)"
)
_SERIES = re.compile(f"(?:{re.sub(r'[?]P<[a-z]+>', '', _SERIES_PART.pattern)}){{1,40}}")
_HEADER = re.compile(
    rf"(?i)(?:{words_for('question')}|{words_for('answers')}|{words_for('answer')}|{words_for('correct')}"
    r"|number|option|choice|and|the|your|letter|explanation|[\s./:|#№])+"
)
_PLURAL = re.compile(rf"(?i)answers|keys?\b|solutions|explanations|{words_for('answers')}")


class KeyEntry(NamedTuple):
    """An answer in a key."""

    number: str
    rest: str
    explanation: str = ""


@dataclass(slots=True)
class KeySection:
    """A key on the lines first … last."""

    first: int
    last: int
    entries: list[KeyEntry]


def key_sections(lines: list[Line]) -> list[KeySection]:
    """Return all keys of a page in order."""
    sections: list[KeySection] = []
    at = 0
    while at < len(lines):
        rest = _head(lines[at].text)
        section = _headless(lines, at) if rest is None else _section(lines, at, rest)
        if section is not None:
            sections.append(section)
            at = section.last
        at += 1
    return sections


def _head(text: str) -> str | None:
    """Return the text after the heading of a key on its line; None if a line is no heading."""
    key = key_after(text)
    rest = ((answer_after(text) or "") if key is None else key).lstrip("*_ ")
    return rest if key is not None or speaks_of_questions(rest) else None


def _headless(lines: list[Line], at: int) -> KeySection | None:
    """Return the key of at least two entries that begins on a line."""
    entries: list[KeyEntry] = []
    last = at
    while last < len(lines) and (more := _of_line(lines[last].text)):
        if any(len(entry.rest.strip("().[] ")) >= 5 for entry in more):
            break  # `1) 4` is an option
        entries += more
        last += 1
    return KeySection(at, last - 1, entries) if len(entries) > 1 else None


def _section(lines: list[Line], head: int, rest: str) -> KeySection | None:
    """Return the key below a heading such as "Answers"; it may begin on the heading's line."""
    entries = [KeyEntry(*pair) for pair in pairs_in(rest)] or _in_order(rest)
    plural = _PLURAL.search(lines[head].text) is not None
    last, at = head, head + 1
    while plural and at < len(lines):
        line, n = lines[at], len(entries)
        found, taken = _entries(lines, at, n)
        found = found or ([] if n else _in_order(line.text))
        if not found and n and line.block == lines[last].block:
            text = f"{entries[-1].explanation} {line.text}".strip()
            entries[-1] = entries[-1]._replace(explanation=text)
        elif not found and not _leads(lines, at, n):
            break
        entries += found
        last, at = at + taken - 1, at + taken
    return KeySection(head, last, entries) if len(entries) > (0 if plural else 1) else None


def _leads(lines: list[Line], at: int, n: int) -> bool:
    """Return whether a line stands above entries: "No. Answer", "Part Two"."""
    text = _numbered(lines[at])
    below = at + 1 < len(lines) and len(text) < 40 and _entries(lines, at + 1, n)[0]
    return bool(below) or _HEADER.fullmatch(text) is not None


def _entries(lines: list[Line], at: int, n: int) -> tuple[list[KeyEntry], int]:
    """Return the entries that begin on a line below n others, and the number of their lines."""
    if across := _across(lines, at):
        return across, 2
    text = _numbered(lines[at])
    row, below = _ROW.match(text), lines[at + 1 : at + 2]
    if row is not None and not row["rest"].strip() and below and _is_label(below[0].text):
        return [KeyEntry(row["number"], below[0].text)], 2
    entries = _of_line(text)
    if not entries and lines[at].kind == "item" and _is_label(text):
        entries = [KeyEntry(str(n + 1), text)]
    return entries, 1


def _numbered(line: Line) -> str:
    return f"{line.label} {line.text}" if line.label[:1].isdigit() else line.text


def _of_line(text: str) -> list[KeyEntry]:
    """Return the entries of which a line consists, or the entry at its start."""
    pairs = [KeyEntry(*pair) for pair in pairs_in(text)]
    if pairs and all(len(entry.rest) < 80 and _is_label(entry.rest) for entry in pairs):
        return pairs
    row = _ROW.match(text)
    rest = row["rest"].strip() if row is not None else ""
    return [KeyEntry(row["number"], rest)] if row is not None and _is_label(rest) else []


def _in_order(text: str) -> list[KeyEntry]:
    """Return the entries of letters in the order of the questions: `B, C, A`, `1-3: B C A`."""
    if not _SERIES.fullmatch(text):
        return []
    entries = []
    for part in _SERIES_PART.finditer(text):
        letters = re.findall("[A-H]", part["letters"])
        first, last = int(part["first"] or 1), int(part["last"] or len(letters))
        if last - first + 1 != len(letters):
            return []
        entries += [KeyEntry(str(first + n), letter) for n, letter in enumerate(letters)]
    return entries


def _across(lines: list[Line], at: int) -> list[KeyEntry]:
    """Return the entries of a table with the numbers in one row and the labels in the next."""
    tab = "\t" if "\t" in lines[at].text else None
    top, *rest = (line.text[:2_000].split(tab) for line in lines[at : at + 2])
    below = rest[0] if rest else []
    numbers = [text.strip("Qq#.:) ") for text in top]
    pairs = [*zip(numbers, below, strict=False)][not numbers[:1] or not numbers[0].isdecimal() :]
    if len(top) != len(below) or len(pairs) < 2:
        return []
    fit = all(number.isdecimal() and len(text) <= 40 for number, text in pairs)
    strict = sum(_is_label(text) for _, text in pairs)
    return [KeyEntry(*pair) for pair in pairs if pair[1]] if fit and 2 * strict > len(pairs) else []


def _is_label(text: str) -> bool:
    return _STRICT.match(text) is not None


def answers_of_keys(stems: Sequence[Stem], keys: Sequence[KeySection]) -> dict[int, KeyEntry]:
    """Return the entry of each question, by its place in `stems`.

    A key belongs to the questions above it, after the previous key, or else to those below it. A
    number that fits several questions answers none. Questions without any number are matched by
    order if the key counts 1 … n and there are n.
    """
    entries: defaultdict[int, list[KeyEntry]] = defaultdict(list)  # by number of questions above
    starts = [stem.first for stem in stems]
    for key in keys:
        entries[bisect_left(starts, key.first)] += key.entries
    found: dict[int, KeyEntry] = {}
    bounds = [0, *entries, len(stems)]
    for n, (above, of_key) in enumerate(entries.items()):
        scope = range(bounds[n], above) if above else range(bounds[n + 2])
        found |= _matched(scope, stems, of_key)
    return found


def _matched(scope: range, stems: Sequence[Stem], entries: list[KeyEntry]) -> dict[int, KeyEntry]:
    numbers = [entry.number for entry in entries]
    if not any(stems[n].number for n in scope):
        counts = numbers == [str(n + 1) for n in range(len(scope))]
        return dict(zip(scope, entries, strict=True)) if counts else {}
    questions, rests = defaultdict(list), defaultdict(set)
    for n in scope:
        questions[stems[n].number].append(n)
    for entry in entries:
        rests[entry.number].add(entry.rest)
    return {
        questions[entry.number][0]: entry
        for entry in entries
        if len(questions[entry.number]) == len(rests[entry.number]) == 1
    }
