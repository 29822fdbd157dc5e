"""Values of cells: whether one is missing, and how it is shown."""

import math
from collections.abc import Iterable
from typing import Any

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def lettered(choices: Iterable[str]) -> str:
    """Return the options, each on a line after its letter."""
    return "\n".join(map("{}. {}".format, LETTERS, choices))


def is_missing(value: Any) -> bool:
    """Return whether a cell is None, NaN or pandas' NA; empty text is not missing."""
    import pandas as pd

    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def ascii_surrogates(text: str) -> str:
    """Escape lone surrogates, which JSON allows but UTF-8 does not."""
    return text.encode("utf-8", "backslashreplace").decode()


def format_value(value: Any, length: int = 60) -> str:
    """Format a value for a message: quoted, on one line, truncated to `length` characters."""
    text = ascii_surrogates(repr(value))
    return text if len(text) <= length else f"{text[: length - 1]}…"


def escape_controls(text: str) -> str:
    """Return text on one line, in which control characters are written as escapes."""
    return "".join(c if c.isprintable() or c == " " else repr(c)[1:-1] for c in text)
