"""Rows as they stand: names in messages, headers, lines and cells of CSV, at their limits."""

import gzip
from pathlib import Path

import pytest

from benchwright.core.errors import InputError
from benchwright.core.verbatim import json_rows, listed, read_csv, read_verbatim


def put(folder: Path, content: str, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode())
    return path


def test_listed_shortens_names_and_lists() -> None:
    assert listed([]) == "nothing"
    assert listed(["a", 1, None]) == "a, 1, None"
    assert listed(["x" * 60]) == "x" * 60
    assert listed(["x" * 61]) == "x" * 59 + "…"
    assert listed(range(30)).endswith(", 28, 29")
    assert listed(range(31)).endswith(", 29, … (31 in total)")
    assert listed(range(2_000)).endswith(", 29, … (2,000 in total)")


def test_json_lines_are_numbered_from_one_including_empty_lines() -> None:
    assert json_rows(['{"a": 1}', " ", "", '{"b": 2}']) == [{"a": 1}, {"b": 2}]
    with pytest.raises(InputError, match=r"^line 1: not valid JSON: "):
        json_rows(["{"])
    with pytest.raises(InputError, match=r"^line 3: expected an object, got '3'$"):
        json_rows(["", "{}", " 3 "])


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ('"a,b"\nx\n', ["a,b"]),
        ("a;b,c\nx,y\n", ["a;b", "c"]),
        ("a\n", ["a"]),
        ("a,b\n", ["a", "b"]),
        ("", []),
    ],
)
def test_headers_are_checked(tmp_path: Path, content: str, columns: list[str]) -> None:
    assert read_csv(put(tmp_path, content)).columns.tolist() == columns


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "a;b\n1;2\n", "'a;b'; separate cells by commas, not semicolons"),
        ("a.csv", "a\tb\n1\t2\n", "separate cells by commas, not tabs"),
        ("a.tsv", "a;b\n1;2\n", "separate cells by tabs, not semicolons"),
        ("a.tsv", "a,b\n1,2\n", "separate cells by tabs, not commas"),
    ],
)
def test_other_delimiters_are_reported(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    with pytest.raises(InputError, match=rf"{name}: line 1 has a single cell, '.*'; ") as caught:
        read_verbatim(put(tmp_path, content, name))
    assert message in str(caught.value)


def test_line_ends_in_cells_are_kept_and_short_rows_lack_cells(tmp_path: Path) -> None:
    read = read_csv(put(tmp_path, '\ufeffa,b\r\n"x\r\ny\rz",\r\n\r\n1\r\n'))
    assert read.to_numpy().tolist() == [["x\r\ny\rz", ""], ["1", None]]


def test_invalid_quotes_are_rejected(tmp_path: Path) -> None:
    for content in ('a,b\n"x"y,1\n', 'a,b\nx,"1\n'):
        with pytest.raises(InputError, match=r"a\.csv: line \d+: "):
            read_csv(put(tmp_path, content))


def test_extra_cells_are_reported_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 4: 3 cells for 2 columns"):
        read_csv(put(tmp_path, 'a,b\n"x\ny",1\n1,2,3\n'))


def test_long_cells_are_read(tmp_path: Path) -> None:
    (cell,) = read_csv(put(tmp_path, f"a\n{'x' * 200_000}\n"))["a"]
    assert len(cell) == 200_000


def test_csv_files_of_any_name_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"a\n01\n"))
    assert read_csv(path)["a"].tolist() == ["01"]
    with pytest.raises(InputError, match=r"is missing; .* has a\.gz$"):
        read_csv(tmp_path / "b.csv")
