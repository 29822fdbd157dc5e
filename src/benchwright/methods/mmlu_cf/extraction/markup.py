"""Markup of HTML that marks questions: names and classes of elements."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,15})")
_FLAT = frozenset({
    "p", "li", "td", "th", "tr", "dt", "dd", "option", "input", "img", "br", "hr", "wbr",
    "meta", "link", "col", "source", "thead", "tbody", "tfoot",
})  # fmt: skip
_DEEPEST = 2_000
_ATTRIBUTES = 2_000
_LONG_TAG = re.compile(r"<[a-zA-Z][^<]{20000}[^<]*")


def without_deep_tags(text: str) -> str:
    """Return only the text of HTML whose elements are nested more than 2,000 deep.

    Tags with more than 2,000 attributes become text, too. Other HTML is returned unchanged.
    """
    text = _LONG_TAG.sub(lambda tag: tag[0][tag[0].count("=") > _ATTRIBUTES :], text)
    depth = 0
    for tag in _TAG.finditer(text) if text.count("<") > _DEEPEST else ():
        if tag[2].lower() not in _FLAT:
            depth = max(depth + (-1 if tag[1] else 1), 0)
        if depth > _DEEPEST:
            return "<pre>" + re.sub(r"<[^<>]{0,1000}>", "\n", text).replace("<", " ")
    return text


Attributes = Mapping[str, str | None]

_OPTION = {"option", "opt", "choice", "alternative", "distractor"}
_ANSWER = {"answer", "ans", "solution", "back", "key", "reveal", "rightanswer", "correctanswer"}
_RIGHT = {"right", "true"}  # also names of columns and switches
_UNREAD = {
    "nav", "navbar", "menu", "breadcrumb", "breadcrumbs", "navigation", "pagination", "comment",
    "sidebar-nav", "comments", "comment-list", "commentlist", "comment-body", "reply", "replies",
    "discussion", "disqus_thread", "responses",
}  # fmt: skip
_MARKS = frozenset({"correct", "answer"})
_COLOUR = re.compile(r"(?:^|[;\s])(?:background(?:-color)?|color)\s*:")
_FLAGS = frozenset({
    "data-correct", "data-is-correct", "data-right", "data-answer", "data-correct-answer",
    "data-correct-option", "data-correct-index", "data-right-answer", "data-solution",
})  # fmt: skip
_YES = frozenset({"true", "yes", "correct", "right", "y", ""})
_EMPHASIS = {
    "b": "bold", "strong": "bold", "mark": "bold", "u": "bold", "ins": "bold",
    "i": "italic", "em": "italic",
}  # fmt: skip


class Markup(NamedTuple):
    """The meaning of the name and the attributes of an element."""

    marks: frozenset[str] = frozenset()  # of its text, as in `Line.marks`
    option: bool = False  # it is an option
    # value of an attribute that names the correct option or affirms this one
    flag: str | None = None
    emphasis: str = ""  # `bold`, `italic`, `colour` or ""
    unread: bool = False  # it contains links to other pages, or comments

    @property
    def affirms(self) -> bool:
        """Whether the attribute marks this option as correct."""
        return self.flag is not None and self.flag.lower() in _YES


_TAGS = {tag: Markup(emphasis=kind) for tag, kind in _EMPHASIS.items()}
_TAGS["nav"] = Markup(unread=True)


def markup(tag: str, attributes: Attributes) -> Markup:
    """Interpret the name and the attributes of an element."""
    by_tag = _TAGS.get(tag, Markup())
    if not attributes:
        return by_tag
    marks: set[str] = set()
    for name in f"{attributes.get('class') or ''} {attributes.get('id') or ''}".split():
        marks |= _meaning(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower())  # is-correct
    coloured = attributes.get("color") or _COLOUR.search((attributes.get("style") or "").lower())
    emphasis = by_tag.emphasis or "colour" * bool(coloured)
    flag = next((value or "" for key, value in attributes.items() if key in _FLAGS), None)
    unread = by_tag.unread or "unread" in marks or attributes.get("role") == "navigation"
    return Markup(frozenset(marks & _MARKS), "option" in marks, flag, emphasis, unread)


@lru_cache(maxsize=4096)
def _meaning(name: str) -> frozenset[str]:
    """Interpret a class or id in lower case with hyphens."""
    words = set(re.split(r"[-_\d]+", name))
    marks = {"unread"} if name in _UNREAD else set()
    if words & (_OPTION | _ANSWER):
        marks.add("option" if words & _OPTION else "answer")
    if words & {"not", "non", "no", "in"}:  # `not-correct`
        return frozenset(marks)
    if "correct" in words or (words & _RIGHT and (marks or "is" in words)):
        marks.add("correct")
    return frozenset(marks)
