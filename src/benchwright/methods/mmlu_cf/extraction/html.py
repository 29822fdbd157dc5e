"""HTML as lines: blocks and line breaks end a line; list markers and other markup are kept."""

import re
from dataclasses import dataclass
from typing import Any

from benchwright.methods.mmlu_cf.extraction.labels import list_marker
from benchwright.methods.mmlu_cf.extraction.lines import Emphasis, Line, visible
from benchwright.methods.mmlu_cf.extraction.markup import (
    Attributes,
    Markup,
    markup,
    without_deep_tags,
)

_WHITE_SPACE = re.compile(r"\s+")
_RAISED = str.maketrans("0123456789+-−n()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ⁽⁾")


class LineBuilder:
    """The finished lines and the line being built."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.block = 1
        self.reset()

    def reset(self) -> None:
        """Begin a line."""
        self.line = Line("")
        self.text = ""
        self.has_input = False

    def add(self, text: str) -> None:
        """Add a piece of running text."""
        text = _WHITE_SPACE.sub(_gap, text if text.isascii() else visible(text))
        self.text += text.lstrip() if self.text[-1:] in ("", " ", "\t") else text

    def preformatted(self, text: str, kind: str) -> None:
        """Add text whose line breaks count; `kind` is `code`, of which nothing is changed."""
        if kind == "code" and self.has_input and not self.text:
            self.flush(empty=True)  # code below a box
        for number, piece in enumerate(visible(text).split("\n")):
            if number:
                self.flush()
            if piece.strip():
                self.line.marks.add("code")
            if kind != "code":
                self.add(piece)
                self.block += not piece.strip()
            else:
                self.text += piece
                self.line.kind = kind if piece.strip() else self.line.kind

    def cell(self) -> None:
        """Begin the next cell of a table row."""
        self.text = f"{self.text.rstrip()}\t" if self.text else ""
        self.line.kind = "cells"

    def start_option(self) -> None:
        """Begin the option that an input selects."""
        if self.text or self.has_input:
            self.flush(empty=True)
        self.line.kind, self.has_input = "option", True

    def end_block(self) -> None:
        """End the line and its block."""
        self.flush()
        self.block += 1

    def flush(self, *, empty: bool = False) -> None:
        """End the line; without text, its marks stay for the next line."""
        if self.text.strip() or empty:
            line = self.line
            line.text, line.block = self.text.rstrip(), self.block
            self.lines.append(line)
            self.reset()
        self.text = ""


def _gap(spaces: "re.Match[str]") -> str:
    return "\t" if spaces[0].count("\xa0") > 1 else " "


SKIPPED = frozenset({
    "head", "script", "style", "template", "svg", "iframe", "object", "canvas", "audio",
    "video", "textarea", "annotation",
})  # fmt: skip
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "button", "center", "dd", "details",
    "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1",
    "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "legend", "li", "main", "menu",
    "noscript", "ol", "option", "optgroup", "p", "pre", "section", "select", "summary", "table",
    "tbody", "tfoot", "thead", "tr", "ul", "caption",
})  # fmt: skip
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6", "legend", "summary", "dt", "caption"])
PHRASES = frozenset({
    "a", "abbr", "b", "cite", "code", "del", "em", "font", "i", "ins", "kbd", "mark", "q", "s",
    "small", "span", "strong", "sub", "sup", "u",
})  # fmt: skip
EMPTY = frozenset({
    "input", "img", "br", "hr", "wbr", "col", "source", "track", "embed", "area", "base",
    "link", "meta", "param",
})  # fmt: skip
_MOST_LINES = 200  # of an element around one question


@dataclass(slots=True)
class _Element:
    """An open element; it starts after `first` lines and `start` characters of the next line."""

    tag: str
    markup: Markup
    number: int
    first: int
    start: int
    list_type: str = ""
    counter: int = 0

    @property
    def holds_options(self) -> bool:
        """Whether options in it, at any depth of items and paragraphs, are one group."""
        inner = self.tag in {"li", "p", "label", "dd", "option"} or self.markup.option
        return self.tag in BLOCKS and not inner


def html_lines(text: str) -> list[Line]:
    """Return the lines of an HTML document, parsed as browsers do (HTML5, selectolax).

    Menus (`<nav>` and similar) and comments of readers are left out. Text hidden by CSS or in
    `<details>` is kept. Of documents with absurdly deep nesting, only the text is read.
    """
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(without_deep_tags(text))
    walk = _Walk()
    if tree.body is not None:
        walk.over(tree.body)
    return walk.out.lines


class _Walk:
    """A walk over a tree without recursion."""

    def __init__(self) -> None:
        self.out = LineBuilder()
        self.stack: list[_Element] = []
        self.elements = 0

    def over(self, root: Any) -> None:
        node, depth = root, 0
        while True:
            tag = node.tag or ""
            if tag == "-text":
                self._text(node.text_content or "")
            elif tag[:1].isalpha() and tag not in SKIPPED and self._enter(tag, node.attributes):
                child = node.child
                if child is not None:
                    node, depth = child, depth + 1
                    continue
                self._leave()
            while depth and (after := node.next) is None:
                node, depth = node.parent, depth - 1
                self._leave()
            if not depth:
                break
            node = after
        self.out.flush()

    def _text(self, text: str) -> None:
        around = [element.tag for element in self.stack[-4:]]
        if "pre" in around:
            self.out.preformatted(text, "code" if "code" in around else "text")
        else:
            self.out.add(text)

    def _enter(self, tag: str, attributes: Attributes) -> bool:
        """Return whether the children of an element are read."""
        out = self.out
        if tag in EMPTY:
            if tag == "input":
                self._input(attributes)
            elif tag in {"br", "hr"}:
                out.flush()
                out.block += tag == "hr"
            return False
        marked = markup(tag, attributes)
        if marked.unread or (tag == "option" and attributes.get("value") == ""):  # "Choose …"
            out.flush()
            return False
        option = tag == "option" or marked.option
        option = option and not any(element.markup.option for element in self.stack[-6:])
        if tag in BLOCKS or option:
            out.end_block()
        if tag in {"td", "th"}:
            out.cell()
        self.elements += 1
        element = _Element(tag, marked, self.elements, len(out.lines), len(out.text))
        if tag == "ol":
            element.list_type = attributes.get("type") or "1"
        self._place(element, option)
        self.stack.append(element)
        return True

    def _place(self, element: _Element, option: bool) -> None:
        """Set what the element makes of its line: an option, an item, a heading."""
        line, tag = self.out.line, element.tag
        around = next((outer for outer in reversed(self.stack) if outer.holds_options), None)
        if tag in {"li", "dd"} and around is not None:
            around.counter += 1
            line.label = list_marker(around.list_type, around.counter)
            line.kind = "item"
        if option:
            line.kind = "option"
        elif tag in _HEADINGS:
            line.kind = "heading"
        if around is not None and (tag in {"li", "dd"} or option):
            line.group = around.number

    def _input(self, attributes: Attributes) -> None:
        kind = (attributes.get("type") or "").lower()
        if kind not in {"radio", "checkbox"}:
            return
        self.out.start_option()
        line = self.out.line
        around = [element.number for element in self.stack if element.holds_options]
        line.group = line.group or (around[-1] if around else 0)
        line.value = attributes.get("value")
        marked = markup("input", attributes)
        line.marks |= marked.marks - {"answer"} | ({"correct"} if marked.affirms else set())
        if kind == "checkbox" and "disabled" in attributes:
            line.marks.add("ticked" if "checked" in attributes else "unticked")

    def _leave(self) -> None:
        element = self.stack.pop()
        out, tag, marked = self.out, element.tag, element.markup
        start = element.start if element.first == len(out.lines) else 0
        if tag == "sup" and not set(out.text[start:]) - set("0123456789+-−n()"):
            out.text = out.text[:start] + out.text[start:].translate(_RAISED)
        if marked.emphasis or marked.marks or marked.flag is not None:
            self._mark(element)
        if tag in BLOCKS or marked.option:
            out.end_block()

    def _mark(self, element: _Element) -> None:
        """Mark the lines of an element."""
        out, marked = self.out, element.markup
        if len(out.lines) - element.first > _MOST_LINES:
            return
        lines = out.lines[element.first :]
        lengths = [len(line.text) for line in lines]
        if out.text or not lines:
            lines, lengths = [*lines, out.line], [*lengths, len(out.text)]
        starts = [element.start, *[0] * (len(lines) - 1)]
        for line, start, end in zip(lines, starts, lengths, strict=True):
            if marked.emphasis and end > start:
                line.emphasis.append(Emphasis(start, end, marked.emphasis))
        if element.start and len(lines) > 1:
            lines = lines[1:]  # the element began behind the text of another
        if len(lines) == 1:
            lines[0].marks |= marked.marks | ({"correct"} if marked.affirms else set())
            return
        for line in lines:
            line.marks |= marked.marks & {"answer"}
            line.right = line.right or marked.flag or ""
