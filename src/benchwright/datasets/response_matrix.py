"""A response matrix in one Parquet file, a row per model."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError
from benchwright.core.kedro_internals import LocalFile
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.verbatim import BROKEN, opened_parquet

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
    except BROKEN:
        return False


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
    blank = (values < 0 if name == "prediction" else np.isnan(values)).all(axis=1)
    present = np.ascontiguousarray(values[~blank])
    lengths = np.where(blank, 0, values.shape[1])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.array(present.ravel(), _FIELDS[name]), mask=pa.array(blank)
    )


def _read(path: Path) -> ResponseMatrix:
    with opened_parquet(path) as file:
        described = (file.schema_arrow.metadata or {}).get(_KEY)
        if described is None:
            raise InputError(f"not a response matrix (no {_KEY.decode()} in its schema)")
        facts = json.loads(described)
        item_ids = tuple(facts["item_ids"])
        models = tuple(file.read(["model"])["model"].to_pylist())
        shape = (len(models), len(item_ids))
        values: dict[str, NDArray[Any]] = {}
        stop = 0
        for group in range(file.metadata.num_row_groups):
            table = file.read_row_group(group, columns=list(_FIELDS))
            start, stop = stop, stop + table.num_rows
            for name, kind in _FIELDS.items():
                present = np.asarray(table[name].is_valid().to_numpy())
                if not present.any():
                    continue
                if name not in values:
                    missing = -1 if name == "prediction" else np.nan
                    values[name] = np.full(shape, missing, dtype=kind.to_pandas_dtype())
                flat = table[name].drop_null().combine_chunks().flatten()
                cells = flat.to_numpy(zero_copy_only=False).reshape(-1, shape[1])
                values[name][start:stop][present] = cells
        return ResponseMatrix.of(models, item_ids, condition=facts["condition"], **values)
