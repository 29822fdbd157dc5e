"""Runs of options: consecutive labels, options that the markup shows, and bare lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answers import (
    answer_inside,
    offers_answer,
    starts_answer,
)
from benchwright.methods.mmlu_cf.extraction.labels import (
    LETTERED,
    Label,
    first_series,
    labels_of,
    place_of,
)
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat, joined

_MOST_OPTIONS = 26
_MOST_BETWEEN = 4  # lines of text between two labels
_TICK = r"[✓✔✅☑🗸]️?|\((?:correct|right|richtig|correcta|верно|✓|✔)(?: answer)?\)"
_TICKED = re.compile(rf"(?i)(?:{_TICK})\s*(?=\S)|(?<=\S)\s*(?:{_TICK})$")
STAR = re.compile(r"^\*{1,3} ?(?=\S)|(?<=\S) ?\*{1,3}$")
"""A sign at an end of an option that may mark it or belong to it (`char *`)."""


@dataclass(slots=True)
class Option:
    """An option: its label as written, its text in pieces, and marks from the markup.

    Its text begins on line `line`.
    """

    label: str
    line: int
    pieces: list[str]
    marks: set[str] = field(default_factory=set)
    value: str | None = None
    code: str = ""  # below the text

    @property
    def text(self) -> str:
        text = joined(self.pieces)
        return f"{text}\n{self.code}".strip() if self.code else text

    def add(self, line: Line) -> None:
        """Add a line that continues the option."""
        if line.kind == "code":
            self.code = f"{self.code}\n{line.text}" if self.code else line.text
            return
        if not self.pieces:
            self.marks |= line.marks | emphasis_of(line, 0, len(line.text))
        self.pieces.append(line.text)


@dataclass(slots=True)
class Run:
    """Options that belong together."""

    # first, last: its lines; the first line may begin with the stem
    first: int
    last: int
    start: int  # offset of the first option's label in the first line
    options: list[Option]
    series: str  # series of the labels, "" without labels
    style: str  # spelling of the labels
    sure: bool  # the markup marks these as options

    def marked(self, kind: str) -> list[int]:
        """Return the positions of the options with a mark."""
        return [n for n, option in enumerate(self.options) if kind in option.marks]

    @property
    def bare(self) -> bool:
        """Whether these are items of a list that may be no options."""
        return not self.series and not self.sure

    @property
    def labels(self) -> list[str]:
        return [option.label for option in self.options]

    @property
    def texts(self) -> list[str]:
        return [option.text for option in self.options]


def option_of(line: Line, at: int, start: int, end: int, label: str = "") -> Option:
    """Return the option in characters start … end − 1 of line `at`; check marks become marks."""
    text = line.text[start:end].strip(" \t;|,/" if end < len(line.text) else None)
    marks = emphasis_of(line, start, end) | line.marks
    if re.match(r"\s*\*(?!\*)", line.text[:start]) or _TICKED.search(text):
        marks.add("ticked")  # *B.
        text = _TICKED.sub("", text)
    elif STAR.search(text):
        marks.add("star")
    option = Option(label, at, [flat(text)] if text else [], marks, line.value)
    option.code = line.code
    return option


def emphasis_of(line: Line, start: int, end: int) -> set[str]:
    """Return the emphasis of a part of a line, punctuation aside."""
    kinds = set()
    for part in line.emphasis:
        rest = line.text[start : max(start, part.start)] + line.text[min(part.end, end) : end]
        if part.start < end and part.end > start and not re.search(r"\w", rest):
            kinds.add(part.kind)
    return kinds


class At(NamedTuple):
    """A label, the number of its line, and the lines that continue the option before it."""

    line: int
    label: Label
    between: list[int]


class Labels:
    """The labels of a page by line; lines of a lettered run are no numbered options."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        self.of = [_countable(line, labels_of(line)) for line in lines]
        self.used: set[int] = set()

    def runs(self, *, lettered: bool) -> Iterator[Run]:
        """Yield the runs of lettered, or of other, series."""
        at = 0
        while at < len(self.lines):
            firsts = [(label, first_series(label.name)) for label in self.of[at]]
            found = (
                self._run(at, label, series)
                for label, series in firsts
                if series and (series in LETTERED) == lettered and at not in self.used
            )
            run = next(filter(None, found), None)
            yield from [run] if run else []
            at = at + 1 if run is None else run.last + 1

    def _run(self, first: int, start: Label, series: str) -> Run | None:
        """Return the run that begins with a label; None if it is the only one."""
        taken = self._on_line(first, start, series, [])
        pending: list[int] = []
        for at in range(first + 1, len(self.lines)):
            if at in self.used:
                break
            head = next((label for label in self.of[at] if label.start <= 1), None)
            places = [_place(each.label, start, series) for each in taken]
            place = -1 if head is None else _place(head, start, series)
            repeats = self.lines[at].text == self.lines[taken[-1].line].text
            near = place not in places[:-1] and place <= places[-1] + 3
            error = near and not pending and not repeats
            if head is not None and place > 0 and (place == places[-1] + 1 or error):
                taken += self._on_line(at, head, series, pending)
                pending = []
            elif self._continues(at, head, taken[0], pending):
                pending.append(at)
            else:
                break
        return self._finished(taken, series, pending) if len(taken) > 1 else None

    def _on_line(self, at: int, first: Label, series: str, pending: list[int]) -> list[At]:
        """Return a label, and those that follow it on its line and in the series."""
        here = place_of(first.name, series)
        rest = [
            label
            for label in self.of[at]
            if label.start > first.start and _place(label, first, series) >= 0
        ]
        fields = [label for label in rest if label.field]
        rest = fields or rest
        places = [_place(label, first, series) for label in rest]
        chain: list[Label] = []
        for label, place in zip(rest, places, strict=True):
            if place == here + 1 + len(chain):
                chain.append(label)
        shuffled = sorted(places) == list(range(1, len(rest) + 1))
        text_behind = bool(rest and self.lines[at].text[rest[-1].end :].strip())
        if here == 0 and (shuffled or (fields and text_behind and 0 not in places)):
            chain = rest
        below = self.of[at + 1][:1] if at + 1 < len(self.of) else []
        goes_on = below and _place(below[0], first, series) == here + 1 + len(chain)
        fewest = 2 if fields or here > 0 or goes_on or first.style[0] in "([)c" else 3
        if len(chain) + 1 < fewest:
            chain = []
        return [At(at, first, pending), *(At(at, label, []) for label in chain)]

    def _continues(self, at: int, head: Label | None, first: At, pending: list[int]) -> bool:
        """Return whether a line may continue the option above it."""
        line, opening = self.lines[at], self.lines[first.line]
        texts = sum(self.lines[n].kind != "code" for n in pending)
        other = line.kind in {"heading", "option"} or (line.kind == "item" != opening.kind)
        if other or texts >= _MOST_BETWEEN or starts_answer(line.text):
            return False
        if first.label.name == "1" and line.indent <= opening.indent:
            return False
        return head is None or not head.field or head.style == "bareA"  # "A" begins a sentence

    def _finished(self, taken: list[At], series: str, pending: list[int]) -> Run:
        options = []
        for place, (at, label, _) in enumerate(taken):
            after = taken[place + 1] if place + 1 < len(taken) else None
            end = after.label.start if after and after.line == at else len(self.lines[at].text)
            option = option_of(self.lines[at], at, label.end, end, label.name)
            empty = not option.pieces
            for line in [self.lines[near] for near in after.between] if after else ():
                if empty or line.kind == "code" or line.block == self.lines[at].block:
                    option.add(line)
            options.append(option)
        last = self._wrapped(options, pending)
        at, first, _ = taken[0]
        sure = self.lines[at].kind == "option"
        return Run(at, last, first.start, options, series, first.style, sure)

    def _wrapped(self, options: list[Option], pending: list[int]) -> int:
        """Add the lines that continue the last option, and return the run's last line."""
        option, line = options[-1], self.lines[options[-1].line]
        last = option.line
        for at in pending:
            other = self.lines[at]
            flows = other.block == line.block and other.indent > line.indent
            if option.pieces and other.kind != "code" and not flows:
                break
            option.add(other)
            last = at
        return last


def _countable(line: Line, labels: list[Label]) -> list[Label]:
    """Return the labels of options on a line: none in an answer, or in code such as "a = 1"."""
    if line.kind == "code":
        return [label for label in labels if label.style in {".A", ")A", "()A"}]
    if len(labels) > 1 and starts_answer(line.text):
        return []
    stop = answer_inside(line.text) if len(labels) > 2 else -1
    before = [label for label in labels if label.start < stop]
    return before if len(before) > 1 else labels


def _place(label: Label, first: Label, series: str) -> int:
    """Return the place of a label in a series, if it is spelled as the first one."""
    return place_of(label.name, series) if label.style == first.style else -1


def option_runs(lines: list[Line]) -> list[Run]:
    """Return all runs of options in page order; some may be parts of a stem."""
    labels = Labels(lines)
    runs = list(labels.runs(lettered=True))
    for run in runs:
        labels.used.update(range(run.first, run.last + 1))
    runs = sorted([*runs, *labels.runs(lettered=False)], key=lambda run: (run.first, run.start))
    runs += _unlabelled_runs(lines, runs)
    return sorted(runs, key=lambda run: (run.first, run.start, -run.last))


def _unlabelled_runs(lines: list[Line], runs: list[Run]) -> Iterator[Run]:
    """Yield groups of options or list items in the markup, outside labelled runs."""
    inside = {at for run in runs for at in range(run.first, run.last + 1)}
    end = 0
    for at, line in enumerate(lines):
        other = line.kind not in {"option", "item"} or offers_answer(line.text)
        if at < end or other or line.label[:1].isalpha():
            continue
        end = at + 1
        while end < len(lines) and _is_beside(line, lines[end]):
            end += 1
        group = range(at, end)
        if 2 <= len(group) <= _MOST_OPTIONS and inside.isdisjoint(group):
            options = [
                option_of(lines[n], n, 0, len(lines[n].text), lines[n].label.rstrip("."))
                for n in group
            ]
            series = "numbers" * bool(line.label)
            yield Run(at, end - 1, 0, options, series, "", line.kind == "option")


def _is_beside(first: Line, line: Line) -> bool:
    return (line.kind, line.group) == (first.kind, first.group) and not starts_answer(line.text)
