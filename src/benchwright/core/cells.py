"""Cells of tables: missing ones, and those of columns of texts, which Arrow holds in parts.

Iterating over such a column makes a scalar for each text, and taking a few rows of it copies all.
"""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa

_ROWS = 1 << 15


def is_missing(value: Any) -> bool:
    """Return whether a cell is None, NaN or pandas' NA; empty text is not missing."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def cells(column: "pd.Series[Any]") -> Iterator[Any]:
    """Yield the values of a column as Python objects, converted part by part."""
    for start in range(0, len(column), _ROWS):
        yield from column.iloc[start : start + _ROWS].tolist()


def records(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows as dicts, converted part by part."""
    for start in range(0, len(frame), _ROWS):
        yield from frame.iloc[start : start + _ROWS].astype(object).to_dict("records")  # type: ignore[misc]


def in_one_part(texts: "pd.Series[str]") -> pa.LargeStringArray:
    """Return a column of texts as one Arrow array, copied only if it has several parts."""
    array = pa.array(texts, pa.large_string())
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
