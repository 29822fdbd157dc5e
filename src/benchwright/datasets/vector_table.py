"""Tables with a column of vectors, read into one array and written in parts."""

from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from benchwright.core.atomic_files import written_aside
from benchwright.core.kedro_internals import loaded_from, saved_to
from benchwright.datasets.atomic import ParquetTable

_VECTOR = "vector"
_ROWS_PER_GROUP = 20_000


class VectorTable(ParquetTable):
    """A table in a local Parquet file whose column `vector` has lists of equally many floats."""

    def load(self) -> pd.DataFrame:
        """Return the table; the vectors are rows of one array, in memory once."""
        path = loaded_from(self)
        return super().load() if path is None else read_vectors(path)

    def save(self, data: pd.DataFrame) -> None:
        """Write the table atomically, a long one in parts."""
        path = saved_to(self)
        if path is None or len(data) <= _ROWS_PER_GROUP:
            super().save(data)
            return
        import pyarrow as pa
        import pyarrow.parquet as pq

        parts = (data[i : i + _ROWS_PER_GROUP] for i in range(0, len(data), _ROWS_PER_GROUP))
        tables = (pa.Table.from_pandas(part, preserve_index=False) for part in parts)
        first = next(tables)
        with written_aside(path) as aside, pq.ParquetWriter(aside, first.schema) as writer:
            for table in chain([first], tables):
                writer.write_table(table)


def read_vectors(path: Path) -> pd.DataFrame:
    """Read a table whose vectors, if it was written in parts, become rows of one array."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        groups, names = file.metadata.num_row_groups, file.schema_arrow.names
        if groups < 2:
            return pd.read_parquet(path)
        frame = file.read(columns=[name for name in names if name != _VECTOR]).to_pandas()
        whole = np.empty((0, 0), np.float32)
        start = 0
        for group in range(groups):
            lists = file.read_row_group(group, columns=[_VECTOR])[_VECTOR].combine_chunks()
            block = lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), -1)
            if not group:
                whole = np.empty((len(frame), block.shape[1]), block.dtype)
            whole[start : (start := start + len(block))] = block
    frame[_VECTOR] = list(whole)
    return frame[names]
