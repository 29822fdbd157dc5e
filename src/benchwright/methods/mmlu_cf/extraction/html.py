"""HTML as lines: blocks and line breaks end a line; list markers and other markup are kept."""

import re
from dataclasses import dataclass
from typing import Any

from benchwright.methods.mmlu_cf.extraction.lines import (
    Container,
    Emphasis,
    Line,
    PageText,
    flat,
    spaced,
    visible,
)
from benchwright.methods.mmlu_cf.extraction.markup import (
    Attributes,
    Markup,
    list_type,
    markup,
    without_deep_tags,
)
from benchwright.methods.mmlu_cf.extraction.options import is_bare_label, list_marker

_WHITE_SPACE = re.compile(r"\s+")
_SUPERSCRIPT = str.maketrans("0123456789+-−n()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ⁽⁾")


def _space(character: str, wide: bool) -> str:
    return "" if not character.isspace() else "\t" if wide and character == "\t" else " "


class LineBuilder:
    """The finished lines and the line being built."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.region: tuple[int, ...] = ()
        self.block = 1
        self._open: list[tuple[str, int]] = []  # kinds of emphasis and their starts in the line
        self._reset()

    def _reset(self) -> None:
        self.line = Line("")  # its text is in `_parts` until the line ends
        self._parts: list[str] = []
        self.length = 0
        self._space = ""
        self._has_input = False

    def add(self, text: str) -> None:
        """Add a piece of running text."""
        if not text.isascii():
            text = visible(text)
        wide = "\xa0" in text
        if wide:
            text = _WHITE_SPACE.sub(lambda gap: "\t" if gap[0].count("\xa0") > 1 else " ", text)
        body = text.strip() if wide else flat(text)
        if not body:
            self._space = max(self._space, _space(text[:1], wide), key=["", " ", "\t"].index)
            return
        if self.length:
            self._append(self._space or _space(text[0], wide))
        self._append(body)
        self._space = _space(text[-1], wide)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self.length += len(text)

    def preformatted(self, text: str, kind: str) -> None:
        """Add text whose line breaks count; `kind` is `code`, of which nothing is changed."""
        if kind == "code" and self._has_input and not self.length:
            self.flush(empty=True)  # code below a box
        pieces = visible(text).split("\n")
        for number, piece in enumerate(pieces):
            if number and self.length:
                self.line.marks.add("code")
                self.flush()
            if not piece.strip():
                self.block += kind != "code" and 0 < number < len(pieces) - 1
                continue
            if kind == "code":
                self.line.kind = kind
                self._append(piece.rstrip())
                continue
            if self.length and piece[0].isspace():
                self._append(" ")
            self._append(spaced(piece))

    def cell(self) -> None:
        """Begin the next cell of a table row."""
        if self.length:
            self._space = "\t"
        if self.line.kind == "text":
            self.line.kind = "cells"

    def start_option(self) -> None:
        """Begin the option that an input selects."""
        if self.length or self._has_input:
            label = "" if self.length else self.line.label
            self.flush(empty=True)
            self.line.label = label
        self.line.kind, self._has_input = "option", True

    def begin(self, kind: str) -> None:
        """Begin emphasis of a kind."""
        self._open.append((kind, self.length))

    def end(self, kind: str) -> None:
        """End the emphasis of a kind that began last."""
        for place in reversed(range(len(self._open))):
            if self._open[place][0] == kind:
                start = self._open.pop(place)[1]
                if self.length > start:
                    self.line.emphasis.append(Emphasis(start, self.length, kind))
                return

    def superscript_from(self, start: int) -> None:
        """Rewrite the text after an offset as superscript."""
        text = "".join(self._parts)
        if start < len(text):
            raised = text[start:].strip()
            known = not set(raised) - set("0123456789+-−n()")
            self._parts = [text[:start], raised.translate(_SUPERSCRIPT) if known else f"^{raised}"]
            self.length = sum(map(len, self._parts))

    def end_label(self, start: int) -> None:
        """Separate an element that is only an option's label from the text behind it."""
        if start == 0 and 0 < self.length < 8 and is_bare_label("".join(self._parts)):
            self._space = "\t"

    def end_item(self) -> None:
        """End a list item; an empty one with a letter or an input is an empty option."""
        if not self.length and (self.line.label[:1].isalpha() or self._has_input):
            self.flush(empty=True)
        elif not self.length:
            self._reset()

    def end_block(self) -> None:
        """End the line and its block."""
        self.flush()
        self.block += 1

    def flush(self, *, empty: bool = False) -> None:
        """End the line; without text, its marks stay for the next line."""
        if not self.length and not empty:
            return
        line = self.line
        line.text, line.block, line.region = "".join(self._parts), self.block, self.region
        line.emphasis += [
            Emphasis(start, self.length, kind) for kind, start in self._open if self.length > start
        ]
        self._open = [(kind, 0) for kind, _ in self._open]
        self.lines.append(line)
        self._reset()


SKIPPED = frozenset({
    "head", "script", "style", "template", "svg", "iframe", "object", "canvas", "audio",
    "video", "textarea", "annotation",
})  # fmt: skip
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "button", "center", "dd", "details",
    "dialog", "div", "dl", "dt", "fieldset", "figcaption", "metric", "footer", "form", "h1",
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
    first: int
    start: int
    list_type: str = ""
    counter: int = 0
    group: int = 0


def html_page(text: str) -> PageText:
    """Return the lines of an HTML document, parsed as browsers do (HTML5, selectolax).

    Menus (`<nav>` and similar) are left out. Text hidden by CSS or in `<details>` is kept. Of
    documents with absurdly deep nesting, only the text is read.
    """
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(without_deep_tags(text))
    walk = _Walk()
    if tree.body is not None:
        walk.over(tree.body)
    title = tree.css_first("title")
    return PageText.of(
        walk.out.lines, walk.containers, flat(title.text()) if title is not None else ""
    )


class _Walk:
    """A walk over a tree without recursion."""

    def __init__(self) -> None:
        self.out = LineBuilder()
        self.containers: list[Container] = []
        self.stack: list[_Element] = []
        self.posts = 0
        self.names: dict[str, int] = {}
        self.groups = 0

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
            if self.out.length:
                self.out.line.marks.add("code")
        else:
            self.out.add(text)

    def _enter(self, tag: str, attributes: Attributes) -> bool:
        """Return whether the children of an element are read."""
        out = self.out
        if tag in EMPTY:
            self._void(tag, attributes)
            return False
        marked = markup(tag, attributes)
        if marked.menu or (tag == "option" and attributes.get("value") == ""):  # "Choose …"
            out.flush()
            return False
        option = marked.option and not any(element.markup.option for element in self.stack[-6:])
        if tag in BLOCKS or option or marked.options:
            out.end_block()
        if tag in {"td", "th"}:
            out.cell()
        element = _Element(tag, marked, len(out.lines), out.length)
        if marked.speaker:
            self.posts += 1
            out.region = (*out.region, self.posts)
        self._list(element, attributes)
        line = out.line
        if option or tag == "option":
            line.kind, line.group = "option", element.group or self._container() or line.group
        elif tag in _HEADINGS:
            line.kind = "heading"
        elif tag == "button" and line.kind == "text":
            line.kind, line.group = "item", self._container() or line.group
        self.stack.append(element)
        if marked.emphasis:
            out.begin(marked.emphasis)
        return True

    def _list(self, element: _Element, attributes: Attributes) -> None:
        line = self.out.line
        if element.tag in {"ol", "ul", "select", "dl"} or element.markup.options:
            self.groups += 1
            element.group = self.groups
            if element.tag == "ol":
                element.list_type = list_type(attributes)
                start = attributes.get("start") or ""
                element.counter = int(start) - 1 if start.isdecimal() and len(start) < 5 else 0
        elif element.tag in {"li", "dd"}:
            around = next((outer for outer in reversed(self.stack) if outer.group), None)
            line.kind = "item"
            if around is not None:
                around.counter += 1
                line.group = around.group
                line.label = list_marker(around.list_type, around.counter)
                line.kind = "option" if around.markup.options else "item"
        elif self.stack and self.stack[-1].markup.options:
            line.kind, line.group = "option", self.stack[-1].group

    def _container(self) -> int:
        """Return the group of the enclosing element, shared by options that are its siblings."""
        for element in reversed(self.stack):
            inner = element.tag in {"li", "p", "label"} or element.markup.option
            if element.tag in BLOCKS and not inner:
                if not element.group:
                    self.groups += 1
                    element.group = self.groups
                return element.group
        return 0

    def _input(self, attributes: Attributes) -> None:
        kind = (attributes.get("type") or "").lower()
        if kind not in {"radio", "checkbox"}:
            return
        self.out.start_option()
        line = self.out.line
        name = attributes.get("name") or ""
        if kind == "radio" and name:
            line.group = self.names.setdefault(name, len(self.names) + 1_000_000)
        elif not line.group:
            line.group = self._container()
        line.value = attributes.get("value")
        marked = markup("input", attributes)
        line.marks |= marked.marks - {"answer"}
        if marked.affirms:
            line.marks.add("correct")
        boxed = kind == "checkbox" and "disabled" in attributes
        if "checked" in attributes:
            line.marks.add("ticked" if boxed else "checked")
        elif boxed:
            line.marks.add("unticked")

    def _void(self, tag: str, attributes: Attributes) -> None:
        if tag == "input":
            self._input(attributes)
        elif tag == "br":
            self.out.flush()
        elif tag == "hr":
            self.out.end_block()
        elif tag == "img" and (attributes.get("alt") or "").lower() in {"correct", "tick", "check"}:
            self.out.line.marks.add("correct")

    def _leave(self) -> None:
        element = self.stack.pop()
        out, tag, marked = self.out, element.tag, element.markup
        same_line = element.first == len(out.lines)
        if marked.emphasis:
            out.end(marked.emphasis)
        if tag == "sup":
            out.superscript_from(element.start if same_line else 0)
        elif tag in {"span", "b", "strong", "em", "i", "label", "div", "td"}:
            out.end_label(element.start if same_line else -1)
        if marked.marks or marked.flag is not None:
            self._mark(element)
        if tag in BLOCKS or marked.option or marked.options:
            if tag == "li":
                out.end_item()
            out.end_block()
        if marked.speaker:
            out.region = out.region[:-1]

    def _mark(self, element: _Element) -> None:
        """Mark the line of an element; an element around several lines becomes a container."""
        out, marked = self.out, element.markup
        if len(out.lines) - element.first > _MOST_LINES:
            return
        touched = out.lines[element.first :] + [out.line] * bool(out.length)
        if element.start and len(touched) > 1:
            touched = touched[1:]  # the element began behind the text of another
        if len(touched) <= 1:
            line = touched[0] if touched else out.line
            line.marks |= marked.marks | ({"correct"} if marked.affirms else set())
            return
        if marked.flag:
            self.containers.append(
                Container(element.first, element.first + len(touched), marked.flag)
            )
        for line in touched:
            line.marks |= marked.marks & {"answer", "passage"}
