"""Values of any type, as found in logs."""

import ast
import math
from typing import Any

from benchwright.core.printable import ascii_surrogates


def as_text(value: object) -> str:
    """Return a text, or a whole number as digits; "" for anything else.

    Lone surrogates, which no file can hold, become ASCII.
    """
    if isinstance(value, str):
        return ascii_surrogates(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def as_number(value: object) -> float:
    """Return a number, also written as text, or a truth value as 0 or 1; NaN for anything else."""
    try:
        return float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        return math.nan


def as_count(value: object) -> int:
    """Return a whole number from 0 to a billion, −1 for anything else."""
    number = math.nan if isinstance(value, bool) else as_number(value)
    return int(number) if 0 <= number <= 1e9 and number.is_integer() else -1


def as_list(value: object) -> list[Any]:
    """Return a list or tuple as a list, [] for anything else."""
    return list(value) if isinstance(value, list | tuple) else []


def as_object(value: object) -> dict[str, Any]:
    """Return a dictionary, {} for anything else."""
    return value if isinstance(value, dict) else {}


def as_literal(text: str) -> Any:
    """Return the value of a Python literal, None for other text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def shared_start(first: str, last: str) -> str:
    """Return the text with which both begin."""
    pairs = enumerate(zip(first, last, strict=False))
    return first[: next((place for place, (a, b) in pairs if a != b), min(len(first), len(last)))]
