"""Bounds on depth and attributes of elements: parsers take quadratic time in both."""

import re

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,15})")
_FLAT = frozenset(
    [
        "p",
        "li",
        "td",
        "th",
        "tr",
        "dt",
        "dd",
        "option",
        "input",
        "img",
        "br",
        "hr",
        "wbr",
        "meta",
        "link",
        "col",
        "source",
        "thead",
        "tbody",
        "tfoot",
    ]
)
_DEEPEST = 2_000
_FEW = 4_000
_ATTRIBUTES = 2_000
_LONG_TAG = re.compile(r"<[a-zA-Z][^<]{20000}[^<]*")


def without_deep_tags(text: str) -> str:
    """The text; if elements are open more than 2,000 deep, without any tag.

    A tag with more than 2,000 attributes is text, too.
    """
    if len(text) > 20_000:
        text = _LONG_TAG.sub(_as_text, text)
    if text.count("<") < _FEW or not _too_deep(text):
        return text
    parts = []
    for piece in text.split("<"):
        tag, _, rest = piece.partition(">")
        parts.append(rest if len(tag) < 1_000 else piece)
    return "<pre>" + "\n".join(part for part in parts if part.strip()).replace("<", " ") + "</pre>"


def _as_text(found: "re.Match[str]") -> str:
    return found[0][1:] if found[0].count("=") > _ATTRIBUTES else found[0]


def _too_deep(text: str) -> bool:
    depth = 0
    for found in _TAG.finditer(text):
        if found[2].lower() in _FLAT:
            continue
        depth = depth - 1 if found[1] else depth + 1
        depth = max(depth, 0)
        if depth > _DEEPEST:
            return True
    return False
