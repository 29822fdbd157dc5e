"""Files read within bounds: what is packed small must not fill the memory when it is unpacked."""

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from benchwright.core.errors import InputError

EXPANSION = 100
"""A file may hold so many times its own size; texts and answers pack 3 to 30 times."""
SLACK = 64 << 20
"""Bytes that any packed file may hold."""
TABLE_SLACK = 512 << 20
"""Bytes that any Parquet file may hold, as a table in memory."""
_BATCH_ROWS = 128  # are measured at a time: each may be a megabyte

BROKEN = (ValueError, OSError, EOFError, zlib.error, pa.ArrowException, ArithmeticError)
"""What the libraries raise where a file is torn, lies about itself, or is of another kind."""


@contextmanager
def told_broken(path: Path) -> Iterator[None]:
    """Turns what a library says of a broken file into one line.

    Raises:
        InputError: any of `BROKEN` was raised; the message begins with the file.
    """
    try:
        yield
    except InputError as error:
        said = str(error)
        raise InputError(said if said.startswith(str(path)) else f"{path}: {said}") from error
    except (*BROKEN, MemoryError) as error:
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(f"{path}: cannot be read: {said}") from error


def utf8_text(content: bytes) -> str:
    """Bytes as text, without a byte order mark.

    Raises:
        InputError: they are no UTF-8; the message begins with the line.
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
    """The bytes of a file, unpacked where it ends in .gz, up to `EXPANSION` times its size.

    Reading on raises ValueError there.
    """
    if path.suffix != ".gz":
        with path.open("rb") as plain:
            yield plain
        return
    with gzip.open(path, "rb") as packed:
        allowed = EXPANSION * path.stat().st_size + SLACK
        yield io.BufferedReader(_Bounded(packed, allowed), 1 << 20)


class _Bounded(io.RawIOBase):
    """A stream that refuses to give more than it may."""

    def __init__(self, stream: Any, allowed: int) -> None:
        self._stream = stream
        self._allowed = allowed
        self._given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._stream.read(len(buffer))
        self._given += len(content)
        if self._given > self._allowed:
            raise ValueError(
                f"unpacks to more than {self._allowed:,} bytes; give it unpacked if it is whole"
            )
        buffer[: len(content)] = content
        return len(content)


def plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with each value written out, so that its size is that of what it says.

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
    """The schema of a file without rows."""
    schema = file.schema_arrow
    kept = schema.names if columns is None else columns
    return pa.schema([schema.field(name) for name in kept])


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A Parquet file (also .gz) as a table of at most `EXPANSION` times its size, or 512 MiB.

    Raises:
        InputError: it is torn or lies about itself, holds more than that, has a column twice, or
            lacks one of `columns` (None takes all).
    """
    import pyarrow.parquet as pq

    # ParquetFile, not read_table: a folder named `model=x` must not become a column.
    with told_broken(path), pq.ParquetFile(_parquet_source(path)) as file:
        names = file.schema_arrow.names
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"column {twice!r} is there twice; keep one")
        missing = next((name for name in columns or () if name not in names), None)
        if missing is not None:
            raise InputError(f"no column {missing!r}")
        allowed = max(TABLE_SLACK, EXPANSION * path.stat().st_size)
        batches, held = [], 0
        for batch in map(plain, file.iter_batches(batch_size=_BATCH_ROWS, columns=columns)):
            held += batch.nbytes
            if held > allowed:
                raise InputError(f"holds more than {allowed:,} bytes; divide it")
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
