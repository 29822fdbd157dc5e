"""What names, classes and attributes of HTML elements say about the text in them."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

Attributes = Mapping[str, str | None]

_RIGHT = re.compile(
    r"(?:(?:is|was|option|choice|answer|opt|ans|quiz|mcq?)[-_]*)?(?:correct|right|true)"
    r"(?:[-_]*(?:is|answer|option|choice|ans|item|one))?"
)
_WRONG = re.compile(r"(?:[a-z]+[-_]+)?(?:incorrect|wrong|false)(?:[-_]+[a-z]+)?")
_AMBIGUOUS = frozenset({"right", "true"})  # also names of columns and switches
_OPTION = re.compile(
    r"(?:[a-z]+[-_]+){0,3}(?:option|opt|choice|alternative|distractor)"
    r"(?:[-_]*(?:item|text|row|label|container|wrapper|content|body|[a-f]|[0-9]{1,2}))?"
)
_OPTIONS = re.compile(
    r"(?:[a-z]+[-_]+){0,3}(?:options|choices|alternatives|answer[-_]?(?:list|options|choices))"
    r"(?:[-_]+[a-z]+)?"
)
_ANSWER = re.compile(
    r"(?:[a-z]+[-_]+){0,3}(?:answer|ans|solution|back|key|reveal|rightanswer|correctanswer)"
    r"(?:[-_]+(?:text|box|block|content|body|line|key|reveal|value|side|hidden))?"
)
_SPEAKER = frozenset(
    [
        "comment",
        "comments",
        "comment-list",
        "commentlist",
        "comment-body",
        "reply",
        "replies",
        "post",
        "message",
        "forum-post",
        "topic-post",
        "discussion",
        "disqus_thread",
        "responses",
    ]
)
_PASSAGE = frozenset(
    ["passage", "stimulus", "reading-passage", "extract", "reading-text", "passage-text"]
)
_MENU = frozenset(
    [
        "nav",
        "navbar",
        "menu",
        "breadcrumb",
        "breadcrumbs",
        "navigation",
        "pagination",
        "sidebar-nav",
    ]
)
_NAMED = {"passage": _PASSAGE, "speaker": _SPEAKER, "menu": _MENU}
_MARKS = frozenset({"correct", "right", "wrong", "answer", "passage"})
_ITEMPROP = {"acceptedanswer": "correct", "suggestedanswer": "option"}
_FLAGS = frozenset(
    [
        "data-correct",
        "data-is-correct",
        "data-iscorrect",
        "data-right",
        "data-answer",
        "data-correct-answer",
        "data-correctanswer",
        "data-correct-option",
        "data-correct-index",
        "data-right-answer",
        "data-solution",
        "data-ans",
        "data-correct-choice",
    ]
)
YES = frozenset({"true", "yes", "correct", "right", "y", ""})
_COLOUR = re.compile(r"(?:^|[;\s])(?:background(?:-color)?|color)\s*:")
_BOLD = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)")
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*([a-z-]+)")
_LIST_TYPES = {
    "upper-alpha": "A", "upper-latin": "A", "lower-alpha": "a", "lower-latin": "a",
    "upper-roman": "I", "lower-roman": "i", "decimal": "1", "none": "",
}  # fmt: skip
_EMPHASIS = {
    "b": "bold", "strong": "bold", "mark": "bold", "u": "bold", "ins": "bold",
    "i": "italic", "em": "italic",
}  # fmt: skip


class Markup(NamedTuple):
    """What one element says.

    Attributes:
        marks: of the text in it, as in `Line.marks`.
        option, options: it is an option, or holds them.
        flag: value of an attribute that says which option is right, or whether this one is.
        binary: 1 and 0 in `flag` may mean right and wrong.
        emphasis: `bold`, `italic`, `colour` or "".
        speaker: a post or a comment. menu: links to other pages.
    """

    marks: frozenset[str] = frozenset()
    option: bool = False
    options: bool = False
    flag: str | None = None
    binary: bool = False
    emphasis: str = ""
    speaker: bool = False
    menu: bool = False


PLAIN = Markup()
_TAGS = {tag: Markup(emphasis=kind) for tag, kind in _EMPHASIS.items()}
_TAGS["nav"] = Markup(menu=True)


def markup(tag: str, attributes: Attributes) -> Markup:
    """What an element's name and attributes say."""
    found = _TAGS.get(tag, PLAIN)
    if not attributes:
        return found
    says: set[str] = set()
    for name in f"{attributes.get('class') or ''} {attributes.get('id') or ''}".split():
        says |= _said_by(name.lower() if name.islower() else _hyphened(name))
    prop = _ITEMPROP.get((attributes.get("itemprop") or "").lower())
    if prop:
        says |= {prop, "option"}
    if (attributes.get("aria-label") or "").lower() in {"correct", "correct answer"}:
        says.add("correct")
    flags = [key for key in attributes if key in _FLAGS]
    return Markup(
        frozenset(says & _MARKS),
        "option" in says,
        "options" in says,
        (attributes[flags[0]] or "").strip() if flags else None,
        any("correct" in key or "right" in key for key in flags),
        found.emphasis or _face(tag, attributes),
        "speaker" in says,
        found.menu or "menu" in says or attributes.get("role") == "navigation",
    )


@lru_cache(maxsize=4096)
def _said_by(name: str) -> frozenset[str]:
    """What a class or id says, in lower case with hyphens."""
    says = {kind for kind, names in _NAMED.items() if name in names}
    if _RIGHT.fullmatch(name):
        says.add("right" if name in _AMBIGUOUS else "correct")
    elif _WRONG.fullmatch(name):
        says.add("wrong")
    for kind, pattern in (("option", _OPTION), ("options", _OPTIONS), ("answer", _ANSWER)):
        if pattern.fullmatch(name):
            says.add(kind)
            break
    return frozenset(says)


def _face(tag: str, attributes: Attributes) -> str:
    style = (attributes.get("style") or "").lower()
    if tag == "font" and attributes.get("color"):
        return "colour"
    if not style:
        return ""
    return "bold" if _BOLD.search(style) else "colour" if _COLOUR.search(style) else ""


def list_type(attributes: Attributes) -> str:
    """The numbering of an `<ol>`: `A`, `a`, `I`, `i`, `1`, or "" for none."""
    style = _LIST_STYLE.search((attributes.get("style") or "").lower())
    if style and style[1] in _LIST_TYPES:
        return _LIST_TYPES[style[1]]
    for name in (attributes.get("class") or "").lower().split():
        if name in _LIST_TYPES:
            return _LIST_TYPES[name]
    kind = attributes.get("type") or "1"
    return kind if kind in {"A", "a", "I", "i", "1"} else "1"


def _hyphened(name: str) -> str:
    """`isCorrect` as `is-correct`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
