"""Options named by text or label."""

import re
from collections.abc import Sequence

from benchwright.core.option_letters import LETTERS

_AROUND_LABEL = "().:* "
_APART = re.compile(r"\(?[A-Z]\)?(?:(?:\s*[,;/&+、，]\s*|\s+(?:and\s+)?)\(?[A-Z]\)?)+", re.I)
_TOGETHER = re.compile("A?B?C?D?E?F?G?H?I?J?")
MOST_SEVERAL = 52
"""Options of which several may be named."""


def are_letters(choices: Sequence[str]) -> bool:
    """Return whether options are only their own letters, `A`, ` B` or `(C)`, in order.

    Of other scripts, each is a single letter: their orders differ by language.

    >>> are_letters(["A", "(B)"]), are_letters(["أ", "ب"]), are_letters(["B", "A"])
    (True, True, False)
    """
    bare = [text.strip(_AROUND_LABEL) for text in choices]
    if all(len(text) == 1 and text.isalpha() and not text.isascii() for text in bare):
        return len(bare) > 1
    return bool(bare) and all(text == letter for text, letter in zip(bare, LETTERS, strict=False))


def letter_position(text: str, count: int) -> int:
    """Return the position of a label (`B`, ` b`, `(B)`, `B.`), or −1.

    After Z come 1, 2, …, as in Inspect.
    """
    label = text.strip(_AROUND_LABEL).upper()
    position = LETTERS.find(label) if len(label) == 1 else -1
    if count > len(LETTERS) and label.isascii() and label.isdigit() and label[0] != "0":
        position = len(LETTERS) - 1 + int(label[:9])
    return position if position < count else -1


def option_position(
    text: str, choices: Sequence[str], count: int = 0, labels: Sequence[str] = ()
) -> int:
    """Return the position of the option that a text or a label names, else −1.

    A text counts before a label. A label that is also the text of another option is ambiguous. A
    number is a label only where `labels` are given (letters else): it may count from 0 or from 1.
    `count` is the number of options where `choices` is empty.
    """
    text = text.strip()
    same = [position for position, choice in enumerate(choices) if choice.strip() == text]
    by_label = letter_position(text, len(choices) or count)
    if labels:
        named = [position for position, label in enumerate(labels) if label.strip() == text]
        by_label = named[0] if len(named) == 1 else -1
    if len(same) == 1 and by_label in (-1, same[0]):
        return same[0]
    return -1 if same else by_label


def several_letters(text: str) -> tuple[int, ...]:
    """Return the options of several letters (`A, C`, `["A", "C"]`, `AC`), () for other texts."""
    named = text.strip("[]{} ").replace('"', "").replace("'", "")
    if not _APART.fullmatch(named) and not (len(named) > 1 and _TOGETHER.fullmatch(named)):
        return ()
    letters = re.findall(r"\b[A-Z]\b", named.upper()) or named
    return tuple(dict.fromkeys(map(LETTERS.index, letters)))


def chosen_options(text: str, choices: Sequence[str], count: int = 0) -> tuple[int, ...]:
    """Return the option that a text or label names, or the several of letters; () for none.

    >>> chosen_options("(B)", ["1", "2"]), chosen_options("A, C", (), 4), chosen_options("so", ())
    ((1,), (0, 2), ())
    """
    position = option_position(text, choices, count)
    if position >= 0:
        return (position,)
    named = several_letters(text)
    is_text = text.strip() in map(str.strip, choices)
    if is_text or max(named, default=MOST_SEVERAL) >= (len(choices) or count):
        return ()
    return tuple(sorted(named))
