"""Options named by text, letter or index."""

from collections.abc import Sequence

from benchwright.core.values import LETTERS

_AROUND_LETTER = "().:* "


def are_letters(choices: Sequence[str]) -> bool:
    """Return whether options are only their own letters, `A`, ` B` or `(C)`, in order."""
    return bool(choices) and all(
        text.strip(_AROUND_LETTER) == letter for text, letter in zip(choices, LETTERS, strict=False)
    )


def letter_position(text: str, count: int) -> int:
    """Return the position of a letter (`B`, ` b`, `(B)`, `B.`), or −1."""
    letter = text.strip(_AROUND_LETTER).upper()
    position = LETTERS.find(letter) if len(letter) == 1 else -1
    return position if position < count else -1


def option_position(value: object, choices: Sequence[str], count: int = 0) -> int:
    """Return the position of the option that a text, letter or 0-based index names, else −1.

    A text counts before a letter, and a letter before an index. A letter that is also the text of
    another option is ambiguous.

    Args:
        value: as found in a log.
        choices: texts of the options, in the order that letters and indices refer to.
        count: number of options where `choices` is empty.
    """
    count = len(choices) or count
    if isinstance(value, bool) or value is None:
        return -1
    if isinstance(value, int):
        return value if 0 <= value < count else -1
    text = str(value).strip()
    same = [position for position, choice in enumerate(choices) if choice.strip() == text]
    by_letter = letter_position(text, count)
    if len(same) == 1 and by_letter in (-1, same[0]):
        return same[0]
    if same:
        return -1
    if by_letter >= 0:
        return by_letter
    is_index = len(text) <= len(str(count)) and text.isascii() and text.isdigit()
    return int(text) if is_index and int(text) < count else -1
