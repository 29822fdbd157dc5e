"""Right options shown by markup: classes, attributes, ticks; or by the face they are set in."""

from bisect import bisect_left
from collections.abc import Sequence

from benchwright.methods.mmlu_cf.extraction.lines import Container
from benchwright.methods.mmlu_cf.extraction.options import Run

_FACES = ("colour", "bold", "italic", "checked")


def marked(run: Run) -> list[int]:
    """Options that the markup calls right (class, attribute, tick); none where it calls all so."""
    for kind in ("correct", "ticked"):
        found = [n for n, one in enumerate(run.options) if kind in one.marks]
        if found and len(found) < len(run.options):
            return found
    wrong = [n for n, one in enumerate(run.options) if "wrong" in one.marks]
    if wrong and len(wrong) == len(run.options) - 1:
        return [n for n in range(len(run.options)) if n not in wrong]
    right = [n for n, one in enumerate(run.options) if "right" in one.marks]
    return right if wrong and len(right) == 1 else []


def faced(runs: Sequence[Run], *, alone: bool) -> dict[int, list[int]]:
    """Right options shown by bold, italics, colour or a checked input, by position of the run.

    That a face means "right" is concluded from the page: among its runs without other answers,
    at least two, and at least 60%, have exactly one option in it, or there is one run only.
    Checked inputs count only where not always the same place is checked. One run is enough only
    if it is `alone` on its page.
    """
    for face in _FACES:
        found = {
            place: [n for n, one in enumerate(run.options) if face in one.marks]
            for place, run in enumerate(runs)
        }
        single = [places[0] for places in found.values() if len(places) == 1]
        if not single or len(single) < 0.6 * len(runs):
            continue
        if len(single) < 2 and not (alone and len(runs) == 1 and face == "bold"):
            continue
        if face == "checked" and (len(set(single)) < 2 or len(single) < len(runs)):
            continue
        return {
            place: places
            for place, places in found.items()
            if places and len(places) < len(runs[place].options)
        }
    return {}


def named_by_attribute(
    runs: Sequence[Run], containers: Sequence[Container]
) -> dict[int, int | None]:
    """The option that an attribute of the element around a run names, by position of the run.

    The attribute is the value of an input, a label, an option's text, or a number; whether numbers
    count from 0 or 1 must show on the page, else the answer is None.
    """
    holding: dict[int, str] = {}
    starts = [run.options[0].line for run in runs]
    for one in sorted(containers, key=lambda one: one.first - one.last):
        place = bisect_left(starts, one.first)
        inside = place < len(runs) and runs[place].last < one.last
        if inside and not (place + 1 < len(runs) and runs[place + 1].last < one.last):
            holding[place] = one.value.strip()
    base = _base([(runs[place], value) for place, value in holding.items()])
    return {
        place: found
        for place, value in holding.items()
        if (found := _named(runs[place], value, base)) is not None or value.isdecimal()
    }


def _named(run: Run, value: str, base: int | None) -> int | None:
    low = value.casefold()
    for texts in (
        [one.value for one in run.options],
        [one.label for one in run.options],
        [one.text for one in run.options],
    ):
        same = [n for n, text in enumerate(texts) if text and text.casefold() == low]
        if len(same) == 1:
            return same[0]
    n = len(run.options)
    if len(low) == 1 and low.isascii() and low.isalpha() and ord(low) - 97 < n:
        return ord(low) - 97
    if value.isdecimal() and len(value) < 3 and base is not None and 0 <= int(value) - base < n:
        return int(value) - base
    return None


def _base(named: list[tuple[Run, str]]) -> int | None:
    numbers = [(len(run.options), int(value)) for run, value in named if value.isdecimal()]
    if any(value == 0 for _, value in numbers):
        return 0
    return 1 if any(value == n for n, value in numbers) else None
