"""Plain text and Markdown as lines: bullets, headings, quotes, boxes, bold and code are noted."""

import re

from benchwright.methods.mmlu_cf.extraction.lines import Emphasis, Line, PageText, spaced, visible
from benchwright.methods.mmlu_cf.extraction.option_labels import is_bare_label
from benchwright.methods.mmlu_cf.extraction.question_tables import csv_lines
from benchwright.methods.mmlu_cf.extraction.wiki_markup import is_wiki, wiki_rows

_RULE = re.compile(r"\s*([-=_*~#+])(?:\s?\1){2,}\s*")
_BULLET = re.compile(r"(?:[-*+•●◦▪‣○–]|\\item)\s+")
_BOX = re.compile(r"\[( |x|X|✓|✔|\*)?\]\s+|([☐□▢○◯⚪])\s*|([☑☒✅✔✓●🔘])\s*")
_HEADING = re.compile(r"#{1,6}\s+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,500}(?:\s\"[^\"\n]{0,200}\")?\)")
_STRONG = re.compile(r"\*\*(?=\S)([^\n]{1,2000}?)(?<=\S)\*\*|__(?=\S)([^\n_]{1,2000}?)(?<=\S)__")
_ITALIC = re.compile(r"(?<![\w*\\])([*_])(?=[^\s*_])([^\n*_]{1,500}?)(?<=[^\s\\])\1(?![\w*])")
_ESCAPE = re.compile(r"\\([().\[\]*_#+\-!])")
_TAG = re.compile(r"</?(?:sub|sup|b|i|u|br|p|div|span|details|summary|strong|em)\b[^<>\n]{0,200}>")
_PAGE = re.compile(
    r"\f|[-–—]\s*\d{1,4}\s*[-–—]|(?:page|seite|página|стр\.?)\s*\d{1,4}(?:\s*(?:of|/|von|de)\s*\d{1,4})?"
    r"|\d{1,4}\s*(?:/|of)\s*\d{1,4}|\[?\s?page\s*break\s?\]?",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"\\(choice|CorrectChoice|question)\b(?:\[[^\]]{0,20}\])?")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[a-z*]{0,30}\}(?:\[[^\]]{0,30}\])?$")
_TITLE = re.compile(r"^::[^:\n]{0,100}::\s?")
_LONG = 20_000


def plain_page(text: str, *, markdown: bool) -> PageText:
    """The lines of plain text or Markdown; running heads and page numbers are left out."""
    rows = visible(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    table = csv_lines(rows)
    if table:
        return PageText.of(table)
    if is_wiki(rows):
        rows, markdown = wiki_rows(rows), False
    reader = _Reader(markdown)
    furniture = _furniture(rows)
    for number, row in enumerate(rows):
        if number not in furniture:
            reader.read(row)
    return PageText.of(reader.lines)


class _Reader:
    def __init__(self, markdown: bool) -> None:
        self.markdown = markdown
        self.lines: list[Line] = []
        self.block = 0
        self.code = False
        self.heading = 0
        self.quoted = False
        self.gift = False

    def read(self, row: str) -> None:
        if _FENCE.match(row):
            self.code = not self.code
            return
        if not row.strip():
            if not self.code:
                self.block += 1
            return
        if len(row) < 300 and _RULE.fullmatch(row):
            if self.lines and row.strip()[0] in "=-" and self.lines[-1].block == self.block:
                self.lines[-1].kind = "heading"
            self.block += 1
            return
        if self.code:
            self.lines.append(Line(row.rstrip(), "code", self.block, indent=_indent(row)))
            return
        self._text(row)

    def _text(self, row: str) -> None:
        line = Line("", "text", self.block, indent=_indent(row))
        text = row.strip()
        if text[0] in "\\=~}:" or text.endswith("{"):
            text = self._set_by_command(text, line)
            if not text:
                return
        text = self._bulleted(self._headed(self._unquoted(text, line), line), line)
        if self.markdown and text.startswith("|") and text.endswith("|") and len(text) > 1:
            cells = [cell.strip() for cell in text.strip("|").split("|")]
            if all(set(cell) <= set(":- ") for cell in cells):
                return
            line.kind, text = "cells", "\t".join(cells)
        if len(text) < _LONG:
            text = self._inline(text, line)
        line.text = text.strip() if line.kind == "cells" else spaced(text)
        if line.text != text:  # folding may move the faces; only whole lines matter
            grown = [e for e in line.emphasis if e.start == 0 and e.end >= len(text) - 1]
            line.emphasis = [Emphasis(0, len(line.text), e.kind) for e in grown] or line.emphasis
        if line.text:
            self.lines.append(line)

    def _unquoted(self, text: str, line: Line) -> str:
        quoted = text.startswith(">")
        if quoted != self.quoted:
            self.block += 1
            line.block, self.quoted = self.block, quoted
        return text.lstrip("> ") if quoted else text

    def _headed(self, text: str, line: Line) -> str:
        head = _HEADING.match(text) if self.markdown else None
        if head is None:
            return text
        self.block += 2
        line.kind, line.block = "heading", self.block - 1
        return text[head.end() :].rstrip("# ")

    def _bulleted(self, text: str, line: Line) -> str:
        bullet = _BULLET.match(text)
        box = _BOX.match(text, bullet.end() if bullet else 0)
        if box is not None:
            line.kind, line.group = "option", line.block
            ticked = (box[1] or " ") != " " or box[3]
            line.marks.add("ticked" if ticked else "unticked")
            return text[box.end() :]
        if bullet is not None and "\t" not in text[: bullet.end()]:
            line.kind, line.group = "item", line.block
            return text[bullet.end() :]
        return text

    def _set_by_command(self, text: str, line: Line) -> str:
        """Options of LaTeX's class exam and of Moodle's GIFT; "" for lines of their syntax."""
        command = _COMMAND.match(text)
        if command is not None:
            if command[1] != "question":
                line.kind, line.group = "option", self.block
                line.marks |= {"correct"} if command[1] == "CorrectChoice" else set()
            return text[command.end() :].strip()
        if _ENVIRONMENT.match(text) or (self.gift and text == "}"):
            self.gift = False
            return ""
        if text.endswith("{"):
            self.gift = True
            text = text[:-1].rstrip()
        elif self.gift and text[0] in "=~":
            line.kind, line.group = "option", self.block
            line.marks |= {"correct"} if text[0] == "=" else set()
            return text[1:].partition("#")[0].strip()
        return _TITLE.sub("", text)

    def _inline(self, text: str, line: Line) -> str:
        """Text without links, faces and escapes; faces are noted."""
        if "<" in text:
            text = _TAG.sub("", text)
        if "](" in text:
            text = _LINK.sub(r"\1", text)
        if self.markdown and "\\" in text and "$" not in text:
            text = _ESCAPE.sub(r"\1", text)
        if "**" in text or "__" in text:
            text = _faced(text, _STRONG, "bold", line)
        if self.markdown and ("*" in text or "_" in text) and "$" not in text:
            text = _faced(text, _ITALIC, "italic", line)
        return text.strip()


def _faced(text: str, pattern: "re.Pattern[str]", kind: str, line: Line) -> str:
    parts, at, length = [], 0, 0
    for found in pattern.finditer(text):
        inner = (found[2] or "") if kind == "italic" else (found[1] or found[2] or "")
        before = text[at : found.start()]
        length += len(before)
        line.emphasis.append(Emphasis(length, length + len(inner), kind))
        parts += [before, inner]
        length += len(inner)
        at = found.end()
    return "".join([*parts, text[at:]])


def _indent(row: str) -> int:
    head = row[: len(row) - len(row.lstrip())][:200]
    return len(head.expandtabs(4))


def _furniture(rows: list[str]) -> set[int]:
    """Rows with page numbers, and running heads next to them: they stand on the page elsewhere."""
    pages = [n for n, row in enumerate(rows) if len(row) < 60 and _PAGE.fullmatch(row.strip(" \t"))]
    if not pages:
        return set()
    found: set[int] = set()
    heads: dict[str, int] = {}
    for row in rows:
        if row.strip():
            head = _head(row)
            heads[head] = heads.get(head, 0) + 1
    for page in pages:
        found.add(page)
        for step in (-1, 1):
            near = page + step
            while 0 <= near < len(rows) and abs(near - page) < 4 and not rows[near].strip():
                near += step
            if 0 <= near < len(rows) and rows[near].strip() and _repeats(rows[near], heads):
                found.update(range(min(page, near), max(page, near) + 1))
            elif 0 <= near < len(rows):
                found.update(range(min(page, near + 1), max(page, near)))
    return found


def _repeats(row: str, heads: dict[str, int]) -> bool:
    head = _head(row)
    return (
        heads[head] > 1 and len(re.sub(r"[^a-zа-я]", "", head)) > 5 and not is_bare_label(row[:6])
    )


def _head(row: str) -> str:
    """The first field of a row, without numbers: what repeats in running heads."""
    return re.sub(r"\d", "", re.split(r"\t|\s{3,}", row.strip(), maxsplit=1)[0]).strip().lower()
