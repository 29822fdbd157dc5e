"""Plain text as lines with bullets, boxes and code."""

import re
from collections import Counter

from benchwright.methods.mmlu_cf.extraction.labels import box_at, is_bare_label
from benchwright.methods.mmlu_cf.extraction.lines import Line, PageText, spaced, visible

_RULE = re.compile(r"\s*([-=_*~#+])(?:\s?\1){2,}\s*")
_BULLET = re.compile(r"(?:[-*+•●◦▪‣○–]|)\s+")
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
_PAGE = re.compile(
    r"(?i)\f|[-–—]\s*\d{1,4}\s*[-–—]|(?:page|seite|página|стр\.?)\s*\d{1,4}(?:\s*(?:of|/|von|de)\s*\d{1,4})?"
    r"|\d{1,4}\s*(?:/|of)\s*\d{1,4}|\[?\s?page\s*break\s?\]?"
)


def plain_page(text: str) -> PageText:
    """Return the lines of plain text, as they stand, without page numbers and running heads."""
    rows = visible(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    reader = _Reader()
    furniture = _furniture(rows)
    for number, row in enumerate(rows):
        if number not in furniture:
            reader.read(row)
    return PageText.of(reader.lines)


class _Reader:
    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.block = 0
        self.quoted = False
        self.fence = ""  # that opened code

    def read(self, row: str) -> None:
        fence = _FENCE.match(row)
        if self.fence:
            if row.strip() and set(row.strip()) == {self.fence[0]} and self.fence in row:
                self.fence = ""
            elif row.strip():
                self.lines.append(Line(row.rstrip(), "code", self.block, indent=_indent(row)))
        elif fence is not None:
            self.fence = fence[1]
        elif not row.strip():
            self.block += 1
        elif len(row) < 300 and _RULE.fullmatch(row):
            if self.lines and row.strip()[0] in "=-" and self.lines[-1].block == self.block:
                self.lines[-1].kind = "heading"
            self.block += 1
        else:
            self._text(row)

    def _text(self, row: str) -> None:
        line = Line("", "text", self.block, indent=_indent(row))
        line.text = spaced(self._bulleted(self._unquoted(row.strip(), line), line))
        if line.text:
            self.lines.append(line)

    def _unquoted(self, text: str, line: Line) -> str:
        quoted = text.startswith("> ")
        if quoted != self.quoted:
            self.block += 1
            line.block, self.quoted = self.block, quoted
        return text.lstrip("> ") if quoted else text

    def _bulleted(self, text: str, line: Line) -> str:
        bullet = _BULLET.match(text)
        box = box_at(text, bullet.end() if bullet else 0)
        if box is not None:
            line.kind, line.group = "option", line.block
            line.marks.add("ticked" if box[1] else "unticked")
            return text[box[0] :]
        if bullet is not None and "\t" not in text[: bullet.end()]:
            line.kind, line.group = "item", line.block
            return text[bullet.end() :]
        return text


def _indent(row: str) -> int:
    margin = row[: len(row) - len(row.lstrip())][:200]
    return len(margin.expandtabs(4))


def _furniture(rows: list[str]) -> set[int]:
    """Return the rows with page numbers and the running heads next to them."""
    pages = [n for n, row in enumerate(rows) if len(row) < 60 and _PAGE.fullmatch(row.strip(" \t"))]
    if not pages:
        return set()
    furniture = set(pages)
    heads = Counter(_head(row) for row in rows if row.strip())
    for page in pages:
        for step in (-1, 1):
            near = page + step
            while 0 <= near < len(rows) and abs(near - page) < 4 and not rows[near].strip():
                near += step
            if 0 <= near < len(rows):
                repeated = rows[near].strip() and _repeats(rows[near], heads)
                first, end = sorted((page, near))
                furniture.update(range(first, end + 1) if repeated else range(first + 1, end))
    return furniture


def _repeats(row: str, heads: Counter[str]) -> bool:
    letters = re.sub(r"[^a-zа-я]", "", _head(row))
    return heads[_head(row)] > 1 and len(letters) > 5 and not is_bare_label(row[:6])


def _head(row: str) -> str:
    """Return the part of a row that repeats in running heads: its first field without numbers."""
    return re.sub(r"\d", "", re.split(r"\t|\s{3,}", row.strip(), maxsplit=1)[0]).strip().lower()
