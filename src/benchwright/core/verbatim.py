"""Read files of rows verbatim: text never becomes a number, a boolean or a missing value."""

import bz2
import csv
import gzip
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import pandas as pd
import pyarrow as pa

from benchwright.core.errors import InputError, in_short
from benchwright.core.file_kinds import KINDS, PACKED, is_there, kind_of, may_hold_rows
from benchwright.core.wording import clip_text

LARGEST = 8 << 30
"""Bytes of an uncompressed file that is read at once."""
BROKEN = (
    ValueError, OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
    pa.ArrowException, ArithmeticError, RuntimeError, MemoryError,
)  # fmt: skip
"""Errors that libraries raise for an invalid or incomplete file."""
_NAMES = 30
_NAME = 60
_LONGEST_CELL = 100_000_000  # characters; the default of Python's csv is 131,072
COLUMNAR = (".parquet", ".feather", ".arrow")
"""Kinds that are tables of Arrow."""


@contextmanager
def read_errors(path: Path) -> Iterator[None]:
    """Report any of `BROKEN` in one line that begins with the file, as InputError."""
    try:
        yield
    except InputError as error:
        message = str(error)
        if not message.startswith(str(path)):
            message = f"{path}: {message}"
        raise InputError(message) from error
    except BROKEN as error:
        raise InputError(f"{path}: cannot be read: {in_short(error)}") from error


def utf8_text(content: bytes) -> str:
    """Decode UTF-8, without a byte order mark; InputError with the line if it is none."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError("the file is UTF-16; save it as UTF-8") from error
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"line {line}: not valid UTF-8 (byte 0x{content[error.start]:02x}); save it as UTF-8"
        ) from error


class Unpacked(NamedTuple):
    """A file, or the one in an archive, without what compresses it."""

    name: str
    content: bytes


def unpack(path: Path) -> Unpacked:
    """Return the name and the content of a file, decompressed by its suffix, up to `LARGEST` bytes.

    Raises:
        InputError: it is larger, broken, or an archive with no file or several that may have rows.
    """
    packed = kind_of(path.name).packed
    with read_errors(path):
        if packed == ".zip":
            with zipfile.ZipFile(path) as archive:
                member = _only_member(archive)
                with archive.open(member) as stream:
                    return Unpacked(member, _read_bounded(stream))
        if packed not in _OPENERS:
            return Unpacked(path.name, path.read_bytes())
        with _OPENERS[packed](path) as stream:
            return Unpacked(path.name[: -len(packed)], _read_bounded(stream))


def members_of(path: Path) -> list[str]:
    """Return the names of the files in an archive that may have rows; InputError if broken."""
    with read_errors(path), zipfile.ZipFile(path) as archive:
        return _members(archive)


def _members(archive: zipfile.ZipFile) -> list[str]:
    names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
    return [name for name in names if may_hold_rows(name)]


def _only_member(archive: zipfile.ZipFile) -> str:
    members = _members(archive)
    if len(members) != 1:
        raise InputError(f"an archive of {len(members):,} files of rows; unpack it")
    return members[0]


def _open_zstandard(path: Path) -> IO[bytes]:
    stream: IO[bytes] = pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
    return stream


_OPENERS: Mapping[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _open_zstandard,
}


def _read_bounded(stream: IO[bytes]) -> bytes:
    out = io.BytesIO()
    while chunk := stream.read(1 << 20):
        out.write(chunk)
        if out.tell() > LARGEST:
            raise InputError(f"more than {LARGEST:,} bytes uncompressed; split the file")
    return out.getvalue()


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, as `unpack`."""
    return unpack(path).content


@contextmanager
def opened_parquet(path: Path, stream: IO[bytes] | None = None) -> Iterator[Any]:
    """Open a Parquet file (also packed) or stream; InputError if broken or a column repeats."""
    import pyarrow.parquet as pq

    with read_errors(path):
        source: Any = path if stream is None else stream
        if stream is None and kind_of(path.name).packed:
            source = io.BytesIO(read_bytes(path))
        # Not read_table, which would turn a folder named `model=x` into a column.
        with pq.ParquetFile(source) as file:
            require_unique(file.schema_arrow.names)
            yield file


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file (also packed), without dictionary encoding.

    Raises:
        InputError: it is broken or larger than `LARGEST`, repeats a column, or lacks one of
            `columns` (None reads all).
    """
    with opened_parquet(path) as file:
        names = file.schema_arrow.names
        for name in columns or ():
            if name not in names:
                raise InputError(f"no column {name!r}")
        groups = range(file.metadata.num_row_groups)
        if sum(file.metadata.row_group(group).total_byte_size for group in groups) > LARGEST:
            raise InputError(f"more than {LARGEST:,} bytes uncompressed; split the file")
        table = file.read(columns)
        table = table if columns is None else table.select(list(columns))
        return _plain(table)


def read_columnar(path: Path) -> pa.Table:
    """Read a Parquet, Feather or Arrow file (also packed), without dictionary encoding.

    Raises:
        InputError: as for `read_parquet`.
    """
    from pyarrow.feather import read_table as read_feather

    if table_kind(path) == ".parquet":
        return read_parquet(path)
    with read_errors(path):
        content = read_bytes(path)
        is_file = content.startswith((b"ARROW1", b"FEA1"))
        table = read_feather(io.BytesIO(content)) if is_file else _read_stream(content)
        if table.nbytes > LARGEST:
            raise InputError(f"more than {LARGEST:,} bytes uncompressed; split the file")
        require_unique(table.column_names)
        return _plain(table)


def _read_stream(content: bytes) -> pa.Table:
    with pa.ipc.open_stream(content) as stream:
        return stream.read_all()


def _plain(table: pa.Table) -> pa.Table:
    """Return a valid table without dictionary encoding."""
    table.validate(full=True)
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            texts = table.column(place).cast(field.type.value_type)
            table = table.set_column(place, field.name, texts)
    return table


def listed(names: Iterable[Any]) -> str:
    """List the first 30 names for a message, each shortened to 60 characters."""
    texts = [clip_text(str(name), _NAME) for name in names]
    if len(texts) > _NAMES:
        texts[_NAMES:] = [f"… ({len(texts):,} in total)"]
    return ", ".join(texts) or "nothing"


def verbatim_table(columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Return a table of Python objects, so that integers stay integers next to None."""
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def no_rows(columns: Iterable[str]) -> pd.DataFrame:
    """Return a table with these columns and no rows."""
    return verbatim_table({name: [] for name in columns})


def json_rows(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Parse the objects of JSON lines, but empty ones; InputError with the line if it is none."""
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"line {number}: not valid JSON: {error}") from error
        if not isinstance(row, dict):
            raise InputError(f"line {number}: expected an object, got {line.strip()[:40]!r}")
        rows.append(row)
    return rows


def _read_json(text: str) -> pd.DataFrame:
    """Read one list of objects, or JSON lines; missing cells are None."""
    if text.lstrip().startswith("["):
        rows = json.loads(text)
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, dict):
                raise InputError(f"entry {number}: expected an object, got {row!r:.40}")
    else:
        # Lines end at \n only, since JSON texts may contain other line separators.
        rows = json_rows(text.split("\n"))
    columns = {}
    for name in dict.fromkeys(chain.from_iterable(rows)):
        columns[name] = [row.get(name) for row in rows]
    return verbatim_table(columns)


def _read_csv(text: str, delimiter: str) -> pd.DataFrame:
    """Read all cells as text, including line ends; a short row lacks its last cells."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = next(reader, [])
        require_unique(names)
        rows: list[Sequence[str | None]] = []
        for cells in filter(None, reader):  # an empty line has no cells
            if len(cells) > len(names):
                raise InputError(
                    f"line {reader.line_num}: {len(cells)} cells for {len(names)} columns; quote "
                    "cells that contain the delimiter"
                )
            rows.append([*cells, *[None] * (len(names) - len(cells))])
    except csv.Error as error:
        raise InputError(f"line {reader.line_num}: {error}") from error
    if not rows:
        return no_rows(names)
    return verbatim_table(dict(zip(names, zip(*rows, strict=True), strict=True)))


def require_unique(names: Sequence[str]) -> None:
    """Raise InputError if a column name repeats."""
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"column {name!r} is not unique")


def table_kind(path: Path) -> str:
    """Return the one of `KINDS` that a file is, also when packed; "" for others.

    Raises:
        InputError: it is an archive that is broken.
    """
    kind, packed = kind_of(path.name)
    if packed == ".zip" and is_there(path) and path.is_file():
        members = members_of(path)
        kind = kind_of(members[0]).kind if len(members) == 1 else ""
    return kind if kind in KINDS else ""


def read_verbatim(path: Path) -> pd.DataFrame:
    """Read a table of one of `KINDS`, also in one of `PACKED`, with cells as objects.

    JSON is lines or one list of objects. A workbook has one sheet, and needs openpyxl.

    Raises:
        InputError: the file is missing, invalid, or too large; the message names the line.
    """
    kind = table_kind(path)
    if not kind:
        raise InputError(
            f"{path}: unknown file type; expected {listed(KINDS)}, optionally with {listed(PACKED)}"
        )
    if not is_there(path) or not path.is_file():
        existing = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        raise InputError(f"{path} is missing; {path.parent} has {listed(existing)}")
    with read_errors(path):
        if kind in COLUMNAR:
            table = read_columnar(path)
            return verbatim_table({n: table.column(n).to_pylist() for n in table.column_names})
        content = read_bytes(path)
        if kind == ".xlsx":
            return _read_workbook(content)
        text = utf8_text(content)
        if kind in (".csv", ".tsv"):
            return _read_csv(text, "\t" if kind == ".tsv" else ",")
        return _read_json(text)


def _read_workbook(content: bytes) -> pd.DataFrame:
    """Read the only sheet that has cells, the first row of which names the columns."""
    try:
        sheets = pd.read_excel(
            io.BytesIO(content),
            sheet_name=None,
            header=None,
            dtype=object,
            engine="openpyxl",
            keep_default_na=False,
        )
    except ImportError as error:
        raise InputError(
            "openpyxl is not installed; install it, or save the file as CSV"
        ) from error
    filled = [sheet for sheet in sheets.values() if len(sheet)]
    if len(filled) != 1:
        raise InputError(f"{len(filled)} sheets with cells; save the one with the rows as CSV")
    names = list(map(str, filled[0].iloc[0]))
    require_unique(names)
    return filled[0].iloc[1:].set_axis(names, axis=1).reset_index(drop=True)
