"""Fast iteration over columns: element by element, Arrow makes a scalar for each text."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

_ROWS = 1 << 15


def cells(column: "pd.Series[Any]") -> Iterator[Any]:
    """Yield the values of a column as Python objects, converted part by part."""
    for start in range(0, len(column), _ROWS):
        yield from column.iloc[start : start + _ROWS].tolist()


def records(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows as dicts, converted part by part."""
    for start in range(0, len(frame), _ROWS):
        yield from frame.iloc[start : start + _ROWS].astype(object).to_dict("records")  # type: ignore[misc]
