"""Plain text, Markdown and wiki markup as lines: bullets, headings, boxes and faces noted."""

import re
from collections import Counter

from benchwright.methods.mmlu_cf.extraction.lines import Emphasis, Line, PageText, spaced, visible
from benchwright.methods.mmlu_cf.extraction.options import is_bare_label
from benchwright.methods.mmlu_cf.extraction.question_tables import csv_lines

_WIKI_ITEM = re.compile(r"#(?P<below>[:*#;]*)\s*(?P<text>.*)$")
_BELOW = re.compile(r"#{1,3}[:*]{1,2}\s?\S")
_WIKI_LIST = re.compile(r"[*:;]{1,4}\s?(?=\S)")
_WIKI_HEADING = re.compile(r"(={2,6})\s?(?P<text>[^=\n][^\n]{0,300}?)\s?\1\s*$")
_TEMPLATE = re.compile(r"\{\{([^{}\n]{0,2000})\}\}")
_WIKI_LINK = re.compile(r"\[\[([^\[\]\n]{0,500})\]\]")
_NAMED = re.compile(r"\s*[A-Za-z][\w -]{0,30}=")
_WIKI_ANSWER = re.compile(
    r"(?:show |the )?(?:correct |right )?(?:answers?|solution|key):?", re.IGNORECASE
)
_FACED_LABEL = re.compile(
    r"('{2,5})[(\[]?(?P<name>[A-Za-z]|\d{1,2})(?P<end>[.):\]]?)\1(?P<after>[.):]?)\s+"
)
_WIKI_FACE = re.compile(r"'{2,5}")


def is_wiki(rows: list[str]) -> bool:
    """Whether a text has items of numbered lists with more lines below them (`#:`, `#*`)."""
    below = sum(_BELOW.match(row) is not None for row in rows[:2_000])
    return below >= 2 and any(
        row.startswith("# ") or row[:2].strip() == "#" for row in rows[:2_000]
    )


def wiki_rows(rows: list[str]) -> list[str]:
    """The rows without markup: `# stem` numbered, what stands below it without its marker.

    Of a template, its last argument without a name is kept, of a link its text.
    """
    out: list[str] = []
    number = 0
    for row in rows:
        heading = _WIKI_HEADING.match(row) if row.startswith("==") else None
        if heading is not None:
            number = 0
            out += ["", heading["text"], ""]
            continue
        item = _WIKI_ITEM.match(row) if row.startswith("#") else None
        if item is None:
            found = _WIKI_LIST.match(row)
            out.append(_plain(row[found.end() :] if found else row))
        elif item["below"]:
            out.append(_plain(item["text"]))
        else:
            number += 1
            out += ["", f"{number}. {_plain(item['text'])}"]
    return out


def _plain(text: str) -> str:
    if "{{" in text:
        text = _TEMPLATE.sub(_argument, text)
    if "[[" in text:
        text = _WIKI_LINK.sub(lambda found: found[1].rpartition("|")[2], text)
    if "''" in text:
        label = _FACED_LABEL.match(text)
        if label is not None:
            sign = label["end"] or label["after"] or "."
            text = f"{label['name']}{sign} {text[label.end() :]}"
        text = _WIKI_FACE.sub("", text)
    return text


def _argument(found: "re.Match[str]") -> str:
    name, *parts = found[1].split("|")
    unnamed = [part for part in parts if _NAMED.match(part) is None]
    if unnamed:
        called = any(_WIKI_ANSWER.fullmatch(one.strip()) for one in (name, *unnamed[:-1]))
        alone = not found.string[: found.start()].strip()
        return f"{'Answer: ' if called and alone else ''}{unnamed[-1].strip()}"
    given = [part.partition("=")[2] for part in parts if re.match(r"\s*\d+\s*=", part)]
    return given[-1].strip() if given else ""


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
    plain, at = "", 0
    for found in pattern.finditer(text):
        inner = (found[2] or "") if kind == "italic" else (found[1] or found[2] or "")
        plain += text[at : found.start()]
        line.emphasis.append(Emphasis(len(plain), len(plain) + len(inner), kind))
        plain, at = plain + inner, found.end()
    return plain + text[at:]


def _indent(row: str) -> int:
    head = row[: len(row) - len(row.lstrip())][:200]
    return len(head.expandtabs(4))


def _furniture(rows: list[str]) -> set[int]:
    """Rows with page numbers, and running heads next to them: they stand on the page elsewhere."""
    pages = [n for n, row in enumerate(rows) if len(row) < 60 and _PAGE.fullmatch(row.strip(" \t"))]
    if not pages:
        return set()
    found: set[int] = set()
    heads = Counter(_head(row) for row in rows if row.strip())
    for page in pages:
        found.add(page)
        for step in (-1, 1):
            near = page + step
            while 0 <= near < len(rows) and abs(near - page) < 4 and not rows[near].strip():
                near += step
            if 0 <= near < len(rows):
                repeated = rows[near].strip() and _repeats(rows[near], heads)
                first, end = sorted((page, near))
                found.update(range(first, end + 1) if repeated else range(first + 1, end))
    return found


def _repeats(row: str, heads: Counter[str]) -> bool:
    letters = re.sub(r"[^a-zа-я]", "", _head(row))
    return heads[_head(row)] > 1 and len(letters) > 5 and not is_bare_label(row[:6])


def _head(row: str) -> str:
    """The first field of a row, without numbers: what repeats in running heads."""
    return re.sub(r"\d", "", re.split(r"\t|\s{3,}", row.strip(), maxsplit=1)[0]).strip().lower()
