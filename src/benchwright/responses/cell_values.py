"""Read the cells of response files from any column type."""

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.logs.options import MOST_SEVERAL, option_code, several_letters

_MISSING = {"", "nan", "na", "n/a", "none", "null", "<na>"}
MAX_OPTIONS = 1_000  # far more than any item has
_TRUTH = {"true": 1.0, "false": 0.0}


class Cells(NamedTuple):
    """Values of one column; `bad` marks unreadable cells."""

    content: NDArray[Any]
    bad: NDArray[np.bool_]


def column_kind(column: pa.ChunkedArray) -> str:
    """Return `empty`, `number`, `text`, `list` or `other`."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    tests: dict[str, tuple[str, ...]] = {
        "empty": ("null",),
        "number": ("integer", "floating", "boolean"),
        "text": ("string", "large_string", "string_view"),
        "list": ("list", "large_list", "fixed_size_list"),
    }
    for name, types in tests.items():
        if any(getattr(pa.types, f"is_{each}")(kind) for each in types):
            return name
    return "other"


def texts(column: pa.ChunkedArray, where: str) -> NDArray[np.object_]:
    """Return texts verbatim, integers as digits, None if missing.

    Equal cells share one object, since a model's name repeats for each item.

    Raises:
        InputError: the column holds other values; the message begins with `where`.
    """
    kind, stored = column_kind(column), column.type
    if kind in ("list", "other") or (kind == "number" and not pa.types.is_integer(stored)):
        raise InputError(f"{where}: expected text, got type {stored}")
    if kind == "empty" or len(column) == 0:
        return np.full(len(column), None, dtype=object)
    if pa.types.is_dictionary(stored):
        column = column.cast(stored.value_type)
    if kind == "text":
        column = column.cast(pa.large_string())  # plain strings are limited to 2 GB per array
    # Merging the dictionaries of many small chunks is slow.
    whole = column.combine_chunks().dictionary_encode()
    known = [None if v is None else str(v) for v in whole.dictionary.to_pylist()]
    distinct = np.array([*known, None], dtype=object)
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(distinct[codes])  # code −1, a missing cell, reads the last entry


def _by_distinct(column: pa.ChunkedArray, read: Callable[[str], float | None]) -> Cells:
    """Read each distinct text once; `read` returns None for unreadable text."""
    codes, distinct = pd.factorize(column.to_pandas())
    understood = [read(str(text).strip()) for text in distinct]
    values = np.array([np.nan if v is None else v for v in understood] + [np.nan])
    bad = np.array([v is None for v in understood] + [False])
    return Cells(values[codes], bad[codes])  # code −1, a missing cell, reads the last entry


def _read_number(text: str) -> float | None:
    folded = text.lower()
    if folded in _MISSING:
        return math.nan
    if folded in _TRUTH:
        return _TRUTH[folded]
    written = text.removesuffix("%").rstrip()
    if written.count(",") == 1 and "." not in written:  # a decimal comma
        written = written.replace(",", ".")
    try:
        return float(written)
    except ValueError:
        return None


def numbers(column: pa.ChunkedArray) -> Cells:
    """Return numbers as float64, NaN if missing; true and false are 1 and 0."""
    kind = column_kind(column)
    if kind == "number":
        # Integers that float64 rounds are out of any valid range.
        values = np.array(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
        return Cells(values, np.zeros(len(values), dtype=bool))
    if kind == "text":
        return _by_distinct(column, _read_number)
    return Cells(np.full(len(column), np.nan), np.asarray(column.is_valid().to_numpy()))


def _read_option(text: str) -> float | None:
    listed = _read_json(text) if text.startswith("[") else None
    if isinstance(listed, list) and len(listed) == 1:
        text = str(listed[0])
    elif isinstance(listed, list) and {*map(type, listed)} == {float}:
        whole = all(0 <= each < MOST_SEVERAL and each == int(each) for each in listed)
        return float(option_code(map(int, listed))) if whole else None
    if text.lower() in _MISSING:
        return math.nan
    if len(text) == 1 and "A" <= text.upper() <= "Z":
        return float(ord(text.upper()) - ord("A"))
    if several := several_letters(text):
        return float(option_code(several))
    number = None if text.lower() in _TRUTH else _read_number(text)
    possible = number is not None and (
        math.isnan(number) or (-1 <= number < MAX_OPTIONS and number == int(number))
    )
    return number if possible else None


def options(column: pa.ChunkedArray) -> Cells:
    """Return options as float64, from letters or 0-based numbers; NaN for −1 and blank.

    Several (`ABC`, `A, C`, `[1, 3]`) are one number, as by `option_code`.
    """
    if column_kind(column) == "list":
        texts_of = (None if v is None else json.dumps(v) for v in column.to_pylist())
        column = pa.chunked_array([pa.array(texts_of, pa.string())])
    values, bad = _by_distinct(column, _read_option)
    return Cells(np.where(values == -1, np.nan, values), bad)


def _read_json(value: Any) -> Any:
    try:
        return json.loads(value, parse_int=float) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


def number_lists(column: pa.ChunkedArray) -> Cells:
    """Return lists of numbers (also written as JSON), None if missing."""
    values = np.empty(len(column), dtype=object)
    bad = np.zeros(len(column), dtype=bool)
    for row, cell in enumerate(column.to_pylist()):
        value = _read_json(cell)
        if isinstance(value, list) and value and {*map(type, value)} <= {int, float}:
            values[row] = [float(v) for v in value]
        else:
            bad[row] = cell is not None and str(cell).strip().lower() not in _MISSING
    return Cells(values, bad)


def text_lists(column: pa.ChunkedArray) -> NDArray[np.object_]:
    """Return tuples of texts (also written as a JSON list), None for anything else."""
    out = np.empty(len(column), dtype=object)
    for row, value in enumerate(map(_read_json, column.to_pylist())):
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            out[row] = tuple(value)
    return out
