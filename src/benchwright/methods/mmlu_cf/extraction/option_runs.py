"""Runs of options: consecutive labels, and options that only the markup shows."""

from bisect import bisect_left
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answer_lines import (
    answer_after,
    folded,
    key_after,
    offers_answer,
    starts_answer,
)
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat
from benchwright.methods.mmlu_cf.extraction.options import (
    Label,
    Option,
    Run,
    emphasis_of,
    first_series,
    labels_of,
    option_of,
    place_of,
)
from benchwright.methods.mmlu_cf.extraction.stems import number_of

_MOST_OPTIONS = 12
_MOST_BETWEEN, _MOST_CODE = 4, 40  # lines between two labels: of text, of all
LETTERED = frozenset({"letters", "cyrillic", "greek", "circled_letters", "squared_letters"})
"""Series of labels that options have far more often than questions or steps."""


class At(NamedTuple):
    """A label and the number of its line."""

    line: int
    label: Label


class Growth:
    """A run that grows from the label of its first option."""

    def __init__(
        self, lines: list[Line], labels: list[list[Label]], used: set[int], start: At, series: str
    ) -> None:
        self.lines, self.labels, self.used = lines, labels, used
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
        """Return the run; None if fewer than two labels are consecutive."""
        line, label = self.start
        self._take_line(line, [other for other in self.labels[line] if other.start >= label.start])
        at_line_start = not self.lines[line].text[: label.start].strip()
        if not at_line_start and len(self.taken) < 2 and not label.field:
            return None
        pending: list[int] = []
        for at in range(line + 1, len(self.lines)):
            if len(self.taken) >= _MOST_OPTIONS:
                break
            labels = self.labels[at]
            if labels and labels[0].start <= 1 and self._fits(labels[0], at, pending):
                self.between.append(pending)
                pending = []
                self._take_line(at, labels)
            elif not self._may_stand_between(at, pending):
                break
            else:
                pending.append(at)
        return self._finished(pending) if len(self.taken) > 1 else None

    def _fits(self, head: Label, at: int, pending: list[int]) -> bool:
        place = self.place(head)
        if place < 0 or (not self.lettered and at in self.used):
            return False
        places = [self.place(taken.label) for taken in self.taken]
        last = places[-1]
        line, before = self.lines[at], self.lines[self.taken[-1].line]
        if line.region != before.region:
            return False
        if place == last + 1:
            return self._goes_on(at, pending, head)
        strange = pending or place == 0 or place > 7 or head.style.startswith("markup")
        if not self.lettered or strange:
            return False
        if place == last:  # a repeated label, unless the page repeats the option as the answer
            return _after(line, head) != _after(before, self.taken[-1].label)
        return place == last + 2 or (place not in places and abs(place - last) <= 3)

    def _goes_on(self, at: int, pending: list[int], head: Label) -> bool:
        """Return whether a line with the next label is an option and not the next stem."""
        line, before = self.lines[at], self.lines[self.taken[-1].line]
        n = len(self.taken)
        if n >= 3 and not line.label and line.group == 0 and before.group == 0:
            apart = line.block != before.block and line.kind == before.kind == "text"
            tight = self.lines[self.taken[-2].line].block == before.block
            if apart and tight and (n >= 4 or pending):
                return False
        return self.series != "numbers" or not any(
            label.start <= 1 and label.style == head.style and label.name == "1"
            for labels in self.labels[at + 1 : at + 2]
            for label in labels[:1]
        )

    def _may_stand_between(self, at: int, pending: list[int]) -> bool:
        """Return whether a line may continue the option above it."""
        line, first = self.lines[at], self.lines[self.start.line]
        other = line.kind in {"heading", "option"} or (line.kind == "item" != first.kind)
        texts = sum(self.lines[n].kind != "code" for n in pending[-_MOST_CODE:])
        if (
            texts >= _MOST_BETWEEN
            or len(pending) >= _MOST_CODE
            or other
            or line.label
            or line.region != first.region
        ):
            return False
        if len(line.text) > 1_000 or starts_answer(line.text) or key_after(line.text) is not None:
            return False
        if self.series == "numbers" and line.indent <= first.indent:
            return False
        labels = self.labels[at]
        if not labels or labels[0].start or not labels[0].field:
            return True
        name = labels[0].name
        return not first_series(name) and self.place(labels[0]) < 0 and not name.isdecimal()

    def _take_line(self, at: int, labels: list[Label]) -> None:
        """Take the first label of a line, and those of the others that belong to the run."""
        first = labels[0]
        self.taken.append(At(at, first))
        rest = [label for label in labels[1:] if self.place(label) >= 0]
        if not rest:
            return
        here = self.place(first)
        fields = [label for label in rest if label.field]
        if fields:
            if first.field or self.place(fields[0]) == here + 1:
                rest = fields
        elif self._next_line_goes_on(at, here):
            return
        chain: list[Label] = []
        for label in rest:
            if self.place(label) == here + 1 + len(chain):
                chain.append(label)
        whole = [self.place(label) for label in rest]
        bracketed = first.style[0] in "(["
        shuffled = sorted([here, *whole]) == list(range(here, here + len(whole) + 1))
        rising = whole == sorted(set(whole)) and whole[-1] <= here + len(whole) + 1
        odd = len(chain) < len(whole) <= 7 and (
            (bracketed and (shuffled or rising))
            or (bool(fields) and 0 not in whole and max(whole) <= 7)
        )
        if odd and here == 0 and len(whole) >= 2:
            chain = rest
        fewest = 2 if here > 0 or first.style[0] in "([)" else 3
        if fields or len(chain) + 1 >= fewest:
            self.between += [[] for _ in chain]
            self.taken += [At(at, label) for label in chain]

    def _next_line_goes_on(self, at: int, here: int) -> bool:
        for labels in self.labels[at + 1 : at + 1 + _MOST_BETWEEN]:
            if labels and labels[0].start <= 1:
                return self.place(labels[0]) == here + 1
        return False

    def _finished(self, pending: list[int]) -> Run:
        options = []
        for (at, label), after, between in zip(
            self.taken, [*self.taken[1:], None], [*self.between, []], strict=True
        ):
            end = after.label.start if after and after.line == at else len(self.lines[at].text)
            options.append(self._option(at, label, end, between))
        coded = all(option.code for option in options[:-1])
        last = self._wrapped(options[-1], pending, coded=coded)
        first, line = self.start.label, self.lines[self.start.line]
        inline = len({taken.line for taken in self.taken}) < len(self.taken)
        fields = inline and all(taken.label.field for taken in self.taken if taken.label.start)
        form = "fields" if fields else "inline" if inline else "lines"
        if line.kind == "cells":
            form = "cells"
        elif line.kind == "option":
            form = "inputs"
        elif line.label and not first.end:
            form = "list"
        sure = line.kind == "option" or (form == "list" and self.lettered)
        start = first.start if first.end else 0
        return Run(self.start.line, last, start, options, self.series, first.style, form, sure)

    def _option(self, at: int, label: Label, end: int, between: list[int]) -> Option:
        line = self.lines[at]
        option = option_of(line, at, label.end, end)
        option.label = label.name
        empty = not option.pieces
        for near in between:
            other = self.lines[near]
            if other.kind == "code":
                option.add_code(other.text)
            elif empty or other.block == line.block:
                option.pieces.append(other.text)
                option.marks |= other.marks
                if empty:
                    option.marks |= emphasis_of(other, 0, len(other.text))
                    empty = False
        return option

    def _wrapped(self, option: Option, pending: list[int], *, coded: bool) -> int:
        """Add the lines that continue the last option, and return the run's last line."""
        line = self.lines[option.line]
        last = option.line
        longest = max(len(self.lines[taken.line].text) for taken in self.taken)
        wrapped = any(self.between)
        for at in pending:
            other = self.lines[at]
            if other.kind == "code" and (coded or not option.pieces):
                option.add_code(other.text)
                last = at
                continue
            if not option.pieces:
                option.marks |= other.marks | emphasis_of(other, 0, len(other.text))
            elif line.kind not in {"item", "option"} or other.block != line.block:
                if other.block != line.block or other.kind != line.kind:
                    break
                full = len(self.lines[last].text) > 0.6 * longest
                flows = wrapped and other.text[:1].islower() and full
                if other.indent <= line.indent and not flows:
                    break
            option.pieces.append(other.text)
            last = at
        return last


def _after(line: Line, label: Label) -> str:
    return flat(line.text[label.end :]).casefold()


_MOST, _LONGEST = 8, 200


def bare_runs(lines: list[Line], runs: list[Run], other: set[int]) -> list[Run]:
    """Return runs of lines between a question and "Answer: …" of which exactly one is the answer.

    They do not overlap with `runs` or with the lines in `other`.
    """
    taken = other.union(*(range(run.first, run.last + 1) for run in runs))
    bare: list[Run] = []
    for at, line in enumerate(lines):
        rest = answer_after(line.text)
        if not rest or at in other or len(rest) > _LONGEST:
            continue
        first = at
        while first > 0 and at - first <= _MOST and first - 1 not in taken:
            above = lines[first - 1]
            if len(above.text) > _LONGEST or above.region != line.region or _asks(above):
                break
            first -= 1
        asked = first > 0 and first - 1 not in taken and _asks(lines[first - 1])
        if not asked or not 2 <= at - first <= _MOST:
            continue
        texts = [text.text for text in lines[first:at]]
        if sum(folded(text) == folded(rest) for text in texts) == 1:
            options = [
                Option("", n, 0, len(text), [flat(text)], set(lines[n].marks))
                for n, text in enumerate(texts, first)
            ]
            bare.append(Run(first, at - 1, 0, options, "", "", "bare"))
    return bare


def _asks(line: Line) -> bool:
    text = line.text.rstrip()
    return text.endswith(("?", ":", "…", "...")) or "___" in text or number_of(line) is not None


def labelled_runs(lines: list[Line], longest: int) -> list[Run]:
    """Return all runs of labels in page order; some may be parts of a stem."""
    labels = [_labels(line, longest) for line in lines]
    used: set[int] = set()
    runs = _runs(lines, labels, used, lettered=True)
    for run in runs:
        used.update(range(run.first + (run.start > 0 and run.form == "inline"), run.last + 1))
        if run.start:
            used.add(run.first)
    runs += _runs(lines, labels, used, lettered=False)
    return sorted(runs, key=lambda run: (run.first, run.start))


def _labels(line: Line, longest: int) -> list[Label]:
    labels = labels_of(line, longest)
    if line.kind != "code":
        return labels
    return [label for label in labels if label.style in {".A", ")A", "()A"}]  # not "a = 1"


def _runs(
    lines: list[Line], labels: list[list[Label]], used: set[int], *, lettered: bool
) -> list[Run]:
    runs: list[Run] = []
    at, skip = 0, 0  # the line, and the character in it from which labels count
    while at < len(lines):
        run = None
        for label in labels[at] if lettered or at not in used else ():
            series = first_series(label.name) if label.start >= skip else ""
            if series and (series in LETTERED) == lettered:
                run = Growth(lines, labels, used, At(at, label), series).run()
                if run is not None:
                    break
        if run is None:
            at, skip = at + 1, 0
            continue
        runs.append(run)
        end = run.options[-1]
        at, skip = end.line, end.end
        more = any(label.start >= skip and first_series(label.name) for label in labels[at])
        if run.last > at or not more:
            at, skip = run.last + 1, 0
    return runs


def unlabelled_runs(lines: list[Line], runs: list[Run]) -> list[Run]:
    """Return groups of options or list items in the markup, outside labelled runs."""
    starts = [run.first for run in runs]
    groups: list[Run] = []
    end = 0
    for at, line in enumerate(lines):
        other = line.kind not in {"option", "item"} or offers_answer(line.text)
        if at < end or other or line.label[:1].isalpha():
            continue
        end = at + 1
        while end < len(lines) and _same_group(line, lines[end], lines[end - 1]):
            end += 1
        place = bisect_left(starts, end)
        near = runs[max(0, place - 8) : place]
        if 2 <= end - at <= _MOST_OPTIONS and not any(run.last >= at for run in near):
            options = [option_of(lines[i], i, 0, len(lines[i].text)) for i in range(at, end)]
            sure = line.kind == "option"
            form, series = "inputs" if sure else "items", ""
            if line.label:
                form, series = "list", "numbers"
                for number, option in enumerate(options, at):
                    option.label = lines[number].label.rstrip(".")
            groups.append(Run(at, end - 1, 0, options, series, "", form, sure))
    return groups


def _same_group(first: Line, line: Line, before: Line) -> bool:
    if line.kind != first.kind or line.region != first.region or starts_answer(line.text):
        return False
    if bool(line.label) != bool(first.label) or line.label == first.label != "":
        return False
    if line.group == first.group:
        return True
    alone = first.group >= 1_000_000 and line.group >= 1_000_000
    return alone and line.block - before.block <= 1 and line.marks >= {"unticked"}
