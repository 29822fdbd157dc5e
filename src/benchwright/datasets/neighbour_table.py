"""Neighbours of items as a table in one Parquet file, read and written in parts."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from benchwright.core.atomic_files import written_aside
from benchwright.core.kedro_internals import LocalFile
from benchwright.core.neighbourhood import Neighbourhood

_ROWS_PER_GROUP = 1 << 21
_IDS = ("item_id", "neighbour")
_LARGEST_DICTIONARY = 1 << 30


class NeighbourTable(LocalFile[Neighbourhood]):
    """A `Neighbourhood` as a `Neighbours` table: a row for each item and neighbour.

    Each id is stored once in a part of the file, so that loading does not read it for every row.
    """

    def load(self) -> Neighbourhood:
        """Return the neighbours as they were saved."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.load_path(), read_dictionary=list(_IDS)) as file:
            ids: dict[str, None] = {}
            for column in _columns(file, "item_id"):
                seen = column.dictionary.take(pc.unique(column.indices))
                ids.update(dict.fromkeys(seen.to_pylist()))
            if not ids:
                return Neighbourhood.empty()
            position = pd.Index(list(ids))
            columns = np.empty(file.metadata.num_rows, np.int32)
            distances = np.empty(file.metadata.num_rows, np.float32)
            start = 0
            for near, distance in zip(
                _columns(file, "neighbour"), _columns(file, "distance"), strict=True
            ):
                rows = slice(start, start := start + len(near))
                places = position.get_indexer(near.dictionary.to_pandas())
                columns[rows] = places[near.indices.to_numpy()]
                distances[rows] = distance.to_numpy()
            shape = (len(ids), -1)
            return Neighbourhood(list(ids), columns.reshape(shape), distances.reshape(shape))

    def save(self, data: Neighbourhood) -> None:
        """Write the table atomically."""
        import pyarrow.parquet as pq

        schema = pa.schema(
            {
                **dict.fromkeys(_IDS, pa.dictionary(pa.int32(), pa.string())),
                "distance": pa.float64(),
            }
        )
        with (
            written_aside(self.save_path()) as aside,
            pq.ParquetWriter(
                aside,
                schema,
                # Without Arrow's schema a reader sees texts, not dictionaries.
                store_schema=False,
                use_dictionary=list(_IDS),
                dictionary_pagesize_limit=_LARGEST_DICTIONARY,
                # Of a hundred million rows, statistics would take half of the time.
                write_statistics=False,
                compression="zstd",
            ) as writer,
        ):
            for part in _parts(data):
                writer.write_table(pa.Table.from_arrays(part, schema=schema))


def _parts(data: Neighbourhood) -> Iterator[list[pa.Array]]:
    """Yield the columns of consecutive items."""
    n, k = data.indices.shape
    ids = pa.array(data.item_ids, pa.string())
    step = max(1, _ROWS_PER_GROUP // max(k, 1))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        own = ids[rows]  # a writer holds the dictionary of each column
        numbers = np.repeat(np.arange(len(own), dtype=np.int32), k)
        yield [
            pa.DictionaryArray.from_arrays(pa.array(numbers), own),
            pa.DictionaryArray.from_arrays(pa.array(data.indices[rows].ravel()), ids),
            pa.array(data.distances[rows].ravel().astype(np.float64)),
        ]


def _columns(file: Any, name: str) -> Iterator[Any]:
    """Yield a column in parts, each one array."""
    for group in range(file.metadata.num_row_groups):
        yield file.read_row_group(group, columns=[name])[name].combine_chunks()
