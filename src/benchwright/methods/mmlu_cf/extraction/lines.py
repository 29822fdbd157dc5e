"""The lines of a page, with what the markup says about each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Emphasis(NamedTuple):
    """Characters start … end − 1 of a line in another face: `bold`, `italic` or `colour`."""

    start: int
    end: int
    kind: str


class Container(NamedTuple):
    """An element around lines first … last − 1 with an attribute that names the right option."""

    first: int
    last: int
    value: str


@dataclass(slots=True)
class Line:
    """One line of text, white space folded: a tab where fields or table cells are apart.

    Attributes:
        text: without list markers.
        kind: `text`, `heading`, `item` (of a list), `option` (the markup says that it is one: an
            input, an `<option>`, a class), `cells` (a table row), `code`.
        block: lines of one block stand together: a paragraph, an element.
        label: list marker of the markup, e.g. `A.` in `<ol type="A">`; "" where there is none.
        group: the list or set of inputs it belongs to; 0 for none.
        indent: columns before the text (plain text).
        marks: `correct`, `wrong`, `checked`, `ticked`, `answer` (an element called answer),
            `passage`, `code` (set as it is typed, `<pre>`).
        emphasis: parts in another face.
        region: path of the posts and comment sections around it.
        value: of an input.
        start: place of the text in the text of the page, in characters.
    """

    text: str
    kind: str = "text"
    block: int = 0
    label: str = ""
    group: int = 0
    indent: int = 0
    marks: set[str] = field(default_factory=set)
    emphasis: list[Emphasis] = field(default_factory=list)
    region: tuple[int, ...] = ()
    value: str | None = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class PageText:
    """A page as lines; `text` is what character spans refer to."""

    text: str
    lines: list[Line]
    containers: list[Container]
    title: str = ""

    @classmethod
    def of(
        cls, lines: list[Line], containers: Sequence[Container] = (), title: str = ""
    ) -> "PageText":
        """Joins the lines by line breaks and notes where each starts."""
        at = 0
        for line in lines:
            line.start = at
            at += len(line.text) + 1
        return cls("\n".join(line.text for line in lines), lines, list(containers), title)


_INVISIBLE = {
    **dict.fromkeys(range(0x20), " "),
    **dict.fromkeys(map(ord, "\t\n\r\f\v"), None),
    **dict.fromkeys((0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF), ""),
    0x7F: " ",
    0x2028: "\n",
    0x2029: "\n",
}
_CLEAN = {key: value for key, value in _INVISIBLE.items() if value is not None}
_WIDE = re.compile(r"\s+")


def visible(text: str) -> str:
    """The text without characters that are not seen; control characters become spaces."""
    return text.translate(_CLEAN)


def _gap(found: "re.Match[str]") -> str:
    run = found[0]
    return "\t" if "\t" in run or len(run) - run.count("\n") > 1 else " "


def spaced(text: str) -> str:
    """White space folded: one space, or a tab for a tab or several spaces."""
    if "  " in text or "\t" in text or not text.isascii():
        return _WIDE.sub(_gap, text).strip()
    return text.strip()


def flat(text: str) -> str:
    """White space folded to single spaces."""
    return " ".join(text.split())
