"""A table as lines of text."""

from collections.abc import Mapping, Sequence
from typing import Any


def table_lines(rows: Sequence[Mapping[Any, Any]]) -> list[str]:
    """Return a table whose first line names the columns; lists and mappings as their names."""
    lines = [list(rows[0])] if rows else []
    lines += [[*map(_text, row.values())] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return ", ".join(value) if isinstance(value, list | dict) else str(value)
