"""Letters of the options of an item."""

from collections.abc import Iterable

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def lettered(choices: Iterable[str]) -> str:
    """Return the options, each on a line after its letter."""
    return "\n".join(map("{}. {}".format, LETTERS, choices))
