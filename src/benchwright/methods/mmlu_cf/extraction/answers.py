"""The answer of a question: under it, behind its last option, or shown by markup; explanations."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answer_lines import (
    Parsed,
    answer_after,
    answer_inside,
    explanation_after,
    folded,
    is_announcement,
    parsed_answer,
    starts_answer,
    starts_key,
)
from benchwright.methods.mmlu_cf.extraction.lines import Container, Line, flat
from benchwright.methods.mmlu_cf.extraction.options import Run, joined
from benchwright.methods.mmlu_cf.extraction.stems import number_of

_FARTHEST = 10
_UNRELATED = 3


class GivenAnswer(NamedTuple):
    """An answer, what is said of it in the same breath, and its lines (−1 for none of its own)."""

    answer: str
    explanation: str
    first: int
    last: int


def given_answer(lines: list[Line], start: int, stop: int, run: Run) -> GivenAnswer | None:
    """The answer to a run of options.

    Looks behind the last option ("(d) 24 [Ans: a]", which is cut off the option), then at the lines
    start … stop − 1. Only what names one of the options, or a label, counts. Lines that say nothing
    of an answer may come before; a question may not.
    """
    inside = _inside(lines, run)
    if inside is not None:
        return inside
    end = min(stop, start + _FARTHEST)
    unrelated = 0
    explained = False
    for at in range(start, end):
        line = lines[at]
        if line.region != lines[run.first].region:
            break
        found = _on_line(lines, at, end, run)
        if found is not None:
            return found
        if explained or starts_answer(line.text) or is_announcement(line.text):
            continue
        if explanation_after(line.text) is not None:
            explained = True
            continue
        unrelated += 1
        asks = line.kind != "code" and (number_of(line) is not None or line.text.endswith("?"))
        if asks or unrelated > _UNRELATED:
            break
    return None


def _on_line(lines: list[Line], at: int, end: int, run: Run) -> GivenAnswer | None:
    """The answer that a line gives, or announces for the next."""
    line = lines[at]
    labels, texts = run.labels, run.texts
    rest, last = answer_after(line.text), at
    parsed = parsed_answer(rest, labels, texts) if rest else None
    if rest == "":
        last += 1
        while last < end and is_announcement(lines[last].text):
            last += 1
        if last < end:
            parsed = parsed_answer(lines[last].text, labels, texts, loose=True)
    if parsed is None:
        last = at
        parsed = _repeated(line, run)
    if parsed is None and line.marks & {"answer", "ticked"}:
        parsed = parsed_answer(line.text, labels, texts, loose=True)
    return GivenAnswer(*parsed, at, last) if parsed is not None else None


def _inside(lines: list[Line], run: Run) -> GivenAnswer | None:
    last = run.options[-1]
    if not last.pieces:
        return None
    at = answer_inside(last.pieces[-1])
    if at < 0:
        return None
    piece = last.pieces[-1]
    tail = piece[at:].lstrip(" -–→")
    kept = last.pieces[:-1] + ([piece[:at].rstrip(" [({<*-–;|")] if at > 0 else [])
    texts = [*run.texts[:-1], flat(" ".join(kept))]
    rest = answer_after(tail)
    parsed = parsed_answer(rest, run.labels, texts) if rest else None
    if parsed is None:
        return None
    last.pieces = [one for one in kept if one]
    return GivenAnswer(parsed.answer, parsed.explanation, run.last, run.last)


def _repeated(line: Line, run: Run) -> Parsed | None:
    """A line that repeats an option with its label, as the back of a card does."""
    text = folded(line.text)
    for one in run.options:
        if not one.label or not one.text or not text.startswith(one.label.casefold()):
            continue
        if line.kind == "option" or len(text) > len(one.text) + 12:
            continue
        rest = text[len(one.label) :].lstrip(".):]- \t")
        if rest == folded(one.text):
            return Parsed(one.label, "")
    return None


def explanation(
    lines: list[Line], run: Run, given: GivenAnswer | None, start: int, stop: int
) -> str:
    """The explanation in the lines start … stop − 1, "" where there is none.

    Without an answer, only what follows "Explanation:" counts.
    """
    pieces = [given.explanation] if given is not None and given.explanation else []
    if given is not None and given.first > run.last + 1:
        pieces = _said(lines, run.last + 1, given.first, -1) + pieces
    block = lines[given.last].block if given is not None and given.last >= 0 else -1
    pieces += _said(lines, start, stop, block)
    return joined(pieces)


def _said(lines: list[Line], start: int, stop: int, block: int) -> list[str]:
    pieces: list[str] = []
    region = lines[start - 1].region if start else ()
    for at in range(start, min(stop, len(lines))):
        line = lines[at]
        if line.region != region or (
            starts_key(line.text) and explanation_after(line.text) is None
        ):
            break
        rest = explanation_after(line.text)
        if rest is not None:
            block = line.block if rest or at + 1 >= len(lines) else lines[at + 1].block
            if rest:
                pieces.append(rest)
        elif is_announcement(line.text):
            continue
        elif line.block != block or line.kind == "heading" or starts_answer(line.text):
            break
        else:
            pieces.append(line.text)
    return pieces


_FACES = ("colour", "bold", "italic", "checked")


def marked(run: Run) -> list[int]:
    """Options that the markup calls right (class, attribute, tick); none where it calls all so."""
    for kind in ("correct", "ticked"):
        found = run.marked(kind)
        if found and len(found) < len(run.options):
            return found
    wrong, right = run.marked("wrong"), run.marked("right")
    if wrong and len(wrong) == len(run.options) - 1:
        return [n for n in range(len(run.options)) if n not in wrong]
    return right if wrong and len(right) == 1 else []


def emphasised(runs: Sequence[Run], *, alone: bool) -> dict[int, list[int]]:
    """Right options shown by bold, italics, colour or a checked input, by position of the run.

    That a face means "right" is concluded from the page: among its runs without other answers,
    at least two, and at least 60%, have exactly one option in it, or there is one run only.
    Checked inputs count only where not always the same place is checked. One run is enough only
    if it is `alone` on its page.
    """
    for face in _FACES:
        found = {place: run.marked(face) for place, run in enumerate(runs)}
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
    numbers = [
        (len(runs[place].options), int(value))
        for place, value in holding.items()
        if value.isdecimal()
    ]
    base = 0 if any(value == 0 for _, value in numbers) else None
    if base is None and any(value == n for n, value in numbers):
        base = 1
    return {
        place: found
        for place, value in holding.items()
        if (found := _named(runs[place], value, base)) is not None or value.isdecimal()
    }


def _named(run: Run, value: str, base: int | None) -> int | None:
    low = value.casefold()
    for texts in ([one.value for one in run.options], run.labels, run.texts):
        same = [n for n, text in enumerate(texts) if text and text.casefold() == low]
        if len(same) == 1:
            return same[0]
    n = len(run.options)
    if len(low) == 1 and low.isascii() and low.isalpha() and ord(low) - 97 < n:
        return ord(low) - 97
    if value.isdecimal() and len(value) < 3 and base is not None and 0 <= int(value) - base < n:
        return int(value) - base
    return None
