"""The answer that stands under a question, or behind its last option."""

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
)
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat
from benchwright.methods.mmlu_cf.extraction.options import Run
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
    labels = [one.label for one in run.options]
    texts = [one.text for one in run.options]
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
    texts = [one.text for one in run.options[:-1]] + [flat(" ".join(kept))]
    rest = answer_after(tail)
    parsed = parsed_answer(rest, [one.label for one in run.options], texts) if rest else None
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
