"""A table as lines of text."""

from collections.abc import Mapping, Sequence
from typing import Any


def table_lines(rows: Sequence[Mapping[Any, Any]]) -> list[str]:
    """Return a table whose first line names the columns; lists and mappings as their names."""
    cells = [list(rows[0])] if rows else []
    cells += [[_text(value) for value in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]


def _text(value: Any) -> str:
    return (
        ", ".join(value) if isinstance(value, list | dict) else "–" if value is None else str(value)
    )
