"""The answer of a question below it or behind its last option, and its explanation."""

from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answers import (
    answer_after,
    answer_inside,
    explanation_after,
    is_announcement,
    offers_answer,
    parsed_answer,
    starts_answer,
)
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat, joined
from benchwright.methods.mmlu_cf.extraction.options import Run
from benchwright.methods.mmlu_cf.extraction.stems import number_of

_FARTHEST = 10


class GivenAnswer(NamedTuple):
    """An answer, the explanation given with it, and its lines (−1 if it has no line)."""

    answer: str
    explanation: str = ""
    first: int = -1
    last: int = -1


def given_answer(lines: list[Line], start: int, stop: int, run: Run) -> GivenAnswer | None:
    """Return the answer to a run of options: one that names an option or a label.

    Look behind the last option ("(d) 24 [Ans: a]"; the answer is removed from the option), then at
    the lines start … stop − 1, up to the next question.
    """
    if (inside := _inside(run)) is not None:
        return inside
    end = min(stop, start + _FARTHEST)
    for at in range(start, end):
        if (answer := _on_line(lines, at, end, run)) is not None:
            return answer
        if number_of(lines[at]) is not None or lines[at].text.endswith("?"):
            break
    return None


def _on_line(lines: list[Line], at: int, end: int, run: Run) -> GivenAnswer | None:
    """Return the answer on a line, or on the line that it announces."""
    line, last = lines[at], at
    rest = answer_after(line.text)
    loose = not rest
    if rest == "" or offers_answer(line.text):
        below = (n for n in range(at + 1, end) if not is_announcement(lines[n].text))
        last = next(below, at)
        rest = lines[last].text
    elif loose and line.marks & {"answer", "ticked"}:
        rest = line.text
    parsed = parsed_answer(rest, run.labels, run.texts, loose=loose) if rest else None
    return GivenAnswer(*parsed, at, last) if parsed is not None else None


def _inside(run: Run) -> GivenAnswer | None:
    last = run.options[-1]
    at = answer_inside(last.pieces[-1]) if last.pieces else -1
    if at < 0:
        return None
    piece = last.pieces[-1]
    kept = [*last.pieces[:-1], piece[:at].rstrip(" [({<*-–;|")]
    rest = answer_after(piece[at:].lstrip(" -–→"))
    texts = [*run.texts[:-1], flat(" ".join(kept))]
    parsed = parsed_answer(rest, run.labels, texts) if rest else None
    if parsed is None:
        return None
    last.pieces = [piece for piece in kept if piece]
    return GivenAnswer(*parsed, run.last, run.last)


def explanation(
    lines: list[Line], run: Run, answer: GivenAnswer | None, start: int, stop: int
) -> str:
    """Return the explanation in the lines start … stop − 1; "" if there is none.

    Without an answer, only text after "Explanation:" counts.
    """
    pieces: list[str] = []
    block = -1
    if answer is not None:
        pieces = _explained(lines, run.last + 1, answer.first, block)
        pieces += [answer.explanation] * bool(answer.explanation)
        block = lines[answer.last].block if answer.last >= 0 else -1
    return joined(pieces + _explained(lines, start, stop, block))


def _explained(lines: list[Line], start: int, stop: int, block: int) -> list[str]:
    pieces: list[str] = []
    for at in range(start, min(stop, len(lines))):
        line = lines[at]
        rest = explanation_after(line.text)
        if rest is not None:
            block = line.block if rest or at + 1 >= len(lines) else lines[at + 1].block
            pieces += [rest] * bool(rest)
        elif not is_announcement(line.text):
            if line.block != block or starts_answer(line.text):
                break
            pieces.append(line.text)
    return pieces
