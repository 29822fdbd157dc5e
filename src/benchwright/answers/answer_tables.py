"""Read tables of answers: a row per item and model, or items and models as rows and columns."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from benchwright.answers.answer_rows import (
    FAILED,
    LISTS,
    Mask,
    constant,
    drop_rows,
    to_share,
    unanswered,
)
from benchwright.answers.item_index import ResponseIndex
from benchwright.answers.loaded_file import ITEM_COLUMNS, VALUE_COLUMNS, LoadedFile
from benchwright.answers.tally import EXAMPLES, Tally, different_texts, unknown_condition
from benchwright.core.configuration import STYLES
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.option_letters import LETTERS
from benchwright.core.printable import format_value
from benchwright.logs.options import MOST_SEVERAL, chosen_options

_ROUNDING = 1e-6  # of a probability in single precision
_MOST = 10_000  # shots, or repeats
_MISSING = {"", "nan", "na", "n/a", "none", "null", "<na>"}
MAX_OPTIONS = 1_000  # far more than any item has
_TRUTH = {"true": 1.0, "false": 0.0}
_EXTRACTIONS = ("ok", "failed", "too_long", "none")


# --- cells of any type ---------------------------------------------------------------------------


class Cells(NamedTuple):
    """Values of one column; `bad` marks unreadable cells.

    `several` has the options of cells that name more than one, whose value is then missing.
    """

    content: NDArray[Any]
    bad: NDArray[np.bool_]
    several: NDArray[np.object_] | None = None


def column_kind(column: pa.ChunkedArray) -> str:
    """Return `empty`, `number`, `text`, `list` or `other`."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    tests: dict[str, tuple[str, ...]] = {
        "empty": ("null",),
        "number": ("integer", "floating", "boolean"),
        "text": ("string", "large_string", "string_view"),
        "list": ("list", "large_list", "fixed_size_list"),
    }
    for name, types in tests.items():
        if any(getattr(pa.types, f"is_{each}")(kind) for each in types):
            return name
    return "other"


def texts(column: pa.ChunkedArray, where: str) -> NDArray[np.object_]:
    """Return texts verbatim, integers as digits, None if missing.

    Equal cells share one object, since a model's name repeats for each item.

    Raises:
        InputError: the column holds other values; the message begins with `where`.
    """
    kind, stored = column_kind(column), column.type
    if kind in ("list", "other") or (kind == "number" and not pa.types.is_integer(stored)):
        raise InputError(f"{where}: expected text, got type {stored}")
    if kind == "empty" or len(column) == 0:
        return np.full(len(column), None, dtype=object)
    if pa.types.is_dictionary(stored):
        column = column.cast(stored.value_type)
    if kind == "text":
        column = column.cast(pa.large_string())  # plain strings are limited to 2 GB per array
    # Merging the dictionaries of many small chunks is slow.
    whole = column.combine_chunks().dictionary_encode()
    known = [None if v is None else str(v) for v in whole.dictionary.to_pylist()]
    distinct = np.array([*known, None], dtype=object)
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(distinct[codes])  # code −1, a missing cell, reads the last entry


def _by_distinct(column: pa.ChunkedArray, read: Callable[[str], float | None]) -> Cells:
    """Read each distinct text once; `read` returns None for unreadable text."""
    codes, distinct = pd.factorize(column.to_pandas())
    understood = [read(str(text).strip()) for text in distinct]
    values = np.array([np.nan if v is None else v for v in understood] + [np.nan])
    bad = np.array([v is None for v in understood] + [False])
    return Cells(values[codes], bad[codes])  # code −1, a missing cell, reads the last entry


def _read_number(text: str) -> float | None:
    folded = text.lower()
    if folded in _MISSING:
        return math.nan
    if folded in _TRUTH:
        return _TRUTH[folded]
    written = text.removesuffix("%").rstrip()
    if written.count(",") == 1 and "." not in written:  # a decimal comma
        written = written.replace(",", ".")
    try:
        return float(written)
    except ValueError:
        return None


def numbers(column: pa.ChunkedArray) -> Cells:
    """Return numbers as float64, NaN if missing; true and false are 1 and 0."""
    kind = column_kind(column)
    if kind == "number":
        # Integers that float64 rounds are out of any valid range.
        values = np.array(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
        return Cells(values, np.zeros(len(values), dtype=bool))
    if kind == "text":
        return _by_distinct(column, _read_number)
    return Cells(np.full(len(column), np.nan), np.asarray(column.is_valid().to_numpy()))


def _read_options(text: str) -> tuple[int, ...] | None:
    """Return the options that a cell names, () if it is empty; None if it cannot be read."""
    listed = _read_json(text) if text.startswith("[") else None
    if isinstance(listed, list) and len(listed) == 1:
        text = str(listed[0])
    elif isinstance(listed, list) and {*map(type, listed)} == {float}:
        whole = all(0 <= each < MOST_SEVERAL and each == int(each) for each in listed)
        return tuple(sorted({int(each) for each in listed})) if whole else None
    if text.lower() in _MISSING:
        return ()
    if named := chosen_options(text, (), len(LETTERS)):
        return named
    number = None if text.lower() in _TRUTH else _read_number(text)
    if number is None:
        return None
    if math.isnan(number) or number == -1:
        return ()
    is_position = 0 <= number < MAX_OPTIONS and number == int(number)
    return (int(number),) if is_position else None


def options(column: pa.ChunkedArray) -> Cells:
    """Return options as float64, from letters or 0-based numbers; NaN for −1 and blank.

    Several (`ABC`, `A, C`, `[1, 3]`) are in `several`.
    """
    if column_kind(column) == "list":
        texts_of = (None if v is None else json.dumps(v) for v in column.to_pylist())
        column = pa.chunked_array([pa.array(texts_of, pa.string())])
    codes, distinct = pd.factorize(column.to_pandas())
    # The last entry is that of code −1, a missing cell.
    content = np.full(len(distinct) + 1, np.nan)
    bad = np.zeros(len(distinct) + 1, dtype=bool)
    several = np.full(len(distinct) + 1, None, dtype=object)
    for place, text in enumerate(distinct):
        named = _read_options(str(text).strip())
        bad[place] = named is None
        if named and len(named) == 1:
            content[place] = named[0]
        elif named:
            several[place] = named
    has_several = any(named is not None for named in several)
    return Cells(content[codes], bad[codes], several[codes] if has_several else None)


def _read_json(value: Any) -> Any:
    try:
        return json.loads(value, parse_int=float) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


def number_lists(column: pa.ChunkedArray) -> Cells:
    """Return lists of numbers (also written as JSON), None if missing."""
    values = np.empty(len(column), dtype=object)
    bad = np.zeros(len(column), dtype=bool)
    for row, cell in enumerate(column.to_pylist()):
        value = _read_json(cell)
        if isinstance(value, list) and value and {*map(type, value)} <= {int, float}:
            values[row] = [float(v) for v in value]
        else:
            bad[row] = cell is not None and str(cell).strip().lower() not in _MISSING
    return Cells(values, bad)


def text_lists(column: pa.ChunkedArray) -> NDArray[np.object_]:
    """Return tuples of texts (also written as a JSON list), None for anything else."""
    out = np.empty(len(column), dtype=object)
    for row, value in enumerate(map(_read_json, column.to_pylist())):
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            out[row] = tuple(value)
    return out


# --- rows ----------------------------------------------------------------------------------------


def read_answer_table(
    file: LoadedFile, table: pa.Table, index: ResponseIndex
) -> tuple[dict[str, Any], Tally]:
    """Read a table: its rows, as `answer_rows.merge_files` takes them, and a tally of the others.

    A row belongs to the items of its condition: items of a perturbed copy have the copy's texts. An
    empty cell is an answer that is missing; a score or option that cannot be read counts as wrong.

    Raises:
        InputError: the file has neither layout, no answer, or scores outside its scale.
    """
    tidy = file.spec.layout == "tidy" or (file.spec.layout == "auto" and file.is_tidy)
    columns = _tidy(file, table) if tidy else _melted(file, table)
    rows, invalid, unread = _read_rows(columns)
    tally = Tally(file.name, "tidy" if tidy else "wide", int(rows["model"].nunique()), len(rows))
    lost = [("dropped", f"dropped ({why})", mask) for why, mask in invalid]
    lost += [("not_joined", what, mask) for what, mask in _join(rows, columns, index)]
    bad = [(f"{name} unreadable", mask) for name, mask in unread]
    reasons = [*invalid, ("no response", unanswered(rows)), *bad]
    if np.logical_or.reduce([mask for _, mask in reasons]).all():
        why = next(reason for reason, mask in reasons if mask[0])
        first = format_value(columns.table[:1].to_pylist()[0], 200)
        raise InputError(
            f"{file.name}: no valid row of {len(rows):,}; row 1: {why}, got {first}; write "
            "'correct' and probabilities as 0–1, and 'prediction' as a letter or 0-based index"
        )
    for name, mask in unread:
        expected = "a letter" if name == "prediction" else "{:g}–{:g}".format(*file.spec.scale)
        what = f"unreadable, counted as wrong (expected {expected})"
        places = [columns.place(name, row) for row in np.flatnonzero(mask)[:EXAMPLES]]
        tally.add("", what, int(mask.sum()), places)
    kept = drop_rows(rows, lost, {file.name: tally})
    return {str(name): kept[name] for name in kept}, tally


class _Columns:
    """The columns of a file under their standard names; `grid` has those that are read already."""

    def __init__(
        self,
        file: LoadedFile,
        table: pa.Table,
        names: Mapping[str, str],
        grid: Mapping[str, Cells] = MappingProxyType({}),
        origin: tuple[pa.Table, NDArray[np.intp], NDArray[np.intp]] | None = None,
    ) -> None:
        self.file, self.table, self.names, self.grid = file, table, names, grid
        self.origin = origin  # the wide table, and column and row there of each row

    def __contains__(self, name: str) -> bool:
        return name in self.grid or self.names.get(name) in self.table.column_names

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        return self.table[self.names[name]]

    def place(self, name: str, row: int) -> str:
        """Return a cell with its row and column in the file."""
        if self.origin is None:
            table, column = self.table, self.table.column_names.index(self.names[name])
        else:
            table, columns, rows = self.origin
            column, row = int(columns[row]), int(rows[row])
        value = format_value(table.column(column)[row].as_py())
        return f"row {row + 1}, column {table.column_names[column]!r}: {value}"

    def texts(self, name: str, default: str | None = None) -> NDArray[np.object_]:
        if name not in self:
            return np.full(len(self.table), default, dtype=object)
        values = texts(self[name], f"{self.file.name}, column {self.names[name]!r}")
        values[pd.isna(values)] = default
        return values

    def categories(self, name: str, default: str | None = None) -> pd.Categorical:
        if name not in self:
            return constant(default or "", len(self.table))
        return pd.Categorical(self.texts(name, default))

    def cells(self, name: str, read: Any, missing: Any = np.nan) -> Cells:
        if name in self.grid:
            return self.grid[name]
        if name in self:
            return Cells(*read(self[name]))
        empty = np.array(missing, dtype=object if missing is None else np.float64)
        # Views of one value: a file of millions of rows lacks most columns.
        return Cells(*(np.broadcast_to(value, len(self.table)) for value in (empty, False)))


def _tidy(file: LoadedFile, table: pa.Table) -> _Columns:
    columns, present = _Columns(file, table, file.columns), table.column_names
    has = f"it has {', '.join(present[:12])}"
    for ours, theirs in file.spec.columns.items():
        if theirs not in present:
            raise InputError(f"{file.name}: no column {theirs!r} (configured for {ours}); {has}")
    for name in columns.names.values():
        if present.count(name) > 1:
            raise InputError(f"{file.name}: column {name!r} is not unique")
    for needed in (("model",), ITEM_COLUMNS, VALUE_COLUMNS):
        if not any(key in columns for key in needed):
            *others, last = map(repr, needed)
            wanted = f"{', '.join(others)} or {last}" if others else last
            near = (get_close_matches(key, present, n=1) for key in needed)
            renamed = next((close[0] for close in near if close), None)
            hint = f"; rename {renamed!r}, or name it under `columns`" if renamed else ""
            raise InputError(f"{file.name}: a tidy file needs a column {wanted}; {has}{hint}")
    return columns


def _read_rows(
    columns: _Columns,
) -> tuple[pd.DataFrame, list[tuple[str, Mask]], list[tuple[str, Mask]]]:
    """Read all rows, and mark those with invalid values, and by column those not readable."""
    spec, n, item_ids = columns.file.spec, len(columns.table), columns.texts("item_id")
    stated = "correct" if "correct" in columns else "score"
    marks, chosen = columns.cells(stated, numbers), columns.cells("prediction", options)
    cells = {
        **{name: columns.cells(name, numbers) for name in ("p_answer", "p_prediction")},
        "shots": columns.cells("shots", numbers, float(spec.shots)),
        "repeat": columns.cells("repeat", numbers, 1.0),
        **{name: columns.cells(name, number_lists, None) for name in LISTS},
    }
    invalid = [(f"{name} unreadable", read.bad) for name, read in cells.items()]
    for name in ("p_answer", "p_prediction"):
        values = cells[name].content
        outside = (values < -_ROUNDING) | (values > 1 + _ROUNDING)
        invalid.append((f"{name} outside 0–1", outside))
    counts = {}
    for name, default, least in (("shots", spec.shots, -1), ("repeat", 1, 1)):
        values = np.where(np.isnan(cells[name].content), default, cells[name].content)
        values = values + (name == "repeat" and (values == 0).any())  # they may count from 0
        whole = (values >= least) & (values <= _MOST) & (np.floor(values) == values)
        invalid.append((f"invalid {name}", ~whole))
        counts[name] = np.where(whole, values, default).astype(np.int64)
    models = columns.categories("model")
    invalid.append(("missing model", pd.isna(models) | (models == "")))
    style = columns.categories("style", spec.style)
    invalid.append(("unknown style", ~style.isin(["", *STYLES])))
    correct = to_share(columns.file, marks.content, item_ids, models)
    # What cannot be read is wrong, unless another column says what it is.
    unnamed = np.isnan(chosen.content)
    several = chosen.several
    if several is None:
        several = np.broadcast_to(np.array(None, dtype=object), n)
    else:
        unnamed &= pd.isna(several)
    unread = (marks.bad | chosen.bad) & np.isnan(correct) & unnamed
    stated_states = columns.texts("extraction", "none")
    states = np.where(np.isin(stated_states.astype(str), _EXTRACTIONS), stated_states, "none")
    rows = pd.DataFrame(
        {
            "item": pd.Series(item_ids, dtype=object),
            "model": models,
            "condition": columns.categories("condition", spec.condition),
            "style": style,
            **counts,
            "correct": np.where(unread, 0.0, correct),
            "prediction": np.nan_to_num(chosen.content, nan=-1).astype(np.int64),
            "several": pd.Series(several, dtype=object),
            **{name: np.clip(cells[name].content, 0, 1) for name in ("p_answer", "p_prediction")},
            "extraction": pd.Categorical(np.where(unread, FAILED, states)),
            "source": constant(columns.file.name, n),
        },
        copy=False,
    )
    for name in LISTS:
        rows[name] = pd.Series(cells[name].content, dtype=object)
    return rows, invalid, [(stated, unread & marks.bad), ("prediction", unread & ~marks.bad)]


def _join(rows: pd.DataFrame, columns: _Columns, index: ResponseIndex) -> list[tuple[str, Mask]]:
    """Add `position` and `by_hash`; return the rows of copies that are not of this run."""
    hashes, question_only = _hashes(columns)
    item_ids, conditions = rows["item"].to_numpy(), rows["condition"]
    joined = index.join(item_ids, hashes, conditions, question_only=question_only)
    positions = joined.positions
    foreign = []
    for condition in sorted(conditions.unique()):
        of_condition = (conditions == condition).to_numpy(dtype=bool)
        if index.of(condition) is None:
            foreign.append((unknown_condition(condition), of_condition))
        elif condition in index.perturbed and hashes is not None and not question_only:
            texts_of = np.array(hashes, dtype=object)[of_condition]
            if index.is_foreign(condition, zip(item_ids[of_condition], texts_of, strict=True)):
                foreign.append((different_texts(condition), of_condition))
                positions[of_condition] = -1
    rows["position"] = positions
    rows["by_hash"] = joined.by_hash & (positions >= 0)
    return foreign


def _hashes(columns: _Columns) -> tuple[list[str | None] | None, bool]:
    """Return the hash of each row's text, if any, and whether it is of the question alone."""
    if "content_hash" in columns:
        return columns.texts("content_hash").tolist(), False
    if "question" not in columns:
        return None, False
    questions = columns.texts("question")
    if "choices" not in columns:
        return [None if q is None else content_hash(q) for q in questions], True
    hashed = cache(content_hash)  # an item repeats for each model
    texts_of = zip(questions, text_lists(columns["choices"]), strict=True)
    return [None if q is None else hashed(q, choices or ()) for q, choices in texts_of], False


# --- items and models as rows and columns ---------------------------------------------------------


def _melted(file: LoadedFile, table: pa.Table) -> _Columns:
    """Return a row for each cell with an answer."""
    letters = has_letters(file, table)
    read = options if letters else numbers
    names = np.array(table.column_names, dtype=object)
    key, items_in_rows = _orientation(file, table)
    side, other = ("item id", "model") if items_in_rows else ("model", "item id")
    where = f"{file.name}, column {names[key]!r}"
    keys = texts(table.column(key), where)
    if (empty := pd.isna(keys)).any():
        number = int(np.flatnonzero(empty)[0]) + 1
        raise InputError(f"{where}, row {number}: the {side} is missing")
    others = [column for column in range(table.num_columns) if column != key]
    if not others:
        raise InputError(f"{file.name}: no responses beside column {names[key]!r}")
    cells = [read(table.column(column)) for column in others]
    for column, of_column in zip(others, cells, strict=True):
        if of_column.bad.all():
            marks = "" if letters else "; letters are marked by `benchwright read --benchmark NAME`"
            raise InputError(
                f"{file.name}, column {names[column]!r}: expected "
                f"{'letters' if letters else '0–1'}, got "
                f"{str(table.column(column)[0].as_py())[:40]!r} in row 1; remove columns other "
                f"than the {side} and responses{marks}"
            )
    values = np.array([each.content for each in cells])
    bad = np.array([each.bad for each in cells])
    several = _several_of(cells)
    given = ~np.isnan(values) | bad
    if several is not None:
        given |= pd.notna(several)
    at, row = np.nonzero(given)
    if not len(at):
        raise InputError(f"{file.name}: no cell has a response")
    of_cells = {side: (keys, row), other: (names[others], at)}
    ids = {
        name: pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(known, pa.large_string()))
        for name, (known, codes) in of_cells.items()
    }
    melted = pa.table({"item_id": ids["item id"], "model": ids["model"]})
    chosen = None if several is None else several[at, row]
    grid = {"prediction" if letters else "correct": Cells(values[at, row], bad[at, row], chosen)}
    origin = (table, np.array(others)[at], row)
    return _Columns(file, melted, {"item_id": "item_id", "model": "model"}, grid, origin)


def _several_of(columns: Sequence[Cells]) -> NDArray[np.object_] | None:
    """Return the cells (columns, rows) that name several options, None if no cell does."""
    if all(column.several is None for column in columns):
        return None
    several = np.full((len(columns), len(columns[0].content)), None, dtype=object)
    for place, column in enumerate(columns):
        if column.several is not None:
            several[place] = column.several
    return several


def has_letters(file: LoadedFile, table: pa.Table) -> bool:
    """Return whether cells are letters of options, as configured or as the first text shows."""
    stated = file.spec.values  # noqa: PD011
    if stated != "auto":
        return stated == "letters"
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column_kind(column) == "text" and name not in ("item_id", "model"):
            cells = (text.strip() for text in column[:1000].to_pylist() if text is not None)
            first = next(filter(None, cells), "")
            if chosen_options(first, (), len(LETTERS)):
                return True
    return False


def _orientation(file: LoadedFile, table: pa.Table) -> tuple[int, bool]:
    """Return the position of the key column, and whether rows are items."""
    names = table.column_names
    for ours in ("item_id", "model"):
        key = file.spec.columns.get(ours, ours)
        if key in names:
            return names.index(key), ours == "item_id"
    has = ", ".join(names[:12])
    raise InputError(f"{file.name}: no column 'item_id' or 'model'; it has {has}")
