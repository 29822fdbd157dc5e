"""Read files of rows verbatim and within size limits.

Text never becomes a number, a boolean or a missing value. A small compressed file cannot fill the
memory.
"""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa

from benchwright.core.errors import InputError

EXPANSION = 100
"""Maximum expansion of a compressed file; texts and responses compress 3 to 30 times."""
SLACK = 64 << 20
"""Bytes that any compressed file may expand to."""
TABLE_SLACK = 512 << 20
"""Bytes that any Parquet file may take in memory."""
_BATCH_ROWS = 128  # small, since each row may be a megabyte

BROKEN = (ValueError, OSError, EOFError, zlib.error, pa.ArrowException, ArithmeticError)
"""Errors that libraries raise for an invalid or incomplete file."""
_NAMES, _NAME = 30, 60
LONGEST_CELL = 100_000_000  # characters; the default of Python's csv is 131,072
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}


@contextmanager
def read_errors(path: Path) -> Iterator[None]:
    """Report errors of a broken file in one line.

    Raises:
        InputError: for any of `BROKEN`; the message begins with the file.
    """
    try:
        yield
    except InputError as error:
        message = str(error)
        raise InputError(
            message if message.startswith(str(path)) else f"{path}: {message}"
        ) from error
    except (*BROKEN, MemoryError) as error:
        message = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(f"{path}: cannot be read: {message}") from error


def utf8_text(content: bytes) -> str:
    """Decode bytes as UTF-8, without a byte order mark.

    Raises:
        InputError: they are not UTF-8; the message names the line.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError("the file is UTF-16; save it as UTF-8") from error
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"line {line}: not valid UTF-8 (byte 0x{content[error.start]:02x}); save it as UTF-8"
        ) from error


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, decompressed if it ends in .gz; exceeding the limit raises ValueError."""
    if path.suffix != ".gz":
        with path.open("rb") as plain:
            yield plain
        return
    with gzip.open(path, "rb") as packed:
        allowed = EXPANSION * path.stat().st_size + SLACK
        yield io.BufferedReader(_Bounded(packed, allowed), 1 << 20)


class _Bounded(io.RawIOBase):
    """A stream that raises ValueError beyond a number of bytes."""

    def __init__(self, stream: Any, allowed: int) -> None:
        self._stream = stream
        self._allowed = allowed
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._stream.read(len(buffer))
        self._read += len(content)
        if self._read > self._allowed:
            raise ValueError(
                f"more than {self._allowed:,} bytes uncompressed; decompress the file first"
            )
        buffer[: len(content)] = content
        return len(content)


def plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the batch without dictionary encoding, so that its size is that of its values.

    A dictionary stores repeated texts only once.
    """
    if not any(pa.types.is_dictionary(field.type) for field in batch.schema):
        return batch
    columns = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _parquet_source(path: Path) -> Any:
    if path.suffix != ".gz":
        return path
    with opened(path) as stream:
        return pa.BufferReader(stream.read())


def _without_rows(file: Any, columns: Sequence[str] | None) -> pa.Schema:
    schema = file.schema_arrow
    return pa.schema([schema.field(n) for n in (schema.names if columns is None else columns)])


@contextmanager
def opened_parquet(path: Path) -> Iterator[Any]:
    """Open a Parquet file (also .gz) for `parquet_batches`; errors name the file.

    Raises:
        InputError: it is broken, or repeats a column.
    """
    import pyarrow.parquet as pq

    # Not read_table, which would turn a folder named `model=x` into a column.
    with read_errors(path), pq.ParquetFile(_parquet_source(path)) as file:
        names = file.schema_arrow.names
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise InputError(f"column {repeated!r} is not unique")
        yield file


def parquet_batches(
    file: Any, path: Path, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield a file's rows in small batches, at most `EXPANSION` times its size, or 512 MiB.

    Args:
        file: from `opened_parquet`.
        path: its path.
        columns: names of columns, or paths of fields in them (`doc.query`); None reads all.

    Raises:
        InputError: it is larger, or has more or fewer rows than its footer states.
    """
    allowed = max(TABLE_SLACK, EXPANSION * path.stat().st_size)
    n_rows = n_bytes = 0
    for batch in map(plain, file.iter_batches(batch_size=_BATCH_ROWS, columns=columns)):
        n_bytes += batch.nbytes
        if n_bytes > allowed:
            raise InputError(f"more than {allowed:,} bytes in memory; split the file")
        n_rows += batch.num_rows
        yield batch
    if n_rows != file.metadata.num_rows:
        raise InputError(
            f"{n_rows:,} rows, but the footer states {file.metadata.num_rows:,}; write the file "
            "again"
        )


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file (also .gz) of at most `EXPANSION` times its size, or 512 MiB.

    Raises:
        InputError: it is broken or larger, repeats a column, or lacks one of `columns` (None
            reads all).
    """
    with opened_parquet(path) as file:
        names = file.schema_arrow.names
        missing = next((name for name in columns or () if name not in names), None)
        if missing is not None:
            raise InputError(f"no column {missing!r}")
        batches = list(parquet_batches(file, path, columns))
        if columns is not None:
            batches = [batch.select(list(columns)) for batch in batches]
        table = pa.Table.from_batches(batches, None if batches else _without_rows(file, columns))
        table.validate(full=True)
        return table


def listed(names: Iterable[Any]) -> str:
    """List the first 30 names for a message, each shortened to 60 characters."""
    texts = [text if len(text := str(name)) <= _NAME else f"{text[: _NAME - 1]}…" for name in names]
    more = [] if len(texts) <= _NAMES else [f"… ({len(texts):,} in total)"]
    return ", ".join([*texts[:_NAMES], *more]) or "nothing"


def verbatim_table(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Return a table of Python objects, so that integers stay integers next to None."""
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def no_rows(columns: Iterable[str]) -> pd.DataFrame:
    """Return a table with these columns and no rows."""
    return verbatim_table({name: [] for name in columns})


def table_of_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a table with all their columns; missing cells are None."""
    names = dict.fromkeys(name for row in rows for name in row)
    return verbatim_table({name: [row.get(name) for row in rows] for name in names})


def joined(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate tables; cells of missing columns are None."""
    names = dict.fromkeys(str(name) for table in tables for name in table.columns)
    return verbatim_table(
        {
            name: [
                cell
                for table in tables
                for cell in (table[name] if name in table else [None] * len(table))
            ]
            for name in names
        }
    )


def _require_file(path: Path) -> None:
    if not path.is_file():
        existing = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        raise InputError(f"{path} is missing; {path.parent} has {listed(existing)}")


def _parquet_rows(path: Path) -> pd.DataFrame:
    table = read_parquet(path)
    return verbatim_table({name: table.column(name).to_pylist() for name in table.column_names})


def json_rows(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Parse the objects of JSON lines; empty lines are skipped.

    Raises:
        InputError: a line is not a JSON object; the message names the line.
    """
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


def _read_jsonl(stream: IO[bytes]) -> pd.DataFrame:
    # Lines end at \n only, since JSON texts may contain other line separators.
    return table_of_rows(json_rows(utf8_text(stream.read()).split("\n")))


def _read_csv(stream: IO[bytes], delimiter: str = ",") -> pd.DataFrame:
    """Read all cells as text, including line ends; a short row lacks its last cells."""
    csv.field_size_limit(LONGEST_CELL)
    text = io.StringIO(utf8_text(stream.read()), newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    try:
        names = next(reader, [])
        check_header(names, delimiter)
        rows: list[Sequence[str | None]] = []
        for cells in reader:
            if not cells:
                continue  # an empty line
            if len(cells) > len(names):
                raise InputError(
                    f"line {reader.line_num}: {len(cells)} cells for {len(names)} columns; quote "
                    "cells that contain the delimiter"
                )
            rows.append([*cells, *[None] * (len(names) - len(cells))])
    except csv.Error as error:
        raise InputError(f"line {reader.line_num}: {error}") from error
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return verbatim_table({name: list(cells) for name, cells in zip(names, columns, strict=True)})


def check_header(names: Sequence[str], delimiter: str = ",") -> None:
    """Check that column names are unique, and that the delimiter is right.

    Raises:
        InputError: a name repeats, or the header is one cell with another delimiter.
    """
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"column {repeated!r} is not unique")
    other = next((mark for mark in ",;\t" if mark != delimiter and mark in "".join(names)), None)
    if len(names) == 1 and other is not None:
        raise InputError(
            f"line 1 has a single cell, {names[0][:60]!r}; separate cells by "
            f"{_DELIMITERS[delimiter]}, not {_DELIMITERS[other]}"
        )


_TEXTS: dict[str, Callable[[IO[bytes]], pd.DataFrame]] = {
    ".jsonl": _read_jsonl,
    ".csv": _read_csv,
    ".tsv": partial(_read_csv, delimiter="\t"),
}
_ACCEPTED = (".parquet", *_TEXTS)


def read_verbatim(path: Path) -> pd.DataFrame:
    """Read a Parquet, JSON Lines, CSV or TSV file (or one of them in .gz), cells as objects.

    Raises:
        InputError: the file is missing, invalid, or too large; the message names the line.
    """
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    reader = _TEXTS.get(bare.suffix)
    if reader is None and bare.suffix != ".parquet":
        raise InputError(
            f"{path}: unknown file type; expected {listed(_ACCEPTED)}, optionally with .gz"
        )
    _require_file(path)
    with read_errors(path):
        if reader is None:
            return _parquet_rows(path)
        with opened(path) as stream:
            return reader(stream)


def read_csv(path: Path) -> pd.DataFrame:
    """Read a CSV file of any name (also .gz); cells are text, None where a row is short.

    Raises:
        InputError: see `read_verbatim`.
    """
    _require_file(path)
    with read_errors(path), opened(path) as stream:
        return _read_csv(stream)
