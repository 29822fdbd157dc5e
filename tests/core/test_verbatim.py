"""Rows as they stand: texts, tables and errors of files, and the limit of their size."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.feather import write_feather

from benchwright.core.errors import InputError
from benchwright.core.verbatim import (
    json_rows,
    listed,
    read_bytes,
    read_columnar,
    read_errors,
    read_parquet,
    read_verbatim,
    unpack,
    utf8_text,
)


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
    assert read_verbatim(put(tmp_path, content)).columns.tolist() == columns


def test_line_ends_in_cells_are_kept_and_short_rows_lack_cells(tmp_path: Path) -> None:
    read = read_verbatim(put(tmp_path, '\ufeffa,b\r\n"x\r\ny\rz",\r\n\r\n1\r\n'))
    assert read.to_numpy().tolist() == [["x\r\ny\rz", ""], ["1", None]]


def test_invalid_quotes_are_rejected(tmp_path: Path) -> None:
    for content in ('a,b\n"x"y,1\n', 'a,b\nx,"1\n'):
        with pytest.raises(InputError, match=r"a\.csv: line \d+: "):
            read_verbatim(put(tmp_path, content))


def test_extra_cells_are_reported_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 4: 3 cells for 2 columns"):
        read_verbatim(put(tmp_path, 'a,b\n"x\ny",1\n1,2,3\n'))


JSON = {
    "a list": '[{"id": "01", "n": 1}, {"id": "02"}]',
    "a list over lines": '\n [{"id": "01",\n "n": 1}, {"id":\n "02"}]\n',
    "lines": '{"id": "01", "n": 1}\n{"id": "02"}\n',
}


@pytest.mark.parametrize("name", JSON)
def test_json_may_be_a_list_or_lines(tmp_path: Path, name: str) -> None:
    read = read_verbatim(put(tmp_path, JSON[name], "a.json"))
    assert read.to_dict("records") == [{"id": "01", "n": 1}, {"id": "02", "n": None}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"id": 1}, 2]', "entry 2: expected an object, got 2"),
        ('[{"id": 1}', "cannot be read: Expecting"),
        ("[" * 100_000, "cannot be read: maximum recursion depth exceeded"),
    ],
)
def test_json_without_rows_is_rejected(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"a\.json: {message}"):
        read_verbatim(put(tmp_path, content, "a.json"))


def test_files_are_read_up_to_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, table = tmp_path / "a.csv.gz", tmp_path / "a.parquet"
    path.write_bytes(gzip.compress(b"x" * 100_000))
    pq.write_table(pa.table({"a": [f"{n:09}" for n in range(9_000)]}), table)
    size = pq.ParquetFile(table).metadata.row_group(0).total_byte_size
    for limit, read in ((100_000, read_bytes), (size, read_parquet)):
        file = path if read is read_bytes else table
        monkeypatch.setattr("benchwright.core.verbatim.LARGEST", limit)
        read(file)
        monkeypatch.setattr("benchwright.core.verbatim.LARGEST", limit - 1)
        with pytest.raises(InputError, match=r"more than [0-9,]+ bytes uncompressed"):
            read(file)


def zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside.csv", content)
    return file.getvalue()


def zstandard(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


PACK = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard,
    "zip": zipped,
}


@pytest.mark.parametrize("suffix", PACK)
def test_packed_files_are_whole_and_within_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    content = np.random.default_rng(0).bytes(5_000)
    packed = PACK[suffix](content)
    path = tmp_path / f"a.CSV.{suffix.upper()}"
    path.write_bytes(packed)
    assert unpack(path) == ("inside.csv" if suffix == "zip" else "a.CSV", content)
    monkeypatch.setattr("benchwright.core.verbatim.LARGEST", 4_999)
    with pytest.raises(InputError, match=r"more than 4,999 bytes uncompressed"):
        read_bytes(path)
    monkeypatch.setattr("benchwright.core.verbatim.LARGEST", 5_000)
    path.write_bytes(packed[:-2_000])
    with pytest.raises(InputError, match=r"a\.CSV\..*: cannot be read: "):
        read_bytes(path)


def test_frames_that_follow_each_other_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.zst"
    path.write_bytes(zstandard(b"a,b\n") + zstandard(b"1,2\n"))
    assert read_verbatim(path).to_dict("records") == [{"a": "1", "b": "2"}]


def test_a_workbook_has_one_sheet_and_needs_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path, "x", "a.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"a\.xlsx: openpyxl is not installed; install it"):
        read_verbatim(path)
    cells = pd.DataFrame([["item_id", "n"], ["01", 1]], dtype=object)
    sheets = {"first": cells, "second": cells[:0]}
    monkeypatch.setattr(pd, "read_excel", lambda *_, **__: sheets)
    assert read_verbatim(path).to_dict("records") == [{"item_id": "01", "n": 1}]
    sheets["second"] = cells
    with pytest.raises(InputError, match=r"a\.xlsx: 2 sheets with cells"):
        read_verbatim(path)


@pytest.mark.parametrize("name", ["a.feather", "a.arrow"])
def test_arrow_files_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = tmp_path / name
    texts = pa.array(["x", "y", "x"])
    write_feather(pa.table({"a": texts.dictionary_encode()}), path)
    assert read_columnar(path).equals(pa.table({"a": texts}))
    monkeypatch.setattr("benchwright.core.verbatim.LARGEST", 1)
    with pytest.raises(InputError, match=r"more than 1 bytes uncompressed; split the file"):
        read_columnar(path)
    monkeypatch.undo()
    write_feather(pa.Table.from_arrays([texts, texts], ["a", "a"]), path, version=2)
    with pytest.raises(InputError, match="column 'a' is not unique"):
        read_columnar(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match=f"{name}: cannot be read: "):
        read_columnar(path)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError("no\n  room"), "cannot be read: no room"),
        (EOFError(), "cannot be read: EOFError"),
        (ValueError("x" * 900), f"cannot be read: {'x' * 200}"),
        (InputError("no column 'a'"), "no column 'a'"),
        (InputError("some/file.csv: said already"), "said already"),
    ],
)
def test_errors_of_libraries_become_one_line(error: Exception, message: str) -> None:
    with pytest.raises(InputError) as caught, read_errors(Path("some/file.csv")):
        raise error
    assert str(caught.value) == f"some/file.csv: {message}"


def test_tables_are_texts_without_dictionaries_also_compressed(tmp_path: Path) -> None:
    texts = pa.array(["x", "y", "x"])
    pq.write_table(pa.table({"a": texts.dictionary_encode()}), tmp_path / "a.parquet")
    path = tmp_path / "a.parquet.gz"
    path.write_bytes(gzip.compress((tmp_path / "a.parquet").read_bytes()))
    assert read_parquet(path).equals(pa.table({"a": texts}))


def test_invalid_tables_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    values = pa.array(["x"])
    pq.write_table(pa.Table.from_arrays([values, values], names=["a", "a"]), path)
    with pytest.raises(InputError, match=r"a\.parquet: column 'a' is not unique"):
        read_parquet(path)
    torn = pa.array([b"caf\xe9"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"a": torn}), path)
    with pytest.raises(InputError, match=r"a\.parquet: cannot be read: .*UTF8"):
        read_parquet(path)


def test_texts_are_utf_8_and_others_are_reported_with_the_line() -> None:
    assert utf8_text(b"\xef\xbb\xbfa") == "a"
    for content, line in ((b"\xff", 1), (b"a\nb\n\xe9", 3)):
        with pytest.raises(InputError, match=rf"^line {line}: not valid UTF-8 \(byte 0x"):
            utf8_text(content)
    for mark in (b"\xff\xfe", b"\xfe\xff"):
        with pytest.raises(InputError, match=r"^the file is UTF-16; save it as UTF-8$"):
            utf8_text(mark + b"\0a")
