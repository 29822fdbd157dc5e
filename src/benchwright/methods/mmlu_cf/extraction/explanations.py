"""What a page says of an answer: after "Explanation:", or right behind the answer."""

from benchwright.methods.mmlu_cf.extraction.answer_lines import (
    explanation_after,
    is_announcement,
    starts_answer,
    starts_key,
)
from benchwright.methods.mmlu_cf.extraction.given_answers import GivenAnswer
from benchwright.methods.mmlu_cf.extraction.lines import Line
from benchwright.methods.mmlu_cf.extraction.options import Run, joined


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
