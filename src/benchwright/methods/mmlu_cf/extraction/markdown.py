"""Markdown (CommonMark with tables) as HTML; literal text stays literal."""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

from benchwright.methods.mmlu_cf.extraction.html import (
    BLOCKS,
    EMPTY,
    PHRASES,
    SKIPPED,
    html_lines,
)
from benchwright.methods.mmlu_cf.extraction.labels import box_at
from benchwright.methods.mmlu_cf.extraction.lines import Line

_LITERAL = re.compile(
    r"\$\$?(?=\S)[^$\n]{1,500}(?<=\S)\$\$?(?!\d)|\\\([^\n]{1,500}?\\\)"
    r"|(?<!\w)__[a-z][a-z0-9_]*__(?!\w)"
)
_TAG = re.compile(
    r"<(/?)([A-Za-z][A-Za-z0-9]*)"
    r"(?:\s+(?:[\w-]+\s*=\s*[^\s].*?|checked|disabled|hidden|open|selected))*\s*/?>",
    re.DOTALL,
)
_CONTAINER = re.compile(r"(?m)^:{3,} ?\w*")  # "::: info" of VitePress and others
_BOXED = {"ticked", "unticked"}
_LONGEST_ITEM = 40  # lines
_PAIRED = BLOCKS | PHRASES | {"td", "th", "label"}
_KNOWN = _PAIRED | EMPTY | SKIPPED


def markdown_lines(text: str) -> list[Line]:
    """Return the lines of Markdown, read as the HTML that it stands for.

    Line breaks in a paragraph count, task lists become checkboxes, and code spans keep their
    backticks. Tags that HTML does not know, or that nothing closes, are text: `Vec<u8>`.
    """
    text = _CONTAINER.sub("\n", text)
    return _with_options(html_lines(f"<html><body>{_parser().render(text)}"))


def _with_options(lines: list[Line]) -> list[Line]:
    """Join the lines of each option with a box, and the code between it and the next one.

    Code below the last option belongs to it if it has no text, or if each option has code.
    """
    kept: list[Line] = []
    at = 0
    while at < len(lines):
        options: list[tuple[Line, list[Line]]] = []
        end = at
        while end < len(lines) and lines[end].marks & _BOXED:
            option, start = lines[end], end + 1
            end = _end_of_item(lines, end)
            while end < len(lines) and lines[end].kind == "code":
                end += 1
            inside = lines[start:end]
            texts = [
                line.text
                for line in inside  # a text of another block is a remark below the option
                if line.kind == "item" or (line.kind == "text" and line.block == option.block)
            ]
            option.text = " ".join([option.text, *texts]).strip()
            options.append((option, [line for line in inside if line.kind == "code"]))
        coded = all(code for _, code in options)
        for option, code in options:
            option.group = options[0][0].group
            kept.append(option)
            if coded or not option.text or option is not options[-1][0]:
                option.code = "\n".join(line.text for line in code)
            else:
                kept += code
        kept += lines[at : at + (end == at)]
        at = max(end, at + 1)
    return kept


def _end_of_item(lines: list[Line], at: int) -> int:
    """Return the line behind an option: the next option of its list, or the end of its block."""
    option = lines[at]
    for end in range(at + 1, min(at + _LONGEST_ITEM, len(lines))):
        if lines[end].kind == "heading" or lines[end].marks & _BOXED:
            if lines[end].group == option.group:
                return end
            break
    end = at + 1
    while end < len(lines) and lines[end].kind == "text" and lines[end].block == option.block:
        end += 1
    return end


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import html_block

    def read_block(state: Any, line: int, end: int, silent: bool) -> bool:
        """Read HTML, but leave out a line that is a tag of another language (`<quiz>`)."""
        tag = _TAG.match(state.src, state.bMarks[line] + state.tShift[line])
        if tag is None or tag[2].lower() in _KNOWN:
            return html_block(state, line, end, silent)
        alone = state.sCount[line] == 0 and tag.end() == state.eMarks[line]
        if alone and not silent:
            state.line = line + 1
        return alone

    parser = MarkdownIt("commonmark", {"breaks": True}).enable("table")
    parser.disable("reference")  # an option such as "[A]: text" would be one
    parser.block.ruler.at("html_block", read_block, {"alt": ["paragraph", "blockquote"]})
    parser.inline.ruler.before("escape", "literal", _read_literal)
    parser.core.ruler.push("page", lambda state: _settle(state.tokens))
    rules = parser.renderer.rules
    rules["code_inline"] = lambda tokens, at, *_: f"<code>`{escape(tokens[at].content)}`</code>"
    return parser


def _read_literal(state: Any, silent: bool) -> bool:
    """Take a formula or a name such as `__init__` as it stands."""
    literal = _LITERAL.match(state.src, state.pos) if state.src[state.pos] in "$\\_" else None
    if literal is None:
        return False
    if not silent:
        state.push("text", "", 0).content = literal[0]
    state.pos = literal.end()
    return True


def _settle(tokens: list[Any]) -> None:
    """Turn boxes into inputs, tags that are none into text, and keep columns apart."""
    for token in tokens:
        if token.type == "inline":
            _keep_unknown_tags(token.children)
            _read_boxes(token.children)
            for part in token.children:
                if part.type == "text":
                    part.content = re.sub(" {2,}", "\xa0\xa0", part.content)


def _keep_unknown_tags(parts: Sequence[Any]) -> None:
    tags = [_TAG.fullmatch(part.content) if part.type == "html_inline" else None for part in parts]
    names = [(tag[1], tag[2].lower()) if tag else ("", "") for tag in tags]
    there = set(names)
    for part, (end, name) in zip(parts, names, strict=True):
        if part.type != "html_inline" or part.content.startswith("<!--") or name in EMPTY:
            continue
        if name not in _PAIRED or ("" if end else "/", name) not in there:
            part.type = "text"


def _read_boxes(parts: Sequence[Any]) -> None:
    for part in parts:
        if part.type == "text" and (box := box_at(part.content)) is not None:
            end, ticked = box
            part.type = "html_inline"
            checked = " checked" * ticked
            rest = escape(part.content[end:])
            part.content = f"<input type=checkbox disabled{checked}>{rest}"
