"""HTML as lines: blocks and line breaks end a line, markers and marks of the markup are kept."""

from dataclasses import dataclass
from typing import Any

from benchwright.methods.mmlu_cf.extraction.line_builder import LineBuilder
from benchwright.methods.mmlu_cf.extraction.lines import Container, Line, PageText, flat
from benchwright.methods.mmlu_cf.extraction.linked_data import question_lines
from benchwright.methods.mmlu_cf.extraction.markup_marks import (
    YES,
    Attributes,
    Markup,
    list_type,
    markup,
)
from benchwright.methods.mmlu_cf.extraction.option_labels import list_marker
from benchwright.methods.mmlu_cf.extraction.tag_depth import without_deep_tags

_SKIPPED = frozenset(
    [
        "head",
        "script",
        "style",
        "template",
        "svg",
        "iframe",
        "object",
        "canvas",
        "audio",
        "video",
        "textarea",
        "annotation",
    ]
)
BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "button",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "menu",
        "noscript",
        "ol",
        "option",
        "optgroup",
        "p",
        "pre",
        "section",
        "select",
        "summary",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "tr",
        "ul",
        "caption",
    ]
)
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6", "legend", "summary", "dt", "caption"])
_VOID = frozenset(
    [
        "input",
        "img",
        "br",
        "hr",
        "wbr",
        "col",
        "source",
        "track",
        "embed",
        "area",
        "base",
        "link",
        "meta",
        "param",
    ]
)
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
        if said.flag is not None:
            low = said.flag.lower()
            if low in YES or (said.binary and low == "1"):
                out.marks.add("correct")
        if "checked" in attributes:
            boxed = kind == "checkbox" and "disabled" in attributes
            out.marks.add("ticked" if boxed else "checked")
        elif kind == "checkbox" and "disabled" in attributes:
            out.marks.add("unticked")

    def _void(self, tag: str, attributes: Attributes) -> None:
        if tag == "input":
            self._input(attributes)
        elif tag == "br":
            self.out.flush()
        elif tag == "hr":
            self.out.flush()
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
        finished = out.lines[here.first :]
        touched: list[Line | LineBuilder] = [*finished]
        if out.length:
            touched.append(out)
        marks = set(said.marks)
        low = (said.flag or "").lower()
        if said.flag is not None and len(touched) <= 1:
            if low in YES or (said.binary and low == "1"):
                marks.add("correct")
        elif said.flag:
            last = len(out.lines) + bool(out.length)
            self.containers.append(Container(here.first, last, said.flag))
        if len(touched) <= 1:
            (touched[0] if touched else out).marks.update(marks)
        else:
            for one in touched:
                one.marks.update(marks & {"answer", "passage"})


def _superscript(text: str) -> str:
    raised = text.translate(_SUPERSCRIPT)
    return raised if not set(text) - set("0123456789+-−n()") else f"^{text}"
