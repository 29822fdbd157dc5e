"""Values and texts made printable: for messages, terminals and files in UTF-8."""

from typing import Any


def format_value(value: Any, length: int = 60) -> str:
    """Format a value for a message: quoted, on one line, truncated to `length` characters."""
    text = ascii_surrogates(repr(value))
    return text if len(text) <= length else f"{text[: length - 1]}…"


def ascii_surrogates(text: str) -> str:
    """Escape lone surrogates, which JSON allows but UTF-8 does not."""
    return text.encode("utf-8", "backslashreplace").decode()


def escape_controls(text: str) -> str:
    """Return text on one line, in which control characters are written as escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
