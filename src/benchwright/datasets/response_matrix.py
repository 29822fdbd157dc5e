"""A response matrix in one Parquet file, a row per model."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError
from benchwright.core.kedro_internals import LocalFile
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.verbatim import BROKEN, EXPANSION, TABLE_SLACK, read_errors

_KEY = b"benchwright.response_matrix"  # marks the format, independent of module names
_FIELDS = {
    "correct": pa.float32(),
    "p_answer": pa.float32(),
    "p_prediction": pa.float32(),
    "prediction": pa.int16(),
}
_ROWS_PER_GROUP = 256  # bounds additional memory


class ResponseMatrixDataset(LocalFile[ResponseMatrix]):
    """A `ResponseMatrix` as Parquet, with a row per model and a list per field.

    Item ids and condition are JSON in the schema's metadata. Loading restores values bit for bit; a
    field without any value of a model is null.
    """

    content_name = "response matrices"

    def load(self) -> ResponseMatrix:
        """Read the matrix; InputError if the file is not a response matrix."""
        return _read(self.load_path())

    def save(self, data: ResponseMatrix) -> None:
        """Write the matrix atomically."""
        with written_aside(self.save_path()) as aside:
            _write(data, aside)


def is_response_matrix(path: Path) -> bool:
    """Return whether a file is Parquet with the metadata of a response matrix."""
    import pyarrow.parquet as pq

    if not path.name.endswith(".parquet"):
        return False
    try:
        return _KEY in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError, ValueError):
        return False


def _is_blank(name: str, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (m,) True where a model has no value in this field."""
    missing = values < 0 if name == "prediction" else np.isnan(values)
    return np.asarray(missing.all(axis=1))


def _write(matrix: ResponseMatrix, path: Path) -> None:
    import pyarrow.parquet as pq

    described = {"version": 1, "item_ids": matrix.item_ids, "condition": matrix.condition}
    schema = pa.schema(
        [("model", pa.string()), *((name, pa.list_(kind)) for name, kind in _FIELDS.items())],
        metadata={_KEY: json.dumps(described, ensure_ascii=False).encode()},
    )
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(matrix.models), _ROWS_PER_GROUP):
            rows = slice(start, start + _ROWS_PER_GROUP)
            columns = [
                pa.array(matrix.models[rows], pa.string()),
                *(_lists(name, getattr(matrix, name)[rows]) for name in _FIELDS),
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _lists(name: str, values: NDArray[Any]) -> pa.Array:
    """Convert (m, n) numbers to m lists, null where a model has no value."""
    blank = _is_blank(name, values)
    present = np.ascontiguousarray(values[~blank])
    lengths = np.where(blank, 0, values.shape[1])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.array(present.ravel(), _FIELDS[name]), mask=pa.array(blank)
    )


def _read(path: Path) -> ResponseMatrix:
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except BROKEN as error:
        message = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: not a Parquet file: {message}") from error
    with file, read_errors(path):
        item_ids, condition = _described(file)
        models = _models(file)
        shape = (len(models), len(item_ids))
        if 4 * shape[0] * shape[1] > max(TABLE_SLACK, EXPANSION * path.stat().st_size):
            raise InputError(
                f"{shape[0]:,} models x {shape[1]:,} items exceed the size of the file"
            )
        values: dict[str, NDArray[Any]] = {}
        start = 0
        for group in range(file.metadata.num_row_groups):
            table = file.read_row_group(group, columns=list(_FIELDS))
            rows = slice(start, start + table.num_rows)
            start = rows.stop
            for name in _FIELDS:
                _fill(values, name, table[name], rows, shape)
        return ResponseMatrix.of(models, item_ids, condition=condition, **values)


def _described(file: Any) -> tuple[tuple[str, ...], str]:
    """Return items and condition from the schema; check the columns."""
    schema = file.schema_arrow
    described = (schema.metadata or {}).get(_KEY)
    if described is None:
        raise InputError(f"not a response matrix (no {_KEY.decode()} in its schema)")
    for name, kind in _FIELDS.items():
        stored = schema.field(name).type if name in schema.names else None
        if stored is None or not pa.types.is_list(stored) or stored.value_type != kind:
            raise InputError(
                f"column {name!r}: expected lists of {kind}, got {stored or 'nothing'}"
            )
    facts = json.loads(described)
    ids = facts.get("item_ids") if isinstance(facts, dict) else None
    condition = facts.get("condition") if isinstance(facts, dict) else None
    texts = isinstance(ids, list) and all(isinstance(item_id, str) for item_id in ids)
    if not texts or not isinstance(condition, str):
        raise InputError(f"{_KEY.decode()} in the schema lacks items and condition")
    return tuple(ids or ()), condition


def _models(file: Any) -> tuple[str, ...]:
    models: dict[str, None] = {}
    for batch in file.iter_batches(columns=["model"]):
        for name in batch.column(0).to_pylist():
            if not isinstance(name, str) or name in models:
                raise InputError(
                    f"row {len(models) + 1}: model {name!r}; names must be unique texts"
                )
            models[name] = None
    if len(models) != file.metadata.num_rows:
        raise InputError(f"{len(models)} rows, but the footer states {file.metadata.num_rows}")
    return tuple(models)


def _fill(
    values: dict[str, NDArray[Any]],
    name: str,
    column: pa.ChunkedArray,
    rows: slice,
    shape: tuple[int, int],
) -> None:
    """Write the lists of one row group into `values[name]`, allocated on first use."""
    present = np.asarray(column.is_valid().to_numpy())
    if not present.any():
        return
    if name not in values:
        kind = np.dtype(_FIELDS[name].to_pandas_dtype())
        values[name] = np.full(shape, -1 if name == "prediction" else np.nan, dtype=kind)
    lists = column.drop_null().combine_chunks()
    if not bool(pc.all(pc.equal(pc.list_value_length(lists), shape[1])).as_py()):
        raise InputError(f"column {name!r}: expected one value per item ({shape[1]})")
    flat = lists.flatten().to_numpy(zero_copy_only=False)
    if name != "prediction" and bool(((flat < 0) | (flat > 1)).any()):
        raise InputError(f"column {name!r}: value outside 0 to 1")
    values[name][rows][present] = flat.reshape(-1, shape[1])
