"""Files of rows, read verbatim and within bounds.

No text becomes a number, a truth value or a gap; a small packed file cannot fill the memory when it
is unpacked.
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
"""Most bytes in a packed file, relative to its size; texts and answers pack 3 to 30 times."""
SLACK = 64 << 20
"""Bytes that any packed file may unpack to."""
TABLE_SLACK = 512 << 20
"""Bytes that any Parquet file may take in memory."""
_BATCH_ROWS = 128  # measured at a time: each may be a megabyte

BROKEN = (ValueError, OSError, EOFError, zlib.error, pa.ArrowException, ArithmeticError)
"""Errors of the libraries for a file that is incomplete, inconsistent, or of another kind."""
_NAMES, _NAME = 30, 60
LONGEST_CELL = 100_000_000  # characters; the default of Python's csv is 131,072
_CALLED = {",": "commas", ";": "semicolons", "\t": "tabs"}


@contextmanager
def read_errors(path: Path) -> Iterator[None]:
    """Report the errors of a broken file in one line.

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
        InputError: they are not UTF-8; the message begins with the line.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError("the file is UTF-16; save it as UTF-8") from error
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"line {line} is not UTF-8 (byte 0x{content[error.start]:02x}); save it as UTF-8"
        ) from error


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, unpacked if it ends in .gz; reading beyond the bounds raises ValueError."""
    if path.suffix != ".gz":
        with path.open("rb") as plain:
            yield plain
        return
    with gzip.open(path, "rb") as packed:
        allowed = EXPANSION * path.stat().st_size + SLACK
        yield io.BufferedReader(_Bounded(packed, allowed), 1 << 20)


class _Bounded(io.RawIOBase):
    """A stream that raises ValueError beyond so many bytes."""

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
                f"unpacks to more than {self._allowed:,} bytes; give it unpacked if it is whole"
            )
        buffer[: len(content)] = content
        return len(content)


def plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the batch without dictionaries, so that its size is that of its values.

    A dictionary holds a text of a megabyte once, however many rows name it.
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


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file (also .gz) of at most `EXPANSION` times its size, or 512 MiB.

    Raises:
        InputError: it is broken or larger, has a column twice, or lacks one of `columns` (None
            reads all).
    """
    import pyarrow.parquet as pq

    # ParquetFile, not read_table: a folder named `model=x` must not become a column.
    with read_errors(path), pq.ParquetFile(_parquet_source(path)) as file:
        names = file.schema_arrow.names
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"column {twice!r} occurs twice; keep one")
        missing = next((name for name in columns or () if name not in names), None)
        if missing is not None:
            raise InputError(f"no column {missing!r}")
        allowed = max(TABLE_SLACK, EXPANSION * path.stat().st_size)
        batches, held = [], 0
        for batch in map(plain, file.iter_batches(batch_size=_BATCH_ROWS, columns=columns)):
            held += batch.nbytes
            if held > allowed:
                raise InputError(f"holds more than {allowed:,} bytes; split it")
            batches.append(batch)
        if columns is not None:
            batches = [batch.select(list(columns)) for batch in batches]
        table = pa.Table.from_batches(batches, None if batches else _without_rows(file, columns))
        if table.num_rows != file.metadata.num_rows:
            raise InputError(
                f"has {table.num_rows:,} rows where its footer says "
                f"{file.metadata.num_rows:,}; write it again"
            )
        table.validate(full=True)
        return table


def listed(names: Iterable[Any]) -> str:
    """List names for a message: the first thirty, each cut at 60 characters."""
    shown = [text if len(text := str(name)) <= _NAME else f"{text[: _NAME - 1]}…" for name in names]
    more = [] if len(shown) <= _NAMES else [f"… ({len(shown):,} in all)"]
    return ", ".join([*shown[:_NAMES], *more]) or "nothing"


def verbatim_table(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Return a table of Python objects, so that 1 beside a gap stays 1."""
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def no_rows(columns: Iterable[str]) -> pd.DataFrame:
    """Return a table with these columns and no rows."""
    return verbatim_table({name: [] for name in columns})


def table_of_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return objects as a table of all their names, None where a row lacks one."""
    names = dict.fromkeys(name for row in rows for name in row)
    return verbatim_table({name: [row.get(name) for row in rows] for name in names})


def joined(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate tables, None in the rows of one that lacks a column."""
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


def _require_there(path: Path) -> None:
    if not path.is_file():
        beside = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        raise InputError(f"{path} is missing; {path.parent} has {listed(beside)}")


def _parquet_rows(path: Path) -> pd.DataFrame:
    table = read_parquet(path)
    return verbatim_table({name: table.column(name).to_pylist() for name in table.column_names})


def json_rows(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Parse the objects of JSON lines; empty lines are skipped.

    Raises:
        InputError: a line is not JSON or not an object; the message begins with its number.
    """
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"line {number} is not JSON: {error}") from error
        if not isinstance(row, dict):
            raise InputError(f"line {number} is {line.strip()[:40]!r}; it must be an object")
        rows.append(row)
    return rows


def _read_jsonl(stream: IO[bytes]) -> pd.DataFrame:
    # Lines end at \n only: JSON texts may hold other line separators.
    return table_of_rows(json_rows(utf8_text(stream.read()).split("\n")))


def _read_csv(stream: IO[bytes], delimiter: str = ",") -> pd.DataFrame:
    """Read all cells as texts, line ends included; a short row lacks its last cells."""
    csv.field_size_limit(LONGEST_CELL)
    text = io.StringIO(utf8_text(stream.read()), newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    try:
        names = next(reader, [])
        require_columns_apart(names, delimiter)
        rows: list[Sequence[str | None]] = []
        for cells in reader:
            if not cells:
                continue  # an empty line
            if len(cells) > len(names):
                raise InputError(
                    f"line {reader.line_num} has {len(cells)} cells for {len(names)} columns; "
                    "quote a text that holds the delimiter"
                )
            rows.append([*cells, *[None] * (len(names) - len(cells))])
    except csv.Error as error:
        raise InputError(f"line {reader.line_num}: {error}") from error
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return verbatim_table({name: list(cells) for name, cells in zip(names, columns, strict=True)})


def require_columns_apart(names: Sequence[str], delimiter: str = ",") -> None:
    """Check a header for repeated names, and for one cell with another delimiter.

    Raises:
        InputError: with the name, or the cell.
    """
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"column {twice!r} occurs twice; keep one")
    other = next((mark for mark in ",;\t" if mark != delimiter and mark in "".join(names)), None)
    if len(names) == 1 and other is not None:
        raise InputError(
            f"line 1 is one cell, {names[0][:60]!r}; cells must be separated by "
            f"{_CALLED[delimiter]}, not {_CALLED[other]}"
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
        InputError: the file is missing, of another kind, broken, or too large; names the line.
    """
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    reader = _TEXTS.get(bare.suffix)
    if reader is None and bare.suffix != ".parquet":
        raise InputError(f"{path}: must be one of {listed(_ACCEPTED)}, also with .gz")
    _require_there(path)
    with read_errors(path):
        if reader is None:
            return _parquet_rows(path)
        with opened(path) as stream:
            return reader(stream)


def read_csv(path: Path) -> pd.DataFrame:
    """Read a CSV file whatever its name (also .gz), cells as texts, None where a row is short.

    Raises:
        InputError: see `read_verbatim`.
    """
    _require_there(path)
    with read_errors(path), opened(path) as stream:
        return _read_csv(stream)
