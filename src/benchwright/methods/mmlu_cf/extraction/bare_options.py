"""Options without labels or markup: short lines under a question, one of them named as answer."""

from benchwright.methods.mmlu_cf.extraction.answer_lines import answer_after, folded
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat
from benchwright.methods.mmlu_cf.extraction.options import Option, Run
from benchwright.methods.mmlu_cf.extraction.stems import number_of

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
            if len(here.text) > _LONGEST or here.region != line.region:
                break
            if _asks(here):
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
        found.append(
            Run(
                options[0],
                options[-1],
                0,
                [
                    Option("", n, 0, len(lines[n].text), [flat(lines[n].text)], set(lines[n].marks))
                    for n in options
                ],
                "",
                "",
                "bare",
            )
        )
    return found


def _asks(line: Line) -> bool:
    text = line.text.rstrip()
    return text.endswith(("?", ":", "…", "...")) or "___" in text or number_of(line) is not None
