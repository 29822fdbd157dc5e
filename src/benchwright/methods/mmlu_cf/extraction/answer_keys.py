"""Keys that stand apart from their questions, and which entry belongs to which question."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
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
from benchwright.methods.mmlu_cf.extraction.answers import GivenAnswer
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat
from benchwright.methods.mmlu_cf.extraction.options import Run
from benchwright.methods.mmlu_cf.extraction.stems import Stem

_LABEL = r"(?:[A-Ha-hА-Еа-е]|[ivxIVX]{1,4})"
_NUMBER = (
    r"(?:(?:Q|Ques|Question|Problem|Item|No|Nr|Frage|Вопрос)\s?\.?\s?|#\s?)?"
    r"[(\[]?(?P<number>\d{1,4})[)\]]?"
)
_PAIR = re.compile(
    rf"(?<![\w.(]){_NUMBER}\s?(?:[.:=)\]]|[-–—→>]{{1,2}})?\s?[-–—:=→]?\s?[(\[]?"
    rf"(?:(?:option|choice)\s)?(?P<label>{_LABEL})[)\].]?(?![\w'’(])",
    re.IGNORECASE,
)
_DIGITS = re.compile(
    r"(?<![\w.])(?P<number>\d{1,4})\s?[-–—:=→)]\s?[(\[]?(?P<label>\d)[)\]]?(?![\w.])"
)
_ROW = re.compile(
    rf"{_NUMBER}\s?(?:[.:=)\]\t]|[-–—→>]{{1,2}}|\s)\s?[-–—:=→]?\s?(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_STRICT = re.compile(
    rf"(?:(?:the\s)?(?:(?:correct|right)\s)?(?:answer|ans|option|choice)\s?(?:[:.]|is)?\s)?"
    rf"(?:[(\[]\s?{_LABEL}\s?[)\]]"
    rf"|{_LABEL}(?=$|[.):\t]|\s[-–—:=]\s|,\s?{_LABEL}\b|\s(?:and|&)\s{_LABEL}$))",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"(?<!\d)(?P<from>\d{1,3})\s?(?:-|–|—|to)\s?(?P<to>\d{1,3})\s?[:.)\t ]\s?"
    r"(?P<labels>[A-Ha-h](?:[\s,.;]{0,2}[A-Ha-h]){1,60})(?!\w)"
)
_LETTERS = re.compile(r"[A-Ha-h](?:[\s,;.\t]{0,3}[A-Ha-h]){2,200}\.?")
_HEADER = re.compile(
    r"(?:question|questions|answer|answers|no|number|key|q|#|nr|correct|option|choice|item|and|the"
    r"|your|letter|explanation|[\s./:|#№])+",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"[,;]\s(?=\d{1,3}[.)]\s?[(\[]?[A-Ha-h][.)\]])")
_ALONE = re.compile(r"(?:Question|Q|Problem|No\.?|#)?\s?(\d{1,4})\s?[.):]?", re.IGNORECASE)
_NUMERAL = re.compile(r"(?:Q|#|No\.?\s?)?(\d{1,4})[.):]?", re.IGNORECASE)
_SURE = re.compile(r"\bkey|answers|solutions|lösungen", re.IGNORECASE)
_PLURAL = re.compile(
    r"answers|keys?\b|solutions|explanations|lösung|antworten|respuestas|ответы|ключ|réponses"
    r"|corrig",
    re.IGNORECASE,
)
_OPTION = re.compile(r"[(\[]?[1AaАа][.)\]:]\s|[1Aa]\s(?:[-–—=]>?|::|[»|])\s|[1Aa]\t")
_FIRST_WORDS = re.compile(r"\D{0,60}(?=\d)")
_LONGEST_TEXT = 200


class KeyEntry(NamedTuple):
    """What a key says of one question; `number` is None where only the order tells."""

    number: int | None
    rest: str
    explanation: str


class KeySection(NamedTuple):
    """A key on the lines first … last."""

    first: int
    last: int
    region: tuple[int, ...]
    entries: list[KeyEntry]


def key_sections(lines: list[Line]) -> list[KeySection]:
    """All keys of a page in order."""
    found: list[KeySection] = []
    at = 0
    while at < len(lines):
        rest = _head(lines, at)
        section = _section(lines, at, rest) if rest is not None else _headless(lines, at)
        if section is not None:
            found.append(section)
            at = section.last
        at += 1
    return found


def _head(lines: list[Line], at: int) -> str | None:
    """What follows the heading of a key on its line; None where a line is no heading."""
    text = lines[at].text
    numbered = numbered_answer(text)
    if numbered is not None:
        counted_on = _FIRST_WORDS.sub("", text, count=1)
        return counted_on if pairs_in(counted_on) else None
    rest = key_after(text)
    if rest is None:
        rest = answer_after(text)
        if rest and not (speaks_of_questions(rest.lstrip("*_ ")) or _running(lines, at, rest)):
            rest = None
        rest = rest or None
    return rest.lstrip("*_ ") if rest else rest


def _running(lines: list[Line], head: int, rest: str) -> int:
    """How many lines below a heading go on counting the questions that its line begins to count.

    None, where options stand below them: then they are questions.
    """
    first = counted(rest)
    if first is None:
        return 0
    number, sign = first
    pairs = pairs_in(rest)
    number = pairs[-1].number if pairs else number
    at = head + 1
    while at < len(lines) and lines[at].region == lines[head].region:
        found = counted(_numbered(lines[at]))
        if found is None or found != (number + 1, sign):
            break
        pairs = pairs_in(lines[at].text)
        number = pairs[-1].number if pairs else found[0]
        at += 1
    below = lines[at : at + 4]
    if any(_OPTION.match(f"{line.label} {line.text}".lstrip()) for line in below):
        return 0
    return at - head - 1


def _headless(lines: list[Line], at: int) -> KeySection | None:
    text = lines[at].text
    numbered = numbered_answer(text)
    if numbered is not None:
        return KeySection(at, at, lines[at].region, [KeyEntry(*numbered, "")])
    if not text[:1].isdigit() and text[:1] not in "Qq(#":
        return None
    entries = _pairs(text, digits=False)  # "1) 4" may be an option
    last = at
    while entries and last + 1 < len(lines) and lines[last + 1].region == lines[at].region:
        more = _pairs(lines[last + 1].text, digits=False)
        if not more or more[0].number != (entries[-1].number or 0) + 1:
            break
        entries += more
        last += 1
    enough = len(entries) >= 3 or (last > at and entries[0].number == 1)
    return KeySection(at, last, lines[at].region, entries) if enough else None


def _section(lines: list[Line], head: int, rest: str) -> KeySection | None:
    """The key below a heading such as "Answers", which may begin on the heading's line."""
    section = _Section(lines, head)
    if rest:
        n = _running(lines, head, rest)
        if n:
            text = "\n".join([rest, *(_numbered(line) for line in lines[head + 1 : head + n + 1])])
            section.entries = [KeyEntry(*one, "") for one in pairs_in(text)]
            section.last = head + n
            if section.entries:
                return section.done()
        entries = [KeyEntry(*one, "") for one in pairs_in(rest)] or _of_line(rest)
        entries = entries or _positional(rest)
        if not entries and (len(rest) > 60 or not _SURE.search(lines[head].text)):
            return None
        section.entries = entries
        if entries and entries[0].number is None:
            return section.done()
    plural = _PLURAL.search(lines[head].text) is not None
    at = head + 1
    while plural and at < len(lines) and lines[at].region == lines[head].region:
        taken = section.take(at)
        if not taken:
            break
        at += taken
    labelled = any(_STRICT.match(one.rest) for one in section.entries)
    enough = len(section.entries) > 1 or (plural and labelled)
    return section.done() if section.entries and enough else None


class _Section:
    """A key in the making."""

    def __init__(self, lines: list[Line], head: int) -> None:
        self.lines, self.head, self.last = lines, head, head
        self.entries: list[KeyEntry] = []

    def done(self) -> KeySection:
        return KeySection(self.head, self.last, self.lines[self.head].region, self.entries)

    def take(self, at: int) -> int:
        """How many lines from one on belong to the key."""
        line = self.lines[at]
        text = _numbered(line)
        if not self.entries and at < self.head + 4 and len(text) < 80 and _HEADER.fullmatch(text):
            return 1
        found, n = self._entries(at, text)
        if found:
            if line.kind == "heading" and self.entries:
                return 0
            self.entries += found
            self.last = at + n - 1
            return n
        if len(text) < 40 and at + 1 < len(self.lines) and _of_line(_numbered(self.lines[at + 1])):
            return 1  # "Part Two"
        explains = explanation_after(line.text)
        wraps = line.block == self.lines[self.last].block and line.kind != "heading"
        if self.entries and (explains is not None or (wraps and not line.label)):
            last = self.entries[-1]
            told = f"{last.explanation} {explains or line.text}".strip()
            self.entries[-1] = last._replace(explanation=told)
            self.last = at
            return 1
        return 0

    def _entries(self, at: int, text: str) -> tuple[list[KeyEntry], int]:
        """Entries that begin on a line, and the lines they take."""
        if across := _across(self.lines, at):
            return across, 2
        alone, below = _ALONE.fullmatch(text), self.lines[at + 1 : at + 2]
        if alone is not None and below and _STRICT.match(below[0].text):
            return [KeyEntry(int(alone[1]), below[0].text, "")], 2
        found = _of_line(text)
        if not found and not self.entries and at == self.head + 1:
            found = _positional(text)
        if not found:
            found = _text_entry(self.lines, at, text, bool(self.entries))
        return found, 1


def _numbered(line: Line) -> str:
    return f"{line.label} {line.text}" if line.label[:1].isdigit() else line.text


def _of_line(text: str) -> list[KeyEntry]:
    """The entries of a line of nothing else, or the one it begins with."""
    if len(text) > 20_000:
        return []
    ranged = [
        KeyEntry(number, label, "")
        for found in _RANGE.finditer(text)
        for number, label in _ranged(found)
    ]
    if together := ranged or _pairs(text):
        return together
    pieces = _SPLIT.split(text)
    if len(pieces) > 1 and all(found := [_of_line(piece) for piece in pieces]):
        return [entry for entries in found for entry in entries]
    counting = pairs_in(text)
    if counting and all(len(one.rest) < 80 and _STRICT.match(one.rest) for one in counting):
        return [KeyEntry(*one, "") for one in counting]
    row = _ROW.match(text)
    if row is not None and len(row["number"]) < 4:
        rest = row["rest"].strip()
        if _STRICT.match(rest) is not None:
            label, _, told = rest.partition("\t")
            return [KeyEntry(int(row["number"]), label, flat(told))]
    return []


def _pairs(text: str, *, digits: bool = True) -> list[KeyEntry]:
    for pattern in (_PAIR, _DIGITS) if digits else (_PAIR,):
        found = list(pattern.finditer(text))
        if not found:
            continue
        covered = sum(one.end() - one.start() for one in found)
        other = len(re.sub(r"[\s,;|/.&•·()]|and\b", "", pattern.sub("", text)))
        if covered and other == 0:
            return [KeyEntry(int(one["number"]), one["label"], "") for one in found]
    return []


def _ranged(found: "re.Match[str]") -> list[tuple[int, str]]:
    labels = re.findall(r"[A-Ha-h]", found["labels"])
    first, last = int(found["from"]), int(found["to"])
    if last - first + 1 != len(labels):
        return []
    return list(zip(range(first, last + 1), labels, strict=True))


def _positional(text: str) -> list[KeyEntry]:
    if not _LETTERS.fullmatch(text) or len(text) > 2_000:
        return []
    labels = re.findall(r"[A-Ha-h]", text)
    words = re.search(r"[a-h]{2,}", text)  # "bad" is a word
    few = len(labels) < 6 or len(set(labels)) < 3
    if words and (not text.islower() or " " in text or few):
        return []
    return [KeyEntry(None, one, "") for one in labels]


def _fields(text: str) -> list[str]:
    fields = [one.strip() for one in text.split("\t")]
    return fields if len(fields) > 1 else text.split()


def _across(lines: list[Line], at: int) -> list[KeyEntry]:
    """A table with the numbers in one row and the labels in the next."""
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
    numbers = [_NUMERAL.fullmatch(one) for one in top]
    if not all(numbers) or any(len(one) > 40 for one in below):
        return []
    if not sum(bool(_STRICT.match(one)) for one in below) * 2 > len(below):
        return []
    pairs = zip(numbers, below, strict=True)
    return [KeyEntry(int(one[1]), text, "") for one, text in pairs if one and text]


def _text_entry(lines: list[Line], at: int, text: str, begun: bool) -> list[KeyEntry]:
    """`1. Paris`: an answer by its text; it counts if it is that of an option of question 1."""
    row = _ROW.match(text) if len(text) <= _LONGEST_TEXT else None
    if row is None or text.rstrip().endswith("?"):
        return []
    if not begun and int(row["number"]) > 1 and lines[at].label == "":
        return []
    for below in lines[at + 1 : at + 2]:
        if re.match(r"[(\[]?[aAа1А][.)\]:]\s", below.text) or below.label[:1] in {"A", "a"}:
            return []
    return [KeyEntry(int(row["number"]), row["rest"].strip(), "")]


def match_keys(
    open_: Sequence[tuple[Run, Stem, Any]], keys: Sequence[KeySection], lines: list[Line]
) -> None:
    """Gives questions the answers of keys, by number.

    A key speaks of the questions above it, after the key before it (below it, where none stand
    above). Where numbers begin anew, in the questions and in the key alike, the parts are matched
    in order; where a number fits several questions, none gets an answer. Questions without any
    number are matched by order if the key counts 1 … n and there are n of them. A key in a comment
    does not speak of questions outside.

    `open_` has run, stem and draft of each question without answer, in order; drafts get `answer`,
    `explanation` and `by`.
    """
    starts = [stem.first for _, stem, _ in open_]
    start, place = 0, 0
    while place < len(keys):
        key = keys[place]
        entries = list(key.entries)
        above = bisect_left(starts, key.first)
        scope = list(open_[bisect_left(starts, start) : above])
        if not above:
            end = keys[place + 1].first if place + 1 < len(keys) else len(lines)
            scope = list(open_[bisect_right(starts, key.last) : bisect_left(starts, end)])
        last = key.last
        place += 1
        while place < len(keys) and above and bisect_left(starts, keys[place].first) == above:
            if keys[place].region == key.region:  # keys one after another are one
                entries += keys[place].entries
            last = keys[place].last
            place += 1
        depth = len(key.region)
        heard = [one for one in scope if lines[one[0].first].region[:depth] == key.region]
        _match(heard, entries)
        start = last


def _match(scope: list[tuple[Run, Stem, Any]], entries: list[KeyEntry]) -> None:
    if not scope:
        return
    counted_on = [entry.number for entry in entries if entry.number is not None]
    in_order = counted_on == list(range(1, len(scope) + 1)) or not counted_on
    if counted_on:
        entries = [entry for entry in entries if entry.number is not None]
    if not counted_on or all(stem.number is None for _, stem, _ in scope):
        if in_order and len(entries) == len(scope):
            for (run, _, draft), entry in zip(scope, entries, strict=True):
                _give(run, draft, entry)
        return
    parts = _parts([-1 if stem.number is None else stem.number for _, stem, _ in scope])
    key_parts = _parts([entry.number or 0 for entry in entries])
    if len(parts) != len(key_parts):
        parts, key_parts = [range(len(scope))], [range(len(entries))]
    for part, key_part in zip(parts, key_parts, strict=True):
        _match_part([scope[n] for n in part], [entries[n] for n in key_part])


def _match_part(scope: list[tuple[Run, Stem, Any]], entries: list[KeyEntry]) -> None:
    asked: defaultdict[int | None, list[tuple[Run, Any]]] = defaultdict(list)
    said: defaultdict[int | None, set[str]] = defaultdict(set)
    for run, stem, draft in scope:
        asked[stem.number].append((run, draft))
    for entry in entries:
        said[entry.number].add(entry.rest)
    for entry in entries:
        if len(asked[entry.number]) == len(said[entry.number]) == 1:
            _give(*asked[entry.number][0], entry)


def _parts(numbers: list[int]) -> list[range]:
    """Stretches of rising numbers."""
    starts = [0]
    last = -1
    for n, number in enumerate(numbers):
        if number == -1:
            continue
        if number <= last:
            starts.append(n)
        last = number
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(numbers)], strict=True)]


def _give(run: Run, draft: Any, entry: KeyEntry) -> None:
    parsed = parsed_answer(entry.rest, run.labels, run.texts)
    if parsed is None:
        return
    draft.answer = GivenAnswer(parsed.answer, parsed.explanation, -1, -1)
    draft.by = "key"
    told = " ".join(one for one in (parsed.explanation, entry.explanation) if one)
    draft.explanation = draft.explanation or told
