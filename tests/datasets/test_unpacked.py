"""Bounds of packed files and tables, to the byte."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.core import verbatim
from benchwright.core.errors import InputError
from benchwright.core.verbatim import opened, read_errors, read_parquet, utf8_text


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf_16_is_reported(mark: bytes) -> None:
    with pytest.raises(InputError, match=r"^the file is UTF-16; save it as UTF-8$"):
        utf8_text(mark + b"\0a")


def test_compressed_files_may_expand_up_to_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"x" * 100_000
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(content))
    monkeypatch.setattr(verbatim, "EXPANSION", 10)
    for slack, whole in ((len(content) - 10 * path.stat().st_size, True), (-1, False)):
        monkeypatch.setattr(verbatim, "SLACK", slack)
        with opened(path) as stream:
            if whole:
                assert stream.read() == content
                continue
            with pytest.raises(ValueError, match=r"^more than [0-9,]+ bytes uncompressed"):
                stream.read()


def test_limit_of_a_large_file_is_a_multiple_of_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": ["x" * 1_000] * 100}), path)
    monkeypatch.setattr(verbatim, "TABLE_SLACK", 0)
    assert read_parquet(path).num_rows == 100
    monkeypatch.setattr(verbatim, "EXPANSION", 1)
    with pytest.raises(
        InputError, match=r"a\.parquet: more than [0-9,]+ bytes in memory; split the file"
    ):
        read_parquet(path)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "cannot be read: MemoryError"),
        (MemoryError("no\n  room"), "cannot be read: no room"),
        (EOFError(), "cannot be read: EOFError"),
        (ValueError("x" * 900), f"cannot be read: {'x' * 200}"),
        (InputError("no column 'a'"), "no column 'a'"),
    ],
)
def test_errors_of_libraries_become_one_line(error: Exception, message: str) -> None:
    path = Path("some") / "file.csv"
    with pytest.raises(InputError) as caught, read_errors(path):
        raise error
    assert str(caught.value) == f"{path}: {message}"
    with pytest.raises(InputError) as again, read_errors(path):
        raise InputError(f"{path}: said already")
    assert str(again.value) == f"{path}: said already"


def test_programming_errors_are_not_reported_as_broken_files() -> None:
    with pytest.raises(KeyError), read_errors(Path("file")):
        raise KeyError("ours")


def test_columns_keep_the_requested_order(tmp_path: Path) -> None:
    for rows in (0, 3):
        path = tmp_path / f"{rows}.parquet"
        ids = pa.array(["x"] * rows, pa.string())
        pq.write_table(pa.table({"a": ids, "b": ids, "c": ids}), path)
        for columns in (["c", "a"], ["b"]):
            read = read_parquet(path, columns)
            assert (read.column_names, read.num_rows) == (columns, rows)
        assert read_parquet(path).column_names == ["a", "b", "c"]


def test_compressed_tables_are_read(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "a.parquet")
    path = tmp_path / "a.parquet.gz"
    path.write_bytes(gzip.compress((tmp_path / "a.parquet").read_bytes()))
    assert read_parquet(path).to_pylist() == [{"a": "x"}]


def test_repeated_columns_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    values = pa.array(["x"])
    pq.write_table(pa.Table.from_arrays([values, values], names=["a", "a"]), path)
    with pytest.raises(InputError, match=r"a\.parquet: column 'a' is not unique"):
        read_parquet(path)


@pytest.mark.parametrize("claimed", [2, 4])
def test_wrong_row_counts_in_the_footer_are_rejected(tmp_path: Path, claimed: int) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": ["x", "y", "z"]}), path)
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    messages = set()
    for at in range(footer, len(whole) - 8):
        if whole[at] != 2 * 3:  # 3 as Thrift writes it
            continue
        path.write_bytes(whole[:at] + bytes([2 * claimed]) + whole[at + 1 :])
        try:
            read_parquet(path)
        except InputError as error:
            messages.add(str(error).partition(": ")[2])
    assert f"3 rows, but the footer states {claimed}; write the file again" in messages


def test_invalid_utf_8_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    torn = pa.array([b"caf\xe9"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"a": torn}), path)
    with pytest.raises(InputError, match=r"a\.parquet: cannot be read: .*UTF8"):
        read_parquet(path)


def test_byte_order_mark_is_removed_and_invalid_bytes_are_reported_with_the_line() -> None:
    assert utf8_text(b"\xef\xbb\xbfa") == "a"
    for content, line in ((b"\xff", 1), (b"a\nb\n\xe9", 3)):
        with pytest.raises(InputError, match=rf"^line {line}: not valid UTF-8 \(byte 0x"):
            utf8_text(content)
