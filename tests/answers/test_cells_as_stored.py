"""Cells of answer files, whatever type they are stored as: what is read, and what is marked bad."""

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchwright.answers.answer_tables import (
    MAX_OPTIONS,
    Cells,
    column_kind,
    number_lists,
    numbers,
    options,
    text_lists,
    texts,
)
from benchwright.core.errors import InputError


def column(values: list[Any], kind: pa.DataType | None = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, kind)])


def read(cells: Cells) -> list[Any]:
    """The values, None for NaN and "bad" where a cell cannot be read."""
    return [
        "bad" if bad else None if value is None or math.isnan(value) else value
        for value, bad in zip(cells.content, cells.bad, strict=True)
    ]


MISSING = ["", " ", "nan", "NaN", "NA", "n/a", "None", "null", "<NA>", None]


@pytest.mark.parametrize("read_column", [numbers, options])
def test_spellings_of_missing_values_are_missing_and_not_invalid(read_column: Any) -> None:
    assert read(read_column(column(MISSING))) == [None] * len(MISSING)
    assert read(read_column(column([None, None], pa.null()))) == [None, None]


def test_texts_are_read_as_numbers_or_booleans_or_marked_bad() -> None:
    cells = numbers(column(["1", " 0.5 ", "TRUE", "false", "1e2", "x", "B", "-1", "1"]))
    assert read(cells) == [1, 0.5, 1, 0, 100, "bad", "bad", -1, 1]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.float32(), pa.float64()])
def test_numbers_of_any_width_are_read(kind: pa.DataType) -> None:
    assert read(numbers(column([1, None, 0], kind))) == [1, None, 0]


def test_booleans_are_zero_or_one_and_other_types_are_bad() -> None:
    assert read(numbers(column([True, None, False]))) == [1, None, 0]
    assert read(numbers(column([[1], None]))) == ["bad", None]
    assert read(numbers(column([{"a": 1}, None]))) == ["bad", None]
    assert read(numbers(column([2**53 + 1, -(2**63)]))) == [2**53, -(2**63)]


def test_options_are_letters_or_indices() -> None:
    message = [
        "A",
        " z ",
        "a",
        "0",
        "25",
        "-1",
        "-2",
        "1.5",
        "AB",
        "BA",
        "c, A",
        "[1, 3]",
        '["A"]',
        "[1.5]",
        "[",
        "{",
        "true",
        "é",
        "1.0",
        "@",
    ]
    cells = options(column(message))
    assert read(cells) == [
        *(0, 25, 0, 0, 25, None, "bad", "bad"),
        *(None, "bad", None, None, 0, "bad"),
        *("bad", "bad", "bad", "bad", 1, "bad"),
    ]
    assert cells.several is not None
    assert [named for named in cells.several if named] == [(0, 1), (0, 2), (1, 3)]


def test_option_indices_are_integers_below_a_thousand() -> None:
    stored = [0.0, float(MAX_OPTIONS - 1), float(MAX_OPTIONS), -1.0, -2.0, -1.5, 0.5, math.inf]
    assert read(options(column(stored))) == [
        *(0, MAX_OPTIONS - 1, "bad", None, "bad", "bad", "bad", "bad")
    ]
    assert read(options(column([math.nan, None]))) == [None, None]


def test_lists_of_numbers_may_be_json() -> None:
    as_texts = ["[1, 2.5]", " [-1]", "", " NA ", "[]", "[1", "[true]", '["1"]', "3", None]
    result = number_lists(column(as_texts))
    assert list(result.content) == [[1.0, 2.5], [-1.0], *[None] * 8]
    assert result.bad.tolist() == [*[False] * 4, *[True] * 5, False]
    huge = number_lists(column([f"[{10**400}]", "[NaN]", "[" * 20_000]))
    assert huge.bad.tolist() == [False, False, True]
    stored = number_lists(column([[1, 2], [], None, [None]], pa.list_(pa.int64())))
    assert list(stored.content) == [[1.0, 2.0], None, None, None]
    assert stored.bad.tolist() == [False, True, False, True]
    assert number_lists(column([[True]])).bad.tolist() == [True]


def test_lists_of_texts_may_be_json() -> None:
    result = text_lists(column([json.dumps(["a", "é"]), '["a", 1]', "a", None, "[]"]))
    assert list(result) == [("a", "é"), None, None, None, ()]
    assert list(text_lists(column([["a"], None, []]))) == [("a",), None, ()]


def test_texts_are_verbatim_and_integers_become_digits() -> None:
    assert list(texts(column(["01", " x", "NA", None]), "f")) == ["01", " x", "NA", None]
    assert list(texts(column([7, None, -1]), "f")) == ["7", None, "-1"]
    packed = pa.chunked_array([pa.array(["a", None, "a"]).dictionary_encode()])
    assert list(texts(packed, "f")) == ["a", None, "a"]
    assert list(texts(column([None], pa.null()), "f")) == [None]
    for odd in ([1.5], [True], [["a"]], [{"a": 1}]):
        with pytest.raises(InputError, match=r"^f: expected text, got type "):
            texts(column(odd), "f")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (pa.null(), "empty"),
        (pa.bool_(), "number"),
        (pa.float16(), "number"),
        (pa.large_string(), "text"),
        (pa.string_view(), "text"),
        (pa.dictionary(pa.int32(), pa.string()), "text"),
        (pa.list_(pa.int8(), 2), "list"),
        (pa.large_list(pa.int8()), "list"),
        (pa.binary(), "other"),
        (pa.timestamp("s"), "other"),
        (pa.decimal128(10), "other"),
    ],
)
def test_column_types_are_recognised(kind: pa.DataType, message: str) -> None:
    assert column_kind(pa.chunked_array([], type=kind)) == message


def test_dictionary_encoded_texts_are_read() -> None:
    packed = pa.chunked_array([pa.array(["B", None, "B", "x"]).dictionary_encode()])
    assert read(options(packed)) == [1, None, 1, 23]
    assert read(numbers(packed)) == ["bad", None, "bad", "bad"]
    assert np.asarray(options(packed).bad).dtype == np.bool_
