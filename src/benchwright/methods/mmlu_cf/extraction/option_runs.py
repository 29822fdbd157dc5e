"""Runs of options: labels that follow one another, and options that only the markup shows."""

from bisect import bisect_left
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answer_lines import (
    answer_after,
    folded,
    starts_answer,
    starts_key,
)
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat
from benchwright.methods.mmlu_cf.extraction.options import (
    Label,
    Option,
    Run,
    faces_of,
    first_series,
    labels_of,
    option_of,
    place_of,
)
from benchwright.methods.mmlu_cf.extraction.stems import number_of

_MOST_OPTIONS = 12
_MOST_BETWEEN = 4
LETTERED = frozenset({"letters", "cyrillic", "greek", "circled_letters", "squared_letters"})
"""Series of labels that options have far more often than questions or steps."""


class At(NamedTuple):
    """A label and its line."""

    line: int
    label: Label


class Growth:
    """One run, grown from the label of its first option."""

    def __init__(
        self, lines: list[Line], found: list[list[Label]], used: set[int], start: At, series: str
    ) -> None:
        self.lines, self.found, self.used = lines, found, used
        self.start, self.series = start, series
        self.lettered = series in LETTERED
        self.taken: list[At] = []
        self.between: list[list[int]] = []  # lines after each label, before the next

    def place(self, label: Label) -> int:
        style = self.start.label.style
        if label.style != style and (self.series != "roman" or label.style[:-1] != style[:-1]):
            return -1
        return place_of(label.name, self.series)

    def run(self) -> Run | None:
        """The run; None where fewer than two labels follow one another."""
        line, label = self.start
        first = [one for one in self.found[line] if one.start >= label.start]
        self._take_line(line, first)
        at_line_start = label.start == 0 or not self.lines[line].text[: label.start].strip()
        if not at_line_start and len(self.taken) < 2 and not label.field:
            return None
        at = line + 1
        pending: list[int] = []
        while at < len(self.lines) and len(self.taken) < _MOST_OPTIONS:
            labels = self.found[at]
            head = labels[0] if labels and labels[0].start <= 1 else None
            if head is not None and self._fits(head, at, pending):
                self.between.append(pending)
                pending = []
                self._take_line(at, labels)
            elif not self._may_stand_between(at, pending):
                break
            else:
                pending.append(at)
            at += 1
        if len(self.taken) < 2:
            return None
        return self._finished(pending)

    def _fits(self, head: Label, at: int, pending: list[int]) -> bool:
        place = self.place(head)
        if place < 0 or (not self.lettered and (at in self.used)):
            return False
        places = [self.place(one.label) for one in self.taken]
        last = places[-1]
        line, before = self.lines[at], self.lines[self.taken[-1].line]
        if line.region != before.region:
            return False
        if place == last + 1:
            return self._goes_on(at, pending, head)
        strange = pending or place == 0 or place > 7 or head.style.startswith("markup")
        if not self.lettered or strange:
            return False
        if place == last:  # a label twice; but not an option that the page repeats as the answer
            return _after(line, head) != _after(before, self.taken[-1].label)
        return place == last + 2 or (place not in places and abs(place - last) <= 3)

    def _goes_on(self, at: int, pending: list[int], head: Label) -> bool:
        """Whether a line with the next label is an option, and not the next question's stem."""
        line, before = self.lines[at], self.lines[self.taken[-1].line]
        n = len(self.taken)
        if n >= 3 and not line.label and line.group == 0 and before.group == 0:
            apart = line.block != before.block and line.kind == before.kind == "text"
            tight = self.lines[self.taken[-2].line].block == before.block
            if apart and tight and (n >= 4 or pending):
                return False
        if self.series != "numbers":
            return True
        nxt = self.found[at + 1][:1] if at + 1 < len(self.found) else []
        return not any(
            one.start <= 1 and one.style == head.style and one.name == "1" for one in nxt
        )

    def _may_stand_between(self, at: int, pending: list[int]) -> bool:
        """Whether a line may be more text of the option above it."""
        line, first = self.lines[at], self.lines[self.start.line]
        other = line.kind in {"heading", "option"} or (line.kind == "item" != first.kind)
        if len(pending) >= _MOST_BETWEEN or other or line.label or line.region != first.region:
            return False
        if len(line.text) > 1_000 or starts_answer(line.text) or starts_key(line.text):
            return False
        if self.series == "numbers" and line.indent <= first.indent:
            return False
        labels = self.found[at]
        if not labels or labels[0].start or not labels[0].field:
            return True
        name = labels[0].name
        return not first_series(name) and self.place(labels[0]) < 0 and not name.isdecimal()

    def _take_line(self, at: int, labels: list[Label]) -> None:
        """The labels of one line that belong to the run; the first one does."""
        first = labels[0]
        self.taken.append(At(at, first))
        rest = [one for one in labels[1:] if self.place(one) >= 0]
        if not rest:
            return
        here = self.place(first)
        fields = [one for one in rest if one.field]
        if fields:
            if first.field or self.place(fields[0]) == here + 1:
                rest = fields
        elif self._next_line_goes_on(at, here):
            return
        chain, expected = [], here + 1
        for one in rest:
            if self.place(one) == expected:
                chain.append(one)
                expected += 1
        whole = [self.place(one) for one in rest]
        odd = len(chain) < len(whole) <= 7 and (
            (
                first.style[0] in "(["
                and (
                    sorted([here, *whole]) == list(range(here, here + len(whole) + 1))
                    or (whole == sorted(set(whole)) and whole[-1] <= here + len(whole) + 1)
                )
            )
            or (bool(fields) and 0 not in whole and max(whole) <= 7)
        )
        if odd and here == 0 and len(whole) >= 2:
            chain = rest
        fewest = 2 if here > 0 or first.style[0] in "([)" else 3
        if not fields and len(chain) + 1 < fewest:
            return
        self.between += [[] for _ in chain]
        self.taken += [At(at, one) for one in chain]

    def _next_line_goes_on(self, at: int, here: int) -> bool:
        for near in range(at + 1, min(at + 1 + _MOST_BETWEEN, len(self.lines))):
            labels = self.found[near]
            if labels and labels[0].start <= 1:
                return self.place(labels[0]) == here + 1
        return False

    def _finished(self, pending: list[int]) -> Run:
        options = []
        self.between.append([])
        for number, (at, label) in enumerate(self.taken):
            line = self.lines[at]
            nxt = self.taken[number + 1] if number + 1 < len(self.taken) else None
            end = nxt.label.start if nxt is not None and nxt.line == at else len(line.text)
            options.append(self._option(at, label, end, self.between[number]))
        last = self._wrapped(options[-1], pending)
        line = self.lines[self.start.line]
        inline = len({one.line for one in self.taken}) < len(self.taken)
        fields = inline and all(one.label.field for one in self.taken if one.label.start)
        form = "fields" if fields else "inline" if inline else "lines"
        if line.kind == "cells":
            form = "cells"
        elif line.kind == "option":
            form = "inputs"
        elif line.label and not self.start.label.end:
            form = "list"
        sure = line.kind == "option" or (form == "list" and self.lettered)
        start = 0 if self.start.label.end == 0 else self.start.label.start
        return Run(
            self.start.line, last, start, options, self.series,
            self.start.label.style, form, sure,
        )  # fmt: skip

    def _option(self, at: int, label: Label, end: int, between: list[int]) -> Option:
        line = self.lines[at]
        option = option_of(line, at, label.end, end)
        option.label = label.name
        empty = not option.pieces
        for near in between:
            other = self.lines[near]
            if empty or other.block == line.block:
                option.pieces.append(other.text)
                if other.marks:
                    option.marks |= other.marks
                if empty:
                    option.marks |= faces_of(other, 0, len(other.text))
                    empty = False
        return option

    def _wrapped(self, option: Option, pending: list[int]) -> int:
        """Lines after the last option that its text runs on to; the run's last line."""
        line = self.lines[option.line]
        last = option.line
        longest = max(len(self.lines[one.line].text) for one in self.taken)
        wrapped = any(self.between[:-1])
        for at in pending:
            other = self.lines[at]
            if not option.pieces:
                option.pieces.append(other.text)
                option.marks |= other.marks | faces_of(other, 0, len(other.text))
                last = at
                continue
            if other.block != line.block or other.kind != line.kind:
                break
            hanging = other.indent > line.indent
            flows = (
                wrapped and other.text[:1].islower() and len(self.lines[last].text) > 0.6 * longest
            )
            if not (hanging or flows):
                break
            option.pieces.append(other.text)
            last = at
        return last


def _after(line: Line, label: Label) -> str:
    return flat(line.text[label.end :]).casefold()


_MOST, _LONGEST = 8, 200


def bare_runs(lines: list[Line], runs: list[Run], other: set[int]) -> list[Run]:
    """Lines between a question and "Answer: …", where the answer is exactly one of them.

    Lines of the `runs` found otherwise, and those in `other`, are none of them.
    """
    taken = set(other)
    for run in runs:
        taken.update(range(run.first, run.last + 1))
    found: list[Run] = []
    for at, line in enumerate(lines):
        rest = answer_after(line.text)
        if not rest or at in other or len(rest) > _LONGEST:
            continue
        options: list[int] = []
        near = at - 1
        while near >= 0 and len(options) <= _MOST and near not in taken:
            here = lines[near]
            if len(here.text) > _LONGEST or here.region != line.region or _asks(here):
                break
            options.append(near)
            near -= 1
        asked = near >= 0 and near not in taken and _asks(lines[near])
        if not asked or not 2 <= len(options) <= _MOST:
            continue
        options.reverse()
        named = [n for n in options if folded(lines[n].text) == folded(rest)]
        if len(named) != 1:
            continue
        own = [
            Option("", n, 0, len(lines[n].text), [flat(lines[n].text)], set(lines[n].marks))
            for n in options
        ]
        found.append(Run(options[0], options[-1], 0, own, "", "", "bare"))
    return found


def _asks(line: Line) -> bool:
    text = line.text.rstrip()
    return text.endswith(("?", ":", "…", "...")) or "___" in text or number_of(line) is not None


def labelled_runs(lines: list[Line], longest: int) -> list[Run]:
    """All runs of labels, in the order of their lines; runs may be parts of a stem."""
    found = [labels_of(line, longest) for line in lines]
    used: set[int] = set()
    runs: list[Run] = []
    for lettered in (True, False):
        taken = _runs(lines, found, used, lettered=lettered)
        runs += taken
        for run in taken:
            used.update(
                range(run.first + (run.start > 0 and run.form == "inline"), run.last + 1)
                if lettered
                else ()
            )
            if lettered and run.start:
                used.add(run.first)
    return sorted(runs, key=lambda run: (run.first, run.start))


def _runs(
    lines: list[Line], found: list[list[Label]], used: set[int], *, lettered: bool
) -> list[Run]:
    runs: list[Run] = []
    at, skip = 0, 0  # the line, and the character in it from which labels count
    while at < len(lines):
        run = None
        if at not in used or lettered:
            for label in found[at]:
                series = first_series(label.name) if label.start >= skip else ""
                if not series or (series in LETTERED) != lettered:
                    continue
                run = Growth(lines, found, used, At(at, label), series).run()
                if run is not None:
                    break
        if run is None:
            at, skip = at + 1, 0
            continue
        runs.append(run)
        end = run.options[-1]
        at, skip = end.line, end.end if end.line == run.last else 0
        if run.last > end.line:
            at, skip = run.last + 1, 0
        elif not any(one.start >= skip and first_series(one.name) for one in found[at]):
            at, skip = at + 1, 0
    return runs


def unlabelled_runs(lines: list[Line], runs: list[Run]) -> list[Run]:
    """Groups of lines that the markup makes options or list items, outside labelled runs."""
    starts = [run.first for run in runs]
    found: list[Run] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.kind not in {"option", "item"} or (line.label and line.label[0].isalpha()):
            at += 1
            continue
        end = at + 1
        while end < len(lines) and _same_group(lines[at], lines[end], lines[end - 1]):
            end += 1
        near = runs[max(0, bisect_left(starts, end) - 8) : bisect_left(starts, end)]
        if 2 <= end - at <= _MOST_OPTIONS and not any(run.last >= at for run in near):
            options = [option_of(lines[i], i, 0, len(lines[i].text)) for i in range(at, end)]
            sure = line.kind == "option"
            form, series = "inputs" if sure else "items", ""
            if line.label:
                form, series = "list", "numbers"
                for number, option in enumerate(options):
                    option.label = lines[at + number].label.rstrip(".")
            found.append(Run(at, end - 1, 0, options, series, "", form, sure))
        at = end
    return found


def _same_group(first: Line, line: Line, before: Line) -> bool:
    if line.kind != first.kind or line.region != first.region or starts_answer(line.text):
        return False
    if bool(line.label) != bool(first.label) or line.label == first.label != "":
        return False
    if line.group == first.group:
        return True
    alone = first.group >= 1_000_000 and line.group >= 1_000_000
    return alone and line.block - before.block <= 1 and line.marks >= {"unticked"}
