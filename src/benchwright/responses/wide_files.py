"""Read response files with a table of items and models as matrices."""

import re
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from benchwright.core.configuration import configuration_name
from benchwright.core.errors import InputError
from benchwright.datasets.response_files import LoadedFile
from benchwright.responses.cell_values import column_kind, numbers, options, texts
from benchwright.responses.item_index import ItemIndex, Positions
from benchwright.responses.tally import EXAMPLES, Tally

Float = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class WideResponses:
    """The joined cells of one wide file."""

    file: str  # its name
    condition: str  # `question`, …
    models: tuple[str, ...]  # m configuration names, unique
    positions: Positions  # (n,) positions of evaluation items in the index, ascending
    correct: Float | None  # (m, n) 0–1, NaN if missing; None if the file contains letters
    # (m, n) chosen options, −1 if missing; None if the file contains 0–1
    prediction: NDArray[np.int16] | None


@dataclass
class _Grid:
    """Cells as models × items, as in the file."""

    models: NDArray[np.object_]
    item_ids: NDArray[np.object_]
    cells: Float
    bad: Mask

    def take(self, models: NDArray[np.intp], items: NDArray[np.intp]) -> "_Grid":
        block = np.ix_(models, items)
        return _Grid(self.models[models], self.item_ids[items], self.cells[block], self.bad[block])

    def first(self, cells: Mask) -> list[str]:
        """Return the first marked cells as `item × model`, sorted by name."""
        names: list[str] = []
        for item in sorted(np.flatnonzero(cells.any(axis=0)), key=lambda i: self.item_ids[i]):
            models = sorted(str(self.models[row]) for row in np.flatnonzero(cells[:, item]))
            names += [f"{self.item_ids[item]} × {model}" for model in models[:EXAMPLES]]
            if len(names) >= EXAMPLES:
                break
        return names[:EXAMPLES]


def read_wide(file: LoadedFile, index: ItemIndex) -> tuple[WideResponses, Tally]:
    """Read a wide file: the joined cells, and a tally of all cells that are not empty.

    Raises:
        InputError: neither rows nor columns are items, a column has neither numbers nor letters,
            or no cell has a response.
    """
    table = file.table
    if table is None:
        raise ValueError(f"{file.name} was not loaded")
    kind = _values(file, table)
    grid = _grid(file, table, index, kind)
    positions = index.find(grid.item_ids)
    most = np.where(positions >= 0, index.options[positions], 26)
    letters = kind == "letters"
    grid.bad |= grid.cells >= most if letters else (grid.cells < 0) | (grid.cells > 1)
    grid.cells[grid.bad] = np.nan
    answered = ~np.isnan(grid.cells)
    tally = Tally(file.name, "wide", models=len(set(grid.models)))
    tally.rows = int(answered.sum() + grid.bad.sum())
    if not answered.any():
        problem = "no valid cell; write correctness as 0–1, or letters of options"
        problem = (
            f"{problem} with `values: letters`" if grid.bad.any() else "no cell has a response"
        )
        raise InputError(f"{file.name}: {problem}")
    what = f"dropped (not {'an option of the item' if letters else '0–1'})"
    tally.add("dropped", what, grid.bad.sum(), grid.first(grid.bad))
    lost = answered & (positions < 0)
    tally.add("not_joined", "not joined", lost.sum(), grid.first(lost))
    models = np.arange(len(grid.models))
    kept = _merge_repeated(grid.take(models, np.flatnonzero(positions >= 0)), tally)
    tally.joined_by_id = int((~np.isnan(kept.cells)).sum())
    return _responses(file, kept, kind, index), tally


def _values(file: LoadedFile, table: pa.Table) -> Literal["correct", "letters"]:
    """Return the kind of values, as configured or as the first text cell shows."""
    stated = file.spec.values  # noqa: PD011
    if stated != "auto":
        return stated
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column_kind(column) != "text" or name in ("item_id", "model"):
            continue
        for text in column.to_pylist()[:1000]:
            if text is not None and text.strip():
                if re.fullmatch("[A-Za-z]", text.strip()):
                    return "letters"
                break
    return "correct"


def _grid(
    file: LoadedFile, table: pa.Table, index: ItemIndex, kind: Literal["correct", "letters"]
) -> _Grid:
    names = np.array(table.column_names, dtype=object)
    key, items_in_rows = _orientation(file, table, index)
    where = f"{file.name}, column {names[key]!r}"
    rows = texts(table.column(key), where)
    empty = pd.isna(rows)
    if empty.any():
        number = int(np.flatnonzero(empty)[0]) + 1
        side = "item id" if items_in_rows else "model"
        raise InputError(f"{where}, row {number}: the {side} is missing")
    read = numbers if kind == "correct" else options
    others = [i for i in range(table.num_columns) if i != key]
    values = np.empty((len(others), table.num_rows), dtype=np.float32)
    bad = np.zeros(values.shape, dtype=bool)
    for row, column in enumerate(others):
        cells = read(table.column(column))
        if cells.bad.all():
            raise InputError(
                f"{file.name}, column {names[column]!r}: expected "
                f"{'0–1' if kind == 'correct' else 'letters'}, got "
                f"{str(table.column(column)[0].as_py())[:40]!r} in row 1; remove columns other "
                f"than {'the item id' if items_in_rows else 'the model'} and responses"
            )
        values[row], bad[row] = cells.content, cells.bad
    if items_in_rows:
        return _Grid(names[others], rows, values, bad)
    return _Grid(rows, names[others], np.ascontiguousarray(values.T), np.ascontiguousarray(bad.T))


def _orientation(file: LoadedFile, table: pa.Table, index: ItemIndex) -> tuple[int, bool]:
    """Return the position of the key column, and whether rows are items."""
    spec = file.spec
    item_key = spec.columns.get("item_id", "item_id")
    model_key = spec.columns.get("model", "model")
    names = table.column_names
    if spec.orientation != "auto":
        wanted = item_key if spec.orientation == "items_by_models" else model_key
        if wanted not in names:
            raise InputError(
                f"{file.name}: {spec.orientation} needs a column {wanted!r}; "
                f"it has {', '.join(names[:8])}"
            )
        return names.index(wanted), spec.orientation == "items_by_models"
    for key, items_in_rows in ((item_key, True), (model_key, False)):
        if key in names:
            return names.index(key), items_in_rows
    if (index.find(names[1:]) >= 0).any():
        return 0, False
    if (
        column_kind(table.column(0)) == "text"
        and (index.find(str(name) for name in table.column(0).to_pylist()) >= 0).any()
    ):
        return 0, True
    raise InputError(
        f"{file.name}: neither rows nor columns are items of this benchmark: there is no column "
        f"'item_id' or 'model', and neither {table.column(0)[0].as_py()!r} nor {names[-1]!r} is an "
        "item id"
    )


def _merge_repeated(grid: _Grid, tally: Tally) -> _Grid:
    """Merge repeated models and items; the first response of each cell counts."""
    doubled, differing = np.zeros_like(grid.bad), np.zeros_like(grid.bad)
    models = _fold(grid.models, grid.cells, doubled, differing)
    items = _fold(grid.item_ids, grid.cells.T, doubled.T, differing.T)
    tally.add("doubled", "duplicates", doubled.sum(), grid.first(doubled))
    what = "duplicates with a different response (the first counts)"
    tally.add("contradicting", what, differing.sum(), grid.first(differing))
    return grid.take(models, items)


def _fold(
    names: NDArray[np.object_], values: Float, doubled: Mask, differing: Mask
) -> NDArray[np.intp]:
    """Fill the first row of each name from later ones, in place; return the first rows."""
    firsts: dict[str, int] = {}
    for row, name in enumerate(names):
        first = firsts.setdefault(str(name), row)
        if first == row:
            continue
        both = ~np.isnan(values[first]) & ~np.isnan(values[row])
        doubled[row] |= both
        differing[row] |= both & (values[first] != values[row])
        values[first] = np.where(np.isnan(values[first]), values[row], values[first])
    return np.array(list(firsts.values()), dtype=np.intp)


def _responses(
    file: LoadedFile, grid: _Grid, kind: Literal["correct", "letters"], index: ItemIndex
) -> WideResponses:
    """Keep evaluation items in their order, and models that answered one of them."""
    positions = index.find(grid.item_ids)
    order = np.argsort(positions, kind="stable")
    order = order[positions[order] < index.n_items]
    grid = grid.take(np.arange(len(grid.models)), order)
    answering = np.flatnonzero(~np.isnan(grid.cells).all(axis=1))
    grid = grid.take(answering, np.arange(len(order)))
    spec = file.spec
    models = tuple(configuration_name(str(m), spec.style, spec.shots) for m in grid.models)
    responses = WideResponses(file.name, spec.condition, models, positions[order], grid.cells, None)
    if kind == "correct":
        return responses
    prediction = np.where(np.isnan(grid.cells), -1, grid.cells).astype(np.int16)
    return replace(responses, correct=None, prediction=prediction)
