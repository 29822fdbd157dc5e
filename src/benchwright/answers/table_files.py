"""Tables of answers by their columns, and which other files could hold answers."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pyarrow as pa

from benchwright.answers.loaded_file import ITEM_COLUMNS, VALUE_COLUMNS, LoadedFile, log_file
from benchwright.answers.matrix_file import is_matrix, read_matrix
from benchwright.core.errors import InputError
from benchwright.core.file_kinds import KINDS, UNREADABLE, kind_of, may_hold_rows
from benchwright.core.printable import ascii_surrogates
from benchwright.core.verbatim import (
    COLUMNAR,
    Unpacked,
    members_of,
    read_bytes,
    read_columnar,
    read_errors,
    read_verbatim,
    table_kind,
    unpack,
    utf8_text,
)
from benchwright.logs.find import LINKED, Place, is_log, logs_in, walk
from benchwright.logs.opened_file import HEAD
from benchwright.params.responses import ResponseFileParams

_FEW = 100
"""Graded scores without items, up to which they are means of tasks."""
_MOST_PLACES = 1_000
"""Places in a folder that are looked at; one with more may hold answers."""
_LARGEST_PROBED = 1 << 26
"""Bytes of a file that is read to see whether it holds answers; a larger table may."""
_LOGS = (".json", ".jsonl", ".parquet", ".eval")
"""Suffixes of logs that may be packed."""
_POINTER = b"version https://git-lfs"
_PARQUET = b"PAR1"
_IDS = {"item", "id", *ITEM_COLUMNS}
_KEY = re.compile(r'"([^"\\]{1,60})"\s*:')
"""A key of JSON, `"item_id": 1`; no text with a colon in it, `"a: b"`."""
_DELIMITER = re.compile(r"[,;|\t]")


def load_file(path: Path, spec: ResponseFileParams, *, stated: bool = False) -> list[LoadedFile]:
    """Return the table or the packed logs of answers in a file, [] if it holds none.

    A file that may hold answers and cannot be read has a problem: what it is, and what would do.

    Args:
        path: a file that is no log as it is.
        spec: its settings.
        stated: whether it must have answers.
    """
    try:
        return _load(path, spec, stated=stated)
    except InputError as error:
        return [LoadedFile(spec, None, problem=str(error))]


def _load(path: Path, spec: ResponseFileParams, *, stated: bool) -> list[LoadedFile]:
    with read_errors(path), path.open("rb") as file:
        head = file.read(HEAD)
    if not head.strip():
        if stated and may_hold_rows(path.name):
            raise _no_rows(path)
        return []
    name = path.name
    if kind_of(name).packed:
        inner = _unpacked(path)
        if inner is None:
            return []
        name = inner.name
        head = inner.content[:HEAD]
        logs = _packed_logs(path, inner, spec)
        if logs:
            return logs
    kind = kind_of(name).kind
    if kind not in KINDS:
        _refuse_rows(path, kind, head)
        return []
    if head.startswith(_POINTER):
        raise InputError(f"{path}: a pointer of Git LFS, not the file; run git lfs pull")
    if kind == ".json" and head.lstrip().startswith(b"{") and _is_object(path, spec):
        if stated:
            raise InputError(f"{path}: one object; expected a log, or a list of rows")
        return []
    return _load_table(path, kind, head, spec, stated=stated)


def _load_table(
    path: Path, kind: str, head: bytes, spec: ResponseFileParams, *, stated: bool
) -> list[LoadedFile]:
    """Return a table of answers; [] for a table, also a broken one, that has no such columns."""
    named = kind not in COLUMNAR and kind != ".xlsx" and _have_answers(_names_in(head), spec)
    try:
        loaded = LoadedFile(spec, _cells(path, kind))
    except InputError:
        if stated or named or kind in COLUMNAR or kind == ".xlsx":
            raise
        return []
    if stated or loaded.has_answers:
        if loaded.table is None or loaded.table.num_rows == 0:
            raise _no_rows(path)
        return [loaded]
    if named and kind in (".csv", ".tsv"):
        mark = "commas" if kind == ".csv" else "tabs"
        raise InputError(f"{path}: the columns are not separated by {mark}; save it with {mark}")
    return []


def _unpacked(path: Path) -> Unpacked | None:
    """Return the file in a packed one; None if there is none that may have answers."""
    kind, packed = kind_of(path.name)
    if packed == ".zip":
        return unpack(path) if members_of(path) else None
    try:
        return unpack(path)
    except InputError:
        if kind in ("", *KINDS, *UNREADABLE):
            raise
        return None


def _packed_logs(path: Path, inner: Unpacked, spec: ResponseFileParams) -> list[LoadedFile]:
    """Return the logs in a packed file, [] if it is none; each must name its model."""
    name = PurePath(inner.name).name
    if kind_of(name).kind not in _LOGS:
        return []
    place = Path(_folder_for(path, path.stat().st_mtime_ns).name, name)
    place.write_bytes(inner.content)
    files: list[LoadedFile] = []
    for log in logs_in(place) or []:
        if not log.model:
            raise InputError(f"{path}: a log without its model; unpack it beside the run's results")
        files.append(log_file(replace(log, files=(path,)), spec))
    return files


@cache
def _folder_for(path: Path, changed: int) -> TemporaryDirectory[str]:
    """Return a folder for what is in a packed file, until the process ends."""
    return TemporaryDirectory(prefix="benchwright-")


def _refuse_rows(path: Path, kind: str, head: bytes) -> None:
    """Raise InputError if a file that is not read as a table may hold answers."""
    if kind == ".eval":
        raise InputError(f"{path}: no log of Inspect that can be read; copy it again")
    if kind in UNREADABLE:
        raise InputError(f"{path}: {kind} files are not read; unpack it, or save it as CSV")
    names = set(_names_in(head))
    if head.startswith(_PARQUET) or (_IDS & names and {"model", *VALUE_COLUMNS} & names):
        raise InputError(f"{path}: a table by its content, not by its name; rename or remove it")


def _is_object(path: Path, spec: ResponseFileParams) -> bool:
    """Return whether a file is one JSON object, such as settings; InputError if of columns."""
    try:
        with read_errors(path):
            content = json.loads(utf8_text(read_bytes(path)))
    except InputError:
        return False  # JSON lines, or broken
    columns = [name for name, cells in content.items() if isinstance(cells, list | dict)]
    if _have_answers(columns, spec):
        raise InputError(f"{path}: an object of columns; write a list of objects, one per row")
    return True


def _names_in(head: bytes) -> list[str]:
    """Return the names of columns, or the keys of the first object, at the start of a text."""
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    text = head.decode(encoding, errors="replace").lstrip()
    if text.startswith(("[", "{")):
        return _KEY.findall(text.partition("}")[0])
    return [name.strip(' "\r') for name in _DELIMITER.split(text.partition("\n")[0])]


def _have_answers(names: Iterable[str], spec: ResponseFileParams) -> bool:
    """Return whether a table with columns of these names is of answers."""
    empty: list[Any] = []
    return LoadedFile(spec, pa.table(dict.fromkeys(names, empty))).has_answers


def is_of_means(file: LoadedFile) -> bool:
    """Return whether a table holds a few graded scores of models, and names no items."""
    table = file.table
    if table is None:
        return False
    names = table.column_names
    if _IDS & set(names) or {"prediction", "logprobs"} & set(names):
        return False
    scored = [name for name in names if name in ("correct", "score")]
    scores: list[float] = []
    for name in scored or names[1:]:
        cells = pd.Series(table[name].to_pylist(), dtype=object)
        numbers = pd.to_numeric(cells.astype(str).str.rstrip("%"), errors="coerce")
        scores += numbers.dropna().tolist()
    return 0 < len(scores) <= _FEW and any(score not in (0, 1) for score in scores)


def may_hold_answers(path: Path) -> bool:
    """Return whether a hidden or linked file or folder has logs or answers, as far as one sees."""
    if path.is_dir():
        places: Iterable[Place] = walk(path, hidden=True)
    elif path.is_file():
        places = [Place(path)]
    else:
        return may_hold_rows(path.name)
    for number, place in enumerate(places):
        if number >= _MOST_PLACES:
            return True
        if place.why != LINKED and (place.why or _holds_answers(place.path)):
            return True
    return False


def _holds_answers(path: Path) -> bool:
    try:
        if is_log(path):
            return True
        if path.is_dir():
            return False
        if path.stat().st_size > _LARGEST_PROBED:
            return may_hold_rows(path.name)
    except InputError:
        return True
    return bool(load_file(path, ResponseFileParams.model_construct(file=str(path))))


def read_table(path: Path) -> pa.Table:
    """Read the cells of a table of any kind, also a packed one.

    Raises:
        InputError: the file is broken, has another type or encoding, is too large, repeats a
            column, or has no rows.
    """
    table = _cells(path, table_kind(path))
    if table.num_rows == 0 or table.num_columns == 0:
        raise _no_rows(path)
    return table


def _no_rows(path: Path) -> InputError:
    return InputError(f"{path}: no rows; remove the file or add a row per response")


def _cells(path: Path, kind: str) -> pa.Table:
    if kind in COLUMNAR:
        return _columns(path)
    cells = read_verbatim(path)
    if kind in (".csv", ".tsv", ".xlsx"):
        cells = cells.replace({"": None})
    return pa.table({str(name): _json_column(cells[name].tolist()) for name in cells})


def _columns(path: Path) -> pa.Table:
    """Read a table, also that of a saved matrix, with each text once in memory: ids repeat."""
    if table_kind(path) == ".parquet" and is_matrix(path):
        matrix = read_matrix(path)
        rows = pd.DataFrame(matrix.correct, matrix.models, matrix.item_ids).rename_axis("model")
        return pa.Table.from_pandas(rows.reset_index(), preserve_index=False)
    table = read_columnar(path)
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if pa.types.is_string(column.type):
            # Whole, since each part of a column would have a dictionary of its own.
            whole = column.cast(pa.large_string()).combine_chunks().dictionary_encode()
            table = table.set_column(place, name, whole)
    return table


def _json_column(values: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(values)
    # Mixed types, large numbers and invalid Unicode become text, as in a CSV file.
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        texts = [v if isinstance(v, str | None) else json.dumps(v, default=str) for v in values]
        return pa.array([v and ascii_surrogates(v) for v in texts], pa.string())
