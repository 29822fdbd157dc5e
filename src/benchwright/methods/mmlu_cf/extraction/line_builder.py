"""Lines in the making: text comes in pieces, white space is folded, faces are noted."""

import re
from collections.abc import Callable

from benchwright.methods.mmlu_cf.extraction.lines import Emphasis, Line, spaced, visible
from benchwright.methods.mmlu_cf.extraction.option_labels import is_bare_label

_WIDE = re.compile(r"\s+")
_WIDTH = ["", " ", "\t"]


def _gap(found: "re.Match[str]") -> str:
    return "\t" if found[0].count("\xa0") > 1 else " "


def _space(character: str, wide: bool) -> str:
    return "" if not character.isspace() else "\t" if wide and character == "\t" else " "


class LineBuilder:
    """The finished lines, and the one in the making with what will be said of it."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.region: tuple[int, ...] = ()
        self.block = 1
        self._open: list[tuple[str, int]] = []  # faces and where they begin in this line
        self._reset()

    def _reset(self) -> None:
        self._parts: list[str] = []
        self.length = 0
        self._space = ""
        self.kind = "text"
        self.label = ""
        self.group = 0
        self.marks: set[str] = set()
        self.value: str | None = None
        self._emphasis: list[Emphasis] = []
        self._input = False

    def new_block(self) -> None:
        """What follows does not stand together with what came before."""
        if not self.length:
            self.block += 1

    def add(self, text: str) -> None:
        """A piece of running text."""
        if not text:
            return
        if not text.isascii():
            text = visible(text)
        wide = "\xa0" in text
        if wide:
            text = _WIDE.sub(_gap, text)
            body = text.strip()
        else:
            body = " ".join(text.split())
        if not body:
            self._space = max(self._space, _space(text[:1], wide), key=_WIDTH.index)
            return
        before = self._space or (_space(text[0], wide))
        if self.length and before:
            self._append(before)
        self._append(body)
        last = text[-1]
        self._space = _space(last, wide)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self.length += len(text)

    def preformatted(self, text: str) -> None:
        """Text whose line breaks count."""
        pieces = visible(text).split("\n")
        for number, piece in enumerate(pieces):
            if number:
                self.marks.add("code")
                self.flush()
            if not piece.strip():
                if 0 < number < len(pieces) - 1:
                    self.new_block()
                continue
            if self.length and piece[0].isspace():
                self._append(" ")
            self._append(spaced(piece))

    def cell(self) -> None:
        """The next cell of a table row."""
        if self.length:
            self._space = "\t"
        if self.kind == "text":
            self.kind = "cells"

    def start_option(self) -> None:
        """An input stands before the option that it selects."""
        if self.length or self._input:
            label = self.label if not self.length else ""
            self.flush(empty=True)
            self.label = label
        self.kind, self._input = "option", True

    def begin(self, kind: str) -> None:
        """The text that follows is in another face."""
        self._open.append((kind, self.length))

    def end(self, kind: str) -> None:
        """The end of the face that began last."""
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place][0] == kind:
                start = self._open.pop(place)[1]
                if self.length > start:
                    self._emphasis.append(Emphasis(start, self.length, kind))
                return

    def replace_from(self, at: int, change: Callable[[str], str]) -> None:
        """Writes the text from a place on differently."""
        text = "".join(self._parts)
        if at < len(text):
            tail = text[at:]
            new = change(tail.strip())
            self._parts = [text[:at], new]
            self.length = at + len(new)

    def part_of_label(self, at: int) -> None:
        """An element ends that is an option's label by itself: what follows is apart from it."""
        if at == 0 and 0 < self.length < 8 and is_bare_label("".join(self._parts)):
            self._space = "\t"

    def end_item(self) -> None:
        """A list item ends; an empty one is an empty option where the list has letters."""
        if not self.length and self.label and self.label[0].isalpha():
            self.flush(empty=True)
        elif not self.length:
            self._reset()

    def flush(self, *, empty: bool = False) -> None:
        """Ends the line; without text, what was said of it holds for the next one."""
        if not self.length and not empty:
            return
        emphasis = self._emphasis
        for kind, start in self._open:
            if self.length > start:
                emphasis.append(Emphasis(start, self.length, kind))
        self._open = [(kind, 0) for kind, _ in self._open]
        self.lines.append(
            Line(
                "".join(self._parts),
                self.kind,
                self.block,
                self.label,
                self.group,
                0,
                self.marks,
                emphasis,
                self.region,
                self.value,
            )
        )
        self._reset()
