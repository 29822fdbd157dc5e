"""The answer of a question: below it, behind its last option, or in the markup; explanations."""

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
    key_after,
    offers_answer,
    parsed_answer,
    starts_answer,
)
from benchwright.methods.mmlu_cf.extraction.lines import Container, Line, flat
from benchwright.methods.mmlu_cf.extraction.options import Run, joined
from benchwright.methods.mmlu_cf.extraction.stems import number_of

_FARTHEST = 10
_UNRELATED = 3


class GivenAnswer(NamedTuple):
    """An answer, the explanation given with it, and its lines (−1 if it has no line)."""

    answer: str
    explanation: str
    first: int
    last: int


def given_answer(lines: list[Line], start: int, stop: int, run: Run) -> GivenAnswer | None:
    """Return the answer to a run of options: one that names an option or a label.

    Look behind the last option ("(d) 24 [Ans: a]"; the answer is removed from the option), then at
    the lines start … stop − 1, up to the next question. A few unrelated lines are skipped.
    """
    inside = _inside(run)
    if inside is not None:
        return inside
    end = min(stop, start + _FARTHEST)
    unrelated = 0
    explained = False
    for at in range(start, end):
        line = lines[at]
        if line.region != lines[run.first].region:
            break
        answer = _on_line(lines, at, end, run)
        if answer is not None:
            return answer
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
    """Return the answer on a line, or on the line that it announces."""
    line = lines[at]
    labels, texts = run.labels, run.texts
    rest, last = answer_after(line.text), at
    parsed = parsed_answer(rest, labels, texts) if rest else None
    if rest == "" or offers_answer(line.text):
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


def _inside(run: Run) -> GivenAnswer | None:
    last = run.options[-1]
    at = answer_inside(last.pieces[-1]) if last.pieces else -1
    if at < 0:
        return None
    piece = last.pieces[-1]
    kept = last.pieces[:-1] + ([piece[:at].rstrip(" [({<*-–;|")] if at > 0 else [])
    texts = [*run.texts[:-1], flat(" ".join(kept))]
    rest = answer_after(piece[at:].lstrip(" -–→"))
    parsed = parsed_answer(rest, run.labels, texts) if rest else None
    if parsed is None:
        return None
    last.pieces = [piece for piece in kept if piece]
    return GivenAnswer(*parsed, run.last, run.last)


def _repeated(line: Line, run: Run) -> Parsed | None:
    """Return the option that a line repeats with its label, as the back of a card does."""
    text = folded(line.text)
    for option in run.options:
        label = option.label
        if not label or not option.text or not text.startswith(label.casefold()):
            continue
        if line.kind == "option" or len(text) > len(option.text) + 12:
            continue
        if text[len(label) :].lstrip(".):]- \t") == folded(option.text):
            return Parsed(label, "")
    return None


def explanation(
    lines: list[Line], run: Run, answer: GivenAnswer | None, start: int, stop: int
) -> str:
    """Return the explanation in the lines start … stop − 1; "" if there is none.

    Without an answer, only text after "Explanation:" counts.
    """
    pieces: list[str] = []
    block = -1
    if answer is not None:
        if answer.first > run.last + 1:
            pieces = _explained(lines, run.last + 1, answer.first, block)
        pieces += [answer.explanation] * bool(answer.explanation)
        block = lines[answer.last].block if answer.last >= 0 else -1
    return joined(pieces + _explained(lines, start, stop, block))


def _explained(lines: list[Line], start: int, stop: int, block: int) -> list[str]:
    pieces: list[str] = []
    region = lines[start - 1].region if start else ()
    for at in range(start, min(stop, len(lines))):
        line = lines[at]
        rest = explanation_after(line.text)
        if line.region != region or (rest is None and key_after(line.text) is not None):
            break
        if rest is not None:
            block = line.block if rest or at + 1 >= len(lines) else lines[at + 1].block
            pieces += [rest] * bool(rest)
        elif is_announcement(line.text):
            continue
        elif line.block != block or line.kind == "heading" or starts_answer(line.text):
            break
        else:
            pieces.append(line.text)
    return pieces


def marked(run: Run) -> list[int]:
    """Return the options that the markup calls correct (class, attribute, tick), unless all are."""
    for kind in ("correct", "ticked"):
        places = run.marked(kind)
        if places and len(places) < len(run.options):
            return places
    wrong, right = run.marked("wrong"), run.marked("right")
    if wrong and len(wrong) == len(run.options) - 1:
        return [n for n in range(len(run.options)) if n not in wrong]
    return right if wrong and len(right) == 1 else []


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
