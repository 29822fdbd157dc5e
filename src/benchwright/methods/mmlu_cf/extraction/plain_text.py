"""Plain text and wiki markup as lines with bullets, boxes and code."""

import re
from collections import Counter

from benchwright.methods.mmlu_cf.extraction.lines import Line, PageText, spaced, visible
from benchwright.methods.mmlu_cf.extraction.options import is_bare_label
from benchwright.methods.mmlu_cf.extraction.questions import csv_lines

_WIKI_ITEM = re.compile(r"#(?P<below>[:*#;]*)\s*(?P<text>.*)$")
_BELOW = re.compile(r"#{1,3}[:*]{1,2}\s?\S")
_WIKI_LIST = re.compile(r"[*:;]{1,4}\s?(?=\S)")
_WIKI_HEADING = re.compile(r"(={2,6})\s?(?P<text>[^=\n][^\n]{0,300}?)\s?\1\s*$")
_TEMPLATE = re.compile(r"\{\{([^{}\n]{0,2000})\}\}")
_WIKI_LINK = re.compile(r"\[\[([^\[\]\n]{0,500})\]\]")
_NAMED = re.compile(r"\s*[A-Za-z][\w -]{0,30}=")
_WIKI_ANSWER = re.compile(r"(?i)(?:show |the )?(?:correct |right )?(?:answers?|solution|key):?")
_FACED_LABEL = re.compile(
    r"('{2,5})[(\[]?(?P<name>[A-Za-z]|\d{1,2})(?P<end>[.):\]]?)\1(?P<after>[.):]?)\s+"
)
_WIKI_FACE = re.compile(r"'{2,5}")


def is_wiki(rows: list[str]) -> bool:
    """Return whether a text has numbered wiki items with rows nested in them (`#:`, `#*`)."""
    rows = rows[:2_000]
    return sum(_BELOW.match(row) is not None for row in rows) >= 2 and any(
        row.startswith("# ") or row[:2].strip() == "#" for row in rows
    )


def wiki_rows(rows: list[str]) -> list[str]:
    """Return the rows without markup: `# stem` numbered, rows nested in it without their markers.

    A template is replaced by its last unnamed argument, a link by its text.
    """
    out: list[str] = []
    number = 0
    for row in rows:
        heading = _WIKI_HEADING.match(row) if row.startswith("==") else None
        item = _WIKI_ITEM.match(row) if row.startswith("#") else None
        if heading is not None:
            number = 0
            out += ["", heading["text"], ""]
        elif item is None:
            marker = _WIKI_LIST.match(row)
            out.append(_plain(row[marker.end() :] if marker else row))
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
        text = _WIKI_LINK.sub(lambda link: link[1].rpartition("|")[2], text)
    if "''" in text:
        label = _FACED_LABEL.match(text)
        if label is not None:
            sign = label["end"] or label["after"] or "."
            text = f"{label['name']}{sign} {text[label.end() :]}"
        text = _WIKI_FACE.sub("", text)
    return text


def _argument(template: "re.Match[str]") -> str:
    name, *parts = template[1].split("|")
    unnamed = [part for part in parts if _NAMED.match(part) is None]
    if unnamed:
        answers = any(_WIKI_ANSWER.fullmatch(part.strip()) for part in (name, *unnamed[:-1]))
        alone = not template.string[: template.start()].strip()
        return f"{'Answer: ' if answers and alone else ''}{unnamed[-1].strip()}"
    numbered = [part.partition("=")[2] for part in parts if re.match(r"\s*\d+\s*=", part)]
    return numbered[-1].strip() if numbered else ""


_RULE = re.compile(r"\s*([-=_*~#+])(?:\s?\1){2,}\s*")
_BULLET = re.compile(r"(?:[-*+•●◦▪‣○–]|\\item)\s+")
_BOX = re.compile(r"\[( |x|X|✓|✔|\*)?\]\s+|([☐□▢○◯⚪])\s*|([☑☒✅✔✓●🔘])\s*")
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
_PAGE = re.compile(
    r"(?i)\f|[-–—]\s*\d{1,4}\s*[-–—]|(?:page|seite|página|стр\.?)\s*\d{1,4}(?:\s*(?:of|/|von|de)\s*\d{1,4})?"
    r"|\d{1,4}\s*(?:/|of)\s*\d{1,4}|\[?\s?page\s*break\s?\]?"
)
_COMMAND = re.compile(r"\\(choice|CorrectChoice|question)\b(?:\[[^\]]{0,20}\])?")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[a-z*]{0,30}\}(?:\[[^\]]{0,30}\])?$")


def plain_page(text: str) -> PageText:
    """Return the lines of plain text, as they stand, without page numbers and running heads."""
    rows = visible(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    table = csv_lines(rows)
    if table:
        return PageText.of(table)
    if is_wiki(rows):
        rows = wiki_rows(rows)
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
        text = self._command(row.strip(), line)
        if text:
            line.text = spaced(self._bulleted(self._unquoted(text, line), line))
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

    def _command(self, text: str, line: Line) -> str:
        """Read the commands of LaTeX's class exam; return "" for other commands."""
        command = _COMMAND.match(text)
        if command is None:
            return "" if _ENVIRONMENT.match(text) else text
        if command[1] != "question":
            line.kind, line.group = "option", self.block
            line.marks |= {"correct"} if command[1] == "CorrectChoice" else set()
        return text[command.end() :].strip()


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
