"""Runs of options: labels that follow one another, and options that only the markup shows."""

from bisect import bisect_left

from benchwright.methods.mmlu_cf.extraction.answer_lines import starts_answer
from benchwright.methods.mmlu_cf.extraction.lines import Line
from benchwright.methods.mmlu_cf.extraction.option_labels import Label, first_series, labels_of
from benchwright.methods.mmlu_cf.extraction.options import Run, option_of
from benchwright.methods.mmlu_cf.extraction.run_growth import LETTERED, At, Growth

_MOST_OPTIONS = 12


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
        if 2 <= end - at <= _MOST_OPTIONS and not _overlaps(runs, starts, at, end):
            options = [option_of(lines[i], i, 0, len(lines[i].text)) for i in range(at, end)]
            sure = line.kind == "option"
            numbered = bool(line.label)
            for number, option in enumerate(options):
                option.label = lines[at + number].label.rstrip(".") if numbered else ""
            form = ("inputs" if sure else "items") if not numbered else "list"
            found.append(
                Run(at, end - 1, 0, options, "numbers" if numbered else "", "", form, sure)
            )
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


def _overlaps(runs: list[Run], starts: list[int], first: int, end: int) -> bool:
    place = bisect_left(starts, end)
    return any(run.last >= first for run in runs[max(0, place - 8) : place])
