"""Answers that the markup gives: classes, attributes, ticks, and emphasis that singles one out."""

from bisect import bisect_left
from collections.abc import Sequence

from benchwright.methods.mmlu_cf.extraction.lines import Container
from benchwright.methods.mmlu_cf.extraction.options import Run


def marked(run: Run) -> list[int]:
    """Return the options that the markup calls correct (class, attribute, tick), unless all are."""
    for kind in ("correct", "ticked"):
        places = run.marked(kind)
        if places and len(places) < len(run.options):
            return places
    right = [n for n, option in enumerate(run.options) if "wrong" not in option.marks]
    return right if len(right) == 1 else []


def emphasised(runs: Sequence[Run], *, alone: bool) -> tuple[str, dict[int, list[int]]]:
    """Return what shows options as correct, and these options by run.

    It is a star, colour, bold, italics or a checked input ("" for none). Emphasis means "correct"
    if at least two and at least 60% of the runs have exactly one such option. Checked inputs count
    only if their positions differ. A single run is enough only for bold, if `alone` on its page.
    """
    for kind in ("star", "colour", "bold", "italic", "checked"):
        places = {n: run.marked(kind) for n, run in enumerate(runs)}
        single = [marked[0] for marked in places.values() if len(marked) == 1]
        if not single or len(single) < 0.6 * len(runs):
            continue
        if len(single) < 2 and not (alone and len(runs) == 1 and kind == "bold"):
            continue
        if kind == "checked" and (len(set(single)) < 2 or len(single) < len(runs)):
            continue
        some = {n: marked for n, marked in places.items() if 0 < len(marked) < len(runs[n].options)}
        return kind, some
    return "", {}


def named_by_attribute(
    runs: Sequence[Run], containers: Sequence[Container]
) -> dict[int, int | None]:
    """Return the option that an attribute of the enclosing element names, by run.

    The attribute is the value of an input, a label, an option's text, or a number. The answer is
    None if the page does not show whether numbers count from 0 or 1.
    """
    holding: dict[int, str] = {}
    starts = [run.options[0].line for run in runs]
    for container in sorted(containers, key=lambda container: container.first - container.last):
        place = bisect_left(starts, container.first)
        inside = [run.last < container.last for run in runs[place : place + 2]]
        if inside[:1] == [True] and inside[1:] != [True]:
            holding[place] = container.value.strip()
    numbers = [
        (len(runs[place].options), int(value))
        for place, value in holding.items()
        if value.isdecimal()
    ]
    base = 0 if any(value == 0 for _, value in numbers) else None
    if base is None and any(value == n for n, value in numbers):
        base = 1
    return {
        place: option
        for place, value in holding.items()
        if (option := _named(runs[place], value, base)) is not None or value.isdecimal()
    }


def _named(run: Run, value: str, base: int | None) -> int | None:
    low = value.casefold()
    for texts in ([option.value for option in run.options], run.labels, run.texts):
        same = [n for n, text in enumerate(texts) if text and text.casefold() == low]
        if len(same) == 1:
            return same[0]
    n = len(run.options)
    if len(low) == 1 and low.isascii() and low.isalpha() and ord(low) - 97 < n:
        return ord(low) - 97
    if value.isdecimal() and len(value) < 3 and base is not None and 0 <= int(value) - base < n:
        return int(value) - base
    return None
