"""Neighbours of items in one Parquet file."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchwright.core.atomic_files import written_aside
from benchwright.core.kedro_internals import LocalFile
from benchwright.core.neighbourhood import Neighbourhood

_CELLS_PER_GROUP = 1 << 21  # bounds the memory of the writer


class NeighbourTable(LocalFile[Neighbourhood]):
    """A `Neighbourhood` as a row per item: `item_id`, and lists `neighbours` and `distances`.

    Neighbours are row numbers from 0, nearest first.
    """

    def load(self) -> Neighbourhood:
        """Return the neighbours as they were saved."""
        import pyarrow.parquet as pq

        table = pq.read_table(self.load_path())
        if not len(table):
            return Neighbourhood.empty()
        return Neighbourhood(
            table["item_id"].to_pylist(), _rows(table["neighbours"]), _rows(table["distances"])
        )

    def save(self, data: Neighbourhood) -> None:
        """Write the table atomically."""
        import pyarrow.parquet as pq

        k = max(data.indices.shape[1], 1)
        columns = {
            "item_id": pa.array(data.item_ids, pa.string()),
            "neighbours": pa.FixedSizeListArray.from_arrays(data.indices.ravel(), k),
            "distances": pa.FixedSizeListArray.from_arrays(data.distances.ravel(), k),
        }
        rows = max(_CELLS_PER_GROUP // k, 1)
        with written_aside(self.save_path()) as aside:
            pq.write_table(pa.table(columns), aside, row_group_size=rows, compression="zstd")


def _rows(lists: pa.ChunkedArray) -> NDArray[Any]:
    """Return lists of one length as an array (n, k)."""
    values = np.concatenate([part.flatten().to_numpy() for part in lists.chunks])
    return values.reshape(len(lists), -1)
