"""Files of rows read verbatim: no text becomes a number, a truth value or a gap."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import pandas as pd

from benchwright.errors import InputError

LONGEST_CELL = 100_000_000  # characters; Python's csv stops at 131,072 unless told


def listed(names: Iterable[Any]) -> str:
    """Names as a message lists them."""
    return ", ".join(str(name) for name in names) or "nothing"


def verbatim_table(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """A table whose cells are the Python objects given, so that 1 beside a gap stays 1."""
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def _open(path: Path) -> IO[bytes]:
    if not path.is_file():
        beside = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        raise InputError(f"{path} is missing; {path.parent} has {listed(beside)}")
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _read_parquet(stream: IO[bytes]) -> pd.DataFrame:
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(stream.read()))
    return verbatim_table(dict(zip(table.column_names, map(_listed, table.columns), strict=True)))


def _listed(column: Any) -> list[Any]:
    cells: list[Any] = column.to_pylist()
    return cells


def json_rows(lines: Iterable[str]) -> list[dict[str, Any]]:
    """The objects of JSON lines; empty lines are passed over.

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
            raise InputError(f"line {number} is {line.strip()[:40]!r}; an object is accepted")
        rows.append(row)
    return rows


def _read_jsonl(stream: IO[bytes]) -> pd.DataFrame:
    # Lines end at \n only: JSON texts may hold other line separators.
    rows = json_rows(io.TextIOWrapper(stream, encoding="utf-8-sig", newline="\n"))
    names = dict.fromkeys(name for row in rows for name in row)
    return verbatim_table({name: [row.get(name) for row in rows] for name in names})


def _read_csv(stream: IO[bytes], delimiter: str = ",") -> pd.DataFrame:
    """All cells are texts, line ends inside them included. A short row lacks its last cells."""
    csv.field_size_limit(LONGEST_CELL)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    try:
        names = next(reader, [])
        if len(set(names)) != len(names):
            raise InputError(f"two columns have one name: {listed(names)}")
        rows: list[Sequence[str | None]] = []
        for cells in reader:
            if not cells:
                continue  # an empty line
            if len(cells) > len(names):
                raise InputError(
                    f"line {reader.line_num} has {len(cells)} cells for {len(names)} columns; "
                    "a text that holds the delimiter has to be quoted"
                )
            rows.append([*cells, *[None] * (len(names) - len(cells))])
    except csv.Error as error:
        raise InputError(f"line {reader.line_num}: {error}") from error
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return verbatim_table({name: list(cells) for name, cells in zip(names, columns, strict=True)})


def _read_tsv(stream: IO[bytes]) -> pd.DataFrame:
    return _read_csv(stream, delimiter="\t")


READERS: dict[str, Callable[[IO[bytes]], pd.DataFrame]] = {
    ".parquet": _read_parquet,
    ".jsonl": _read_jsonl,
    ".csv": _read_csv,
    ".tsv": _read_tsv,
}


def read_verbatim(path: Path) -> pd.DataFrame:
    """A Parquet, JSON Lines, CSV or TSV file (or one of them in .gz), cells as objects.

    Raises:
        InputError: the file is missing, of another kind, or broken; the line is named.
    """
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    reader = READERS.get(bare.suffix)
    if reader is None:
        raise InputError(f"{path}: accepted are {listed(READERS)}, also with .gz")
    with _open(path) as stream:
        try:
            return reader(stream)
        except (ValueError, OSError, EOFError) as error:
            raise InputError(f"{path}: {error}") from error
