"""Tables with a column of vectors, read into one array and written in parts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from benchwright.core.atomic_files import written_aside
from benchwright.core.kedro_internals import LocalFile
from benchwright.core.verbatim import read_errors

_VECTOR = "vector"
_ROWS_PER_GROUP = 20_000


class VectorTable(LocalFile[pd.DataFrame]):
    """A table in a Parquet file whose column `vector` has lists of equally many floats."""

    def load(self) -> pd.DataFrame:
        """Return the table; the vectors are rows of one array, in memory once."""
        with read_errors(self.load_path()):
            return read_vectors(self.load_path())

    def save(self, data: pd.DataFrame) -> None:
        """Write the table atomically, a long one in parts."""
        import pyarrow.parquet as pq

        schema = pa.Schema.from_pandas(data[:_ROWS_PER_GROUP], preserve_index=False)
        starts = range(0, max(len(data), 1), _ROWS_PER_GROUP)
        with written_aside(self.save_path()) as aside, pq.ParquetWriter(aside, schema) as writer:
            for start in starts:
                part = data[start : start + _ROWS_PER_GROUP]
                writer.write_table(pa.Table.from_pandas(part, schema, preserve_index=False))


def read_vectors(path: Path) -> pd.DataFrame:
    """Read a table whose vectors, if it was written in parts, become rows of one array."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        groups = file.metadata.num_row_groups
        names = file.schema_arrow.names
        if groups < 2:
            return pd.read_parquet(path)
        frame = file.read(columns=[name for name in names if name != _VECTOR]).to_pandas()
        whole = np.empty((0, 0), np.float32)
        start = 0
        for group in range(groups):
            lists = file.read_row_group(group, columns=[_VECTOR])[_VECTOR].combine_chunks()
            block = lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), -1)
            if group == 0:
                whole = np.empty((len(frame), block.shape[1]), block.dtype)
            whole[start : start + len(block)] = block
            start += len(block)
    frame[_VECTOR] = list(whole)
    return frame[names]
