"""HTML as lines: blocks and line breaks end a line, markers and marks of the markup are kept."""

import re
from collections.abc import Callable
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
    question_lines,
    without_deep_tags,
)
from benchwright.methods.mmlu_cf.extraction.options import is_bare_label, list_marker

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
        if self.length:
            self._append(self._space or _space(text[0], wide))
        self._append(body)
        self._space = _space(text[-1], wide)

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
            self._parts = [text[:at], change(text[at:].strip())]
            self.length = sum(map(len, self._parts))

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
        said = (self.kind, self.block, self.label, self.group, 0, self.marks, emphasis)
        self.lines.append(Line("".join(self._parts), *said, self.region, self.value))
        self._reset()


_SKIPPED = frozenset({
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
_VOID = frozenset({
    "input", "img", "br", "hr", "wbr", "col", "source", "track", "embed", "area", "base",
    "link", "meta", "param",
})  # fmt: skip
_MOST_LINES = 200  # around one question
_SUPERSCRIPT = str.maketrans("0123456789+-−n()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ⁽⁾")


@dataclass(slots=True)
class _Open:
    """An element whose end has not come."""

    tag: str
    said: Markup
    first: int = 0  # lines before it
    at: int = 0  # characters of the line before it
    list_type: str = ""
    counter: int = 0
    group: int = 0


def html_page(text: str) -> PageText:
    """The lines of an HTML document.

    Text in menus (`<nav>` and its like) is left out; whatever is hidden by CSS or in `<details>`
    is not. Parsed as browsers do (HTML5, selectolax), where elements are nested absurdly deep
    without most of them.
    """
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(without_deep_tags(text))
    walk = _Walk()
    if tree.body is not None:
        walk.over(tree.body)
    title = tree.css_first("title")
    lines = walk.out.lines
    if "ld+json" in text:
        for node in tree.css('script[type="application/ld+json"]'):
            lines += question_lines(node.text() or "", first_group=-1 - len(lines))
    return PageText.of(lines, walk.containers, flat(title.text()) if title is not None else "")


class _Walk:
    """One walk over a tree, without recursion."""

    def __init__(self) -> None:
        self.out = LineBuilder()
        self.containers: list[Container] = []
        self.stack: list[_Open] = []
        self.posts = 0
        self.names: dict[str, int] = {}
        self.groups = 0

    def over(self, root: Any) -> None:
        node, depth = root, 0
        while True:
            tag = node.tag or ""
            if tag == "-text":
                self._text(node.text_content or "")
            elif tag[:1].isalpha() and tag not in _SKIPPED and self._enter(tag, node.attributes):
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
        if any(one.tag == "pre" for one in self.stack[-4:]):
            self.out.preformatted(text)
            self.out.marks.add("code")
        else:
            self.out.add(text)

    def _enter(self, tag: str, attributes: Attributes) -> bool:
        """Whether what is inside is read; void elements end here."""
        if tag in _VOID:
            self._void(tag, attributes)
            return False
        said = markup(tag, attributes)
        if said.menu or (tag == "option" and attributes.get("value") == ""):  # "Choose …"
            self.out.flush()
            return False
        out = self.out
        option = said.option and not any(one.said.option for one in self.stack[-6:])
        if tag in BLOCKS or option or said.options:
            out.flush()
            out.new_block()
        if tag in {"td", "th"}:
            out.cell()
        here = _Open(tag, said, len(out.lines), out.length)
        if said.speaker:
            self.posts += 1
            out.region = (*out.region, self.posts)
        self._list(here, attributes)
        self._kind(here, option=option)
        self.stack.append(here)
        if said.emphasis:
            out.begin(said.emphasis)
        return True

    def _kind(self, here: _Open, *, option: bool) -> None:
        out = self.out
        if option or here.tag == "option":
            out.kind, out.group = "option", here.group or self._container() or out.group
        elif here.tag in _HEADINGS:
            out.kind = "heading"
        elif here.tag == "button" and out.kind == "text":
            out.kind = "item"
            out.group = self._container() or out.group

    def _list(self, here: _Open, attributes: Attributes) -> None:
        if here.tag in {"ol", "ul", "select", "dl"} or here.said.options:
            self.groups += 1
            here.group = self.groups
            if here.tag == "ol":
                here.list_type = list_type(attributes)
                start = attributes.get("start") or ""
                here.counter = int(start) - 1 if start.isdecimal() and len(start) < 5 else 0
        elif here.tag in {"li", "dd"}:
            around = next((o for o in reversed(self.stack) if o.group), None)
            out = self.out
            out.kind = "item"
            if around is not None:
                around.counter += 1
                out.group = around.group
                out.label = list_marker(around.list_type, around.counter)
                out.kind = "option" if around.said.options else "item"
        elif self.stack and self.stack[-1].said.options and here.tag != "br":
            self.out.kind, self.out.group = "option", self.stack[-1].group

    def _container(self) -> int:
        """A number for the element around, for options that stand side by side."""
        for one in reversed(self.stack):
            if one.tag in BLOCKS and one.tag not in {"li", "p", "label"} and not one.said.option:
                if not one.group:
                    self.groups += 1
                    one.group = self.groups
                return one.group
        return 0

    def _input(self, attributes: Attributes) -> None:
        kind = (attributes.get("type") or "").lower()
        if kind not in {"radio", "checkbox"}:
            return
        out = self.out
        out.start_option()
        name = attributes.get("name") or ""
        if kind == "radio" and name:
            out.group = self.names.setdefault(name, len(self.names) + 1_000_000)
        elif not out.group:
            out.group = self._container()
        out.value = attributes.get("value")
        said = markup("input", attributes)
        out.marks |= said.marks - {"answer"}
        if said.says_yes:
            out.marks.add("correct")
        boxed = kind == "checkbox" and "disabled" in attributes
        if "checked" in attributes:
            out.marks.add("ticked" if boxed else "checked")
        elif boxed:
            out.marks.add("unticked")

    def _void(self, tag: str, attributes: Attributes) -> None:
        if tag == "input":
            self._input(attributes)
        elif tag in {"br", "hr"}:
            self.out.flush()
            if tag == "hr":
                self.out.new_block()
        elif tag == "img" and (attributes.get("alt") or "").lower() in {"correct", "tick", "check"}:
            self.out.marks.add("correct")

    def _leave(self) -> None:
        here = self.stack.pop()
        out, tag, said = self.out, here.tag, here.said
        if said.emphasis:
            out.end(said.emphasis)
        if tag == "sup":
            out.replace_from(here.at if here.first == len(out.lines) else 0, _superscript)
        elif tag in {"span", "b", "strong", "em", "i", "label", "div", "td"}:
            out.part_of_label(here.at if here.first == len(out.lines) else -1)
        ends = tag in BLOCKS or said.option or said.options
        if said.marks or said.flag is not None:
            self._mark(here)
        if ends:
            if tag == "li":
                out.end_item()
            out.flush()
            out.new_block()
        if said.speaker:
            out.region = out.region[:-1]

    def _mark(self, here: _Open) -> None:
        """Marks the line that an element holds; one around several lines is kept as container."""
        out, said = self.out, here.said
        if len(out.lines) - here.first > _MOST_LINES:
            return
        touched: list[Line | LineBuilder] = [*out.lines[here.first :]]
        if out.length:
            touched.append(out)
        if len(touched) <= 1:
            marks = said.marks | {"correct"} if said.says_yes else said.marks
            (touched[0] if touched else out).marks.update(marks)
            return
        if said.flag:
            last = len(out.lines) + bool(out.length)
            self.containers.append(Container(here.first, last, said.flag))
        for one in touched:
            one.marks.update(said.marks & {"answer", "passage"})


def _superscript(text: str) -> str:
    return f"^{text}" if set(text) - set("0123456789+-−n()") else text.translate(_SUPERSCRIPT)
