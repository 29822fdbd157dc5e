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
_FEW = 4_000
_ATTRIBUTES = 2_000
_LONG_TAG = re.compile(r"<[a-zA-Z][^<]{20000}[^<]*")


def without_deep_tags(text: str) -> str:
    """Return only the text of HTML whose elements are nested more than 2,000 deep.

    Tags with more than 2,000 attributes become text, too. Other HTML is returned unchanged.
    """
    if len(text) > 20_000:
        text = _LONG_TAG.sub(lambda tag: tag[0][tag[0].count("=") > _ATTRIBUTES :], text)
    if text.count("<") < _FEW or not _is_deep(text):
        return text
    parts = []
    for piece in text.split("<"):
        tag, _, rest = piece.partition(">")
        parts.append(rest if len(tag) < 1_000 else piece)
    return "<pre>" + "\n".join(part for part in parts if part.strip()).replace("<", " ") + "</pre>"


def _is_deep(text: str) -> bool:
    depth = 0
    for tag in _TAG.finditer(text):
        if tag[2].lower() not in _FLAT:
            depth = max(depth + (-1 if tag[1] else 1), 0)
            if depth > _DEEPEST:
                return True
    return False


Attributes = Mapping[str, str | None]

_WORDS = {
    "options": {"options", "choices", "alternatives"},
    "option": {"option", "opt", "choice", "alternative", "distractor"},
    "answer": {
        "answer", "ans", "solution", "back", "key", "reveal", "rightanswer", "correctanswer",
    },
}  # fmt: skip
_WRONG = {"incorrect", "wrong", "false"}
_RIGHT = {"right", "true"}  # also names of columns and switches
_NAMES = {
    "passage": {"passage", "stimulus", "reading-passage", "reading-text", "passage-text"},
    "speaker": {
        "comment", "comments", "comment-list", "commentlist", "comment-body", "reply", "replies",
        "post", "message", "forum-post", "topic-post", "discussion", "disqus_thread", "responses",
    },
    "menu": {
        "nav", "navbar", "menu", "breadcrumb", "breadcrumbs", "navigation", "pagination",
        "sidebar-nav",
    },
}  # fmt: skip
_MARKS = frozenset({"correct", "wrong", "answer", "passage"})
_ITEMPROP = {"acceptedanswer": "correct", "suggestedanswer": "option"}
_FLAGS = frozenset({
    "data-correct", "data-is-correct", "data-iscorrect", "data-right", "data-answer",
    "data-correct-answer", "data-correctanswer", "data-correct-option", "data-correct-index",
    "data-right-answer", "data-solution", "data-ans", "data-correct-choice",
})  # fmt: skip
_YES = frozenset({"true", "yes", "correct", "right", "y", ""})
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
    """The meaning of the name and the attributes of an element."""

    marks: frozenset[str] = frozenset()  # of its text, as in `Line.marks`
    # option, options: it is an option, or contains the options
    option: bool = False
    options: bool = False
    # value of an attribute that names the correct option or affirms this one
    flag: str | None = None
    binary: bool = False  # 1 and 0 in `flag` may mean right and wrong
    emphasis: str = ""  # `bold`, `italic`, `colour` or ""
    speaker: bool = False  # it is a post or a comment
    menu: bool = False  # it contains links to other pages

    @property
    def affirms(self) -> bool:
        """Whether the attribute marks this option as correct."""
        low = (self.flag or "").lower()
        return self.flag is not None and (low in _YES or (self.binary and low == "1"))


_TAGS = {tag: Markup(emphasis=kind) for tag, kind in _EMPHASIS.items()}
_TAGS["nav"] = Markup(menu=True)


def markup(tag: str, attributes: Attributes) -> Markup:
    """Interpret the name and the attributes of an element."""
    by_tag = _TAGS.get(tag, Markup())
    if not attributes:
        return by_tag
    marks: set[str] = set()
    for name in f"{attributes.get('class') or ''} {attributes.get('id') or ''}".split():
        marks |= _meaning(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower())  # is-correct
    prop = _ITEMPROP.get((attributes.get("itemprop") or "").lower())
    if prop:
        marks |= {prop, "option"}
    if (attributes.get("aria-label") or "").lower() in {"correct", "correct answer"}:
        marks.add("correct")
    flags = [key for key in attributes if key in _FLAGS]
    return Markup(
        frozenset(marks & _MARKS),
        "option" in marks,
        "options" in marks,
        (attributes[flags[0]] or "").strip() if flags else None,
        any("correct" in key or "right" in key for key in flags),
        by_tag.emphasis or _emphasis(tag, attributes),
        "speaker" in marks,
        by_tag.menu or "menu" in marks or attributes.get("role") == "navigation",
    )


@lru_cache(maxsize=4096)
def _meaning(name: str) -> frozenset[str]:
    """Interpret a class or id in lower case with hyphens."""
    words = set(re.split(r"[-_\d]+", name))
    marks = {kind for kind, names in _NAMES.items() if name in names}
    marks |= set([kind for kind, known in _WORDS.items() if words & known][:1])
    if words & _WRONG:
        marks.add("wrong")
    elif "correct" in words or (words & _RIGHT and (marks or "is" in words)):
        marks.add("correct")
    return frozenset(marks)


def _emphasis(tag: str, attributes: Attributes) -> str:
    style = (attributes.get("style") or "").lower()
    if tag == "font" and attributes.get("color"):
        return "colour"
    return "bold" if _BOLD.search(style) else "colour" if _COLOUR.search(style) else ""


def list_type(attributes: Attributes) -> str:
    """Return the numbering of an `<ol>`: `A`, `a`, `I`, `i`, `1`, or "" for none."""
    style = _LIST_STYLE.search((attributes.get("style") or "").lower())
    for name in (style[1] if style else "", *(attributes.get("class") or "").lower().split()):
        if name in _LIST_TYPES:
            return _LIST_TYPES[name]
    kind = attributes.get("type") or "1"
    return kind if kind in {"A", "a", "I", "i"} else "1"
