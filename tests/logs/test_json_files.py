import json
import math
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.errors import InputError
from benchwright.logs import json_files
from benchwright.logs.json_files import array_elements, members

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.fixture(scope="module", name="file")
def _file() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        yield Path(folder, "a.json")


@given(st.lists(VALUES), st.sampled_from([None, 2]), st.integers(1, 40))
def test_elements_are_those_of_json(
    file: Path, values: list[Any], indent: int | None, chunk: int
) -> None:
    file.write_text(json.dumps(values, indent=indent))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_files, "_CHUNK", chunk)
        assert list(array_elements(file)) == values


@given(st.dictionaries(st.text(), st.lists(VALUES), max_size=4), st.integers(1, 40))
def test_members_are_those_of_json(file: Path, values: dict[str, list[Any]], chunk: int) -> None:
    file.write_text(json.dumps(values))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_files, "_CHUNK", chunk)
        assert dict(members(file)) == values
        each = list(members(file, frozenset(values)))
    assert each == [(key, value) for key, value_list in values.items() for value in value_list]


def test_a_comma_before_the_end_of_a_member_is_refused(file: Path) -> None:
    file.write_text('{"a": [1,]}')
    with pytest.raises(InputError, match="a 2: not valid JSON"):
        list(members(file, frozenset("a")))


def test_nan_and_infinity_are_numbers(file: Path) -> None:
    file.write_text("[NaN, -Infinity,\n1]")
    nan, infinite, plain = array_elements(file)
    assert (math.isnan(nan), infinite, plain) == (True, -math.inf, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "after the start: expected ["),
        ("", "after the start: expected ["),
        ('[{"a": 1}, {"b": ', "element 2: the text ends early"),
        ('[{"a": 1} {"b": 2}]', "after element 1: expected , or ], got '{'"),
        ("[1, x]", "element 2: not valid JSON"),
        ('["' + "a" * 200 + '"]', "element 1: longer than 100 characters"),
        ("[" * 100_000, "element 1: longer than 100 characters"),
        ("[1,]", "element 2: not valid JSON"),
    ],
)
def test_broken_arrays_are_reported(
    file: Path, text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_files, "LARGEST_ELEMENT", 100)
    monkeypatch.setattr(json_files, "_CHUNK", 50)
    file.write_text(text)
    with pytest.raises(InputError) as error:
        list(array_elements(file))
    assert message in str(error.value)
