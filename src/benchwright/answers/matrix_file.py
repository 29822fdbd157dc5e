"""A response matrix in one Parquet file, a row per model and a list per field.

Item ids and condition are JSON in the schema's metadata. Reading restores values bit for bit; a
field without any value has no column.
"""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.verbatim import BROKEN, opened_parquet

_KEY = b"benchwright.response_matrix"  # marks the format, independent of module names
_VERSION = 2
_FIELDS = ("correct", "p_answer", "p_prediction", "prediction")
_ROWS_PER_GROUP = 256  # bounds additional memory


def read_matrix(path: Path) -> ResponseMatrix:
    """Read a matrix; InputError if the file is not a response matrix."""
    with opened_parquet(path) as file:
        described = (file.schema_arrow.metadata or {}).get(_KEY)
        if described is None:
            raise InputError(f"not a response matrix (no {_KEY.decode()} in its schema)")
        facts = json.loads(described)
        if facts["version"] != _VERSION:
            raise InputError("made by another version of benchwright; run again what made it")
        item_ids = tuple(facts["item_ids"])
        models = tuple(file.read(["model"])["model"].to_pylist())
        values = {}
        for name in set(_FIELDS) & set(file.schema_arrow.names):
            parts = [part.flatten().to_numpy() for part in file.read([name])[name].chunks]
            values[name] = np.concatenate(parts).reshape(len(models), len(item_ids))
        return ResponseMatrix.of(models, item_ids, condition=facts["condition"], **values)


def write_matrix(matrix: ResponseMatrix, path: Path) -> None:
    """Write a matrix, whole or not at all."""
    import pyarrow.parquet as pq

    described = {"version": _VERSION, "item_ids": matrix.item_ids, "condition": matrix.condition}
    columns = {"model": pa.array(matrix.models, pa.string())}
    for name in _FIELDS:
        values = getattr(matrix, name)
        missing = values < 0 if name == "prediction" else np.isnan(values)
        if not missing.all():
            columns[name] = pa.FixedSizeListArray.from_arrays(values.ravel(), values.shape[1])
    metadata = {_KEY: json.dumps(described, ensure_ascii=False).encode()}
    table = pa.table(columns, metadata=metadata)
    with written_aside(path) as aside:
        pq.write_table(table, aside, row_group_size=_ROWS_PER_GROUP, compression="zstd")


def is_matrix(path: Path) -> bool:
    """Return whether a file is Parquet with the metadata of a response matrix."""
    import pyarrow.parquet as pq

    if not path.name.endswith(".parquet"):
        return False
    try:
        return _KEY in (pq.read_schema(path).metadata or {})
    except BROKEN:
        return False
