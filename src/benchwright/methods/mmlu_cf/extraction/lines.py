"""Pages as lines of text, annotated with the meaning of the markup."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple


class Emphasis(NamedTuple):
    """Characters start … end − 1 of a line set in another face: `bold`, `italic` or `colour`."""

    start: int
    end: int
    kind: str


@dataclass(slots=True)
class Line:
    """A line of text with white space folded; tabs separate fields and table cells."""

    text: str  # without list markers
    # `text`, `heading`, `item` (of a list), `option` (identified by the markup: an input, an
    # `<option>`, a class), `cells` (a table row) or `code`
    kind: str = "text"
    block: int = 0  # number of the paragraph or element that the line belongs to
    # list marker from the markup, e.g. `A.` in `<ol type="A">`; "" if there is none.
    label: str = ""
    group: int = 0  # number of its list or set of inputs; 0 if there is none
    indent: int = 0  # columns before the text (plain text)
    # `correct`, `ticked`, `unticked`, `answer` (an element called answer), `code` (preformatted)
    marks: set[str] = field(default_factory=set)
    emphasis: list[Emphasis] = field(default_factory=list)  # parts in another face
    value: str | None = None  # value of an input
    code: str = ""  # lines of code that belong to an option
    right: str = ""  # the correct option, by an attribute of an element around several lines


@dataclass
class FoundQuestion:
    """The columns of a raw item that its page gives."""

    question: str
    choices: list[str]
    labels: list[str]
    answer: str | None
    explanation: str | None = None
    passage: str | None = None


_VISIBLE = {
    **{code: " " for code in (*range(0x20), 0x7F) if chr(code) not in "\t\n\r\f\v"},
    **dict.fromkeys((0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF), ""),
    **dict.fromkeys((0x2028, 0x2029), "\n"),
}
_WHITE_SPACE = re.compile(r"\s+")


def visible(text: str) -> str:
    """Remove invisible characters and turn control characters into spaces."""
    return text.translate(_VISIBLE)


def _gap(spaces: "re.Match[str]") -> str:
    run = spaces[0]
    return "\t" if "\t" in run or len(run) - run.count("\n") > 1 else " "


def spaced(text: str) -> str:
    """Fold white space: a tab replaces tabs and runs of spaces, a space everything else."""
    if "  " in text or "\t" in text or not text.isascii():
        return _WHITE_SPACE.sub(_gap, text).strip()
    return text.strip()


def flat(text: str) -> str:
    """Fold white space to single spaces."""
    return " ".join(text.split())


def joined(pieces: list[str]) -> str:
    """Join pieces of wrapped text, and the parts of a word broken at a line end."""
    text = ""
    for piece in pieces:
        if len(text) > 2 and text[-1] == "-" and text[-2].isalpha() and piece[:1].islower():
            text = text[:-1] + piece
        else:
            text = f"{text} {piece}" if text else piece
    return flat(text)
