"""Read files of rows verbatim: text never becomes a number, a boolean or a missing value."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa

from benchwright.core.errors import InputError, in_short
from benchwright.core.wording import clip_text

LARGEST = 8 << 30
"""Bytes of an uncompressed file that is read at once."""
BROKEN = (
    ValueError, OSError, EOFError, zlib.error, pa.ArrowException, ArithmeticError, RecursionError,
    MemoryError,
)  # fmt: skip
"""Errors that libraries raise for an invalid or incomplete file."""
_NAMES = 30
_NAME = 60
_LONGEST_CELL = 100_000_000  # characters; the default of Python's csv is 131,072
_ACCEPTED = (".parquet", ".jsonl", ".json", ".ndjson", ".csv", ".tsv")


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


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if it ends in .gz, up to `LARGEST` bytes."""
    if path.suffix != ".gz":
        return path.read_bytes()
    out = io.BytesIO()
    with gzip.open(path, "rb") as packed:
        while chunk := packed.read(1 << 20):
            out.write(chunk)
            if out.tell() > LARGEST:
                raise InputError(f"more than {LARGEST:,} bytes uncompressed; split the file")
    return out.getvalue()


@contextmanager
def opened_parquet(path: Path, stream: IO[bytes] | None = None) -> Iterator[Any]:
    """Open a Parquet file (also .gz), or its stream; InputError if broken or a column repeats."""
    import pyarrow.parquet as pq

    with read_errors(path):
        source: Any = path if stream is None else stream
        if path.suffix == ".gz":
            source = io.BytesIO(read_bytes(path))
        # Not read_table, which would turn a folder named `model=x` into a column.
        with pq.ParquetFile(source) as file:
            require_unique(file.schema_arrow.names)
            yield file


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file (also .gz), without dictionary encoding.

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


def read_verbatim(path: Path) -> pd.DataFrame:
    """Read a Parquet, JSON, CSV or TSV file (or one of them in .gz), cells as objects.

    JSON is lines or one list of objects.

    Raises:
        InputError: the file is missing, invalid, or too large; the message names the line.
    """
    kind = (path.with_suffix("") if path.suffix == ".gz" else path).suffix
    if kind not in _ACCEPTED:
        raise InputError(
            f"{path}: unknown file type; expected {listed(_ACCEPTED)}, optionally with .gz"
        )
    if not path.is_file():
        existing = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        raise InputError(f"{path} is missing; {path.parent} has {listed(existing)}")
    with read_errors(path):
        if kind == ".parquet":
            table = read_parquet(path)
            return verbatim_table({n: table.column(n).to_pylist() for n in table.column_names})
        text = utf8_text(read_bytes(path))
        if kind in (".csv", ".tsv"):
            return _read_csv(text, "\t" if kind == ".tsv" else ",")
        return _read_json(text)
