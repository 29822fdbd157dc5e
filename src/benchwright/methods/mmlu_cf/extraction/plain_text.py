"""Plain text as lines with bullets, boxes and code."""

import re

from benchwright.methods.mmlu_cf.extraction.labels import box_at
from benchwright.methods.mmlu_cf.extraction.lines import Line, spaced, visible

_RULE = re.compile(r"\s*([-=_*~#+])(?:\s?\1){2,}\s*")
_BULLET = re.compile(r"[-*+•●◦▪‣○–]\s+")
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")


def plain_lines(text: str) -> list[Line]:
    """Return the lines of plain text, as they stand."""
    lines: list[Line] = []
    block, fence = 0, ""  # the fence that opened code
    reply: Line | None = None  # "A: …" of several lines, up to the next "Q: "
    for row in visible(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n"):
        opening = _FENCE.match(row)
        if fence:
            if row.strip() and set(row.strip()) == {fence[0]} and fence in row:
                fence = ""
            elif row.strip():
                lines.append(Line(row.rstrip(), "code", block, indent=_indent(row)))
        elif opening is not None:
            fence = opening[1]
        elif not row.strip() or (len(row) < 300 and _RULE.fullmatch(row)):
            block += 1
        elif reply is not None and not row.startswith(("Q: ", "B: ")):
            reply.text += f" {row.strip()}"
        else:
            line = Line("", "text", block, indent=_indent(row))
            line.text = spaced(_without_bullet(row.strip(), line))
            if line.text:
                lines.append(line)
            reply = line if row.startswith("A: ") else None
    return lines


def _without_bullet(text: str, line: Line) -> str:
    """Return the text behind a bullet and a box, which tell the line's kind."""
    bullet = _BULLET.match(text)
    box = box_at(text, bullet.end() if bullet else 0)
    if box is not None:
        line.kind, line.group = "option", line.block
        line.marks.add("ticked" if box[1] else "unticked")
        return text[box[0] :]
    if bullet is not None:
        line.kind, line.group = "item", line.block
        return text[bullet.end() :]
    return text


def _indent(row: str) -> int:
    margin = row[: len(row) - len(row.lstrip())][:200]
    return len(margin.expandtabs(4))
