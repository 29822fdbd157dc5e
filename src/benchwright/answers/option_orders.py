"""Relate the options of a log, in its order, to those of an item."""

import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from benchwright.core.configuration import SCORED_AS
from benchwright.logs.options import letter_position
from benchwright.logs.sample import Sample

_MARKUP = re.compile(r"\[.*?\]")
_NO_LETTERS = re.compile(r"[\W_]+")

Orders = dict[str, list[int] | None]
"""The option of each continuation, by style that the continuations allow. The value is None for
written answers; the style is "" if the contexts contain the options."""


def order_of(orders: Orders, style: str) -> list[int] | None:
    """Return the option of each continuation in this style; None if unknown.

    For a style that the continuations do not allow, return the order that all styles agree on.
    """
    order_in_style = orders.get(SCORED_AS.get(style, style))
    if order_in_style is not None:
        return order_in_style
    known = [order for order in orders.values() if order is not None]
    return known[0] if known and all(order == known[0] for order in known) else None


def how_asked(sample: Sample, choices: Sequence[str]) -> Orders:
    """Return the styles that a sample's continuations allow, and the option of each continuation.

    Letters may be `A`, `(A)` or `A.`. Texts are compared without markup, punctuation, case and
    white space if a task has cleaned them. If all continuations are equal, the options must end
    their contexts, and the style has no name.
    """
    continuations = sample.continuations
    if continuations is None:
        return {"generate": None}
    if sample.contexts is not None and len(sample.contexts) == len(choices):
        ends = zip(sample.contexts, choices, strict=True)
        if all(context.rstrip().endswith(choice.strip()) for context, choice in ends):
            return {"": list(range(len(choices)))}
    places = list(range(len(choices)))
    letters = [letter_position(text, len(choices)) for text in continuations]
    texts = matched(map(plain_text, continuations), map(plain_text, choices))
    if texts is None:
        bare = [bare_text(text) for text in choices]
        if len(set(bare)) == len(bare) and all(bare):
            texts = matched(map(bare_text, continuations), bare)
    orders = {"letters": letters if sorted(letters) == places else None, "cloze": texts}
    return {style: order for style, order in orders.items() if order is not None}


def matched(texts: Iterable[str], among: Iterable[str]) -> list[int] | None:
    """Return where each text is in `among`, equal ones in order; None unless all are matched.

    >>> matched(["b", "a", "a"], ["a", "b", "a"])
    [1, 0, 2]
    """
    places: dict[str, deque[int]] = defaultdict(deque)
    count = 0
    for count, text in enumerate(among, start=1):
        places[text].append(count - 1)
    order = [places[text].popleft() if places[text] else -1 for text in texts]
    return order if len(order) == count and -1 not in order else None


def plain_text(text: str) -> str:
    """Return text in NFC without white space around it."""
    return unicodedata.normalize("NFC", text).strip()


def bare_text(text: str) -> str:
    """Return text without bracketed markup, punctuation, case and white space."""
    return _NO_LETTERS.sub("", _MARKUP.sub("", plain_text(text)).casefold())
