"""Files of rows read verbatim: no text becomes a number, a truth value or a gap."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.datasets.unpacked import opened, read_parquet, told_broken, utf8_text

_NAMES, _NAME = 30, 60
LONGEST_CELL = 100_000_000  # characters; Python's csv stops at 131,072 unless told


def listed(names: Iterable[Any]) -> str:
    """Names as a message lists them: the first thirty, each cut at 60 characters."""
    shown = [text if len(text := str(name)) <= _NAME else f"{text[: _NAME - 1]}…" for name in names]
    more = [] if len(shown) <= _NAMES else [f"… ({len(shown):,} in all)"]
    return ", ".join([*shown[:_NAMES], *more]) or "nothing"


def verbatim_table(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """A table whose cells are the Python objects given, so that 1 beside a gap stays 1."""
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def no_rows(columns: Iterable[str]) -> pd.DataFrame:
    """A table with these columns and nothing in them."""
    return verbatim_table({name: [] for name in columns})


def table_of_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Objects as a table of all their names, None where a row lacks one."""
    names = dict.fromkeys(name for row in rows for name in row)
    return verbatim_table({name: [row.get(name) for row in rows] for name in names})


def joined(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables one below the other, None in the rows of one that lacks a column."""
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
    return table_of_rows(json_rows(utf8_text(stream.read()).split("\n")))


def _read_csv(stream: IO[bytes], delimiter: str = ",") -> pd.DataFrame:
    """All cells are texts, line ends inside them included. A short row lacks its last cells."""
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
                    "a text that holds the delimiter has to be quoted"
                )
            rows.append([*cells, *[None] * (len(names) - len(cells))])
    except csv.Error as error:
        raise InputError(f"line {reader.line_num}: {error}") from error
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return verbatim_table({name: list(cells) for name, cells in zip(names, columns, strict=True)})


def require_columns_apart(names: Sequence[str], delimiter: str = ",") -> None:
    """Refuses a header with a name twice, or of one cell that holds another delimiter.

    Raises:
        InputError: with the name, or the cell.
    """
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"column {twice!r} is there twice; keep one")
    other = next((mark for mark in ",;\t" if mark != delimiter and mark in "".join(names)), None)
    if len(names) == 1 and other is not None:
        raise InputError(
            f"line 1 is one cell, {names[0][:60]!r}; {_CALLED[delimiter]} between cells are read "
            f"here, not {_CALLED[other]}"
        )


_CALLED = {",": "commas", ";": "semicolons", "\t": "tabs"}
_TEXTS: dict[str, Callable[[IO[bytes]], pd.DataFrame]] = {
    ".jsonl": _read_jsonl,
    ".csv": _read_csv,
    ".tsv": partial(_read_csv, delimiter="\t"),
}
_ACCEPTED = (".parquet", *_TEXTS)


def read_verbatim(path: Path) -> pd.DataFrame:
    """A Parquet, JSON Lines, CSV or TSV file (or one of them in .gz), cells as objects.

    Raises:
        InputError: the file is missing, of another kind, broken, or holds far more than its size
            (`datasets.unpacked`); the line is named.
    """
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    reader = _TEXTS.get(bare.suffix)
    if reader is None and bare.suffix != ".parquet":
        raise InputError(f"{path}: accepted are {listed(_ACCEPTED)}, also with .gz")
    _require_there(path)
    with told_broken(path):
        if reader is None:
            return _parquet_rows(path)
        with opened(path) as stream:
            return reader(stream)


def read_csv(path: Path) -> pd.DataFrame:
    """A CSV file whatever its name (also .gz), cells as texts, None where a row is short.

    Raises:
        InputError: as `read_verbatim`.
    """
    _require_there(path)
    with told_broken(path), opened(path) as stream:
        return _read_csv(stream)
