"""The nearest neighbours of each item as arrays."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.natural_order import in_order


class Neighbourhood(NamedTuple):
    """The k nearest other items of n items, 8·k bytes an item; the table has a row for each."""

    item_ids: Sequence[str]  # n ids in natural order
    indices: NDArray[np.int32]  # (n, k) positions of the neighbours, nearest first
    distances: NDArray[np.float32]  # (n, k) cosine distances

    @classmethod
    def empty(cls) -> Self:
        """Return the neighbours of no items."""
        indices = np.empty((0, 0), np.int32)
        return cls((), indices, indices.astype(np.float32))

    @classmethod
    def of(cls, neighbours: pd.DataFrame) -> Self:
        """Read a `Neighbours` table in any order; each item has as many neighbours."""
        ids = in_order(neighbours["item_id"].unique())
        if not ids:
            return cls.empty()
        position = pd.Index(ids)
        rows = position.get_indexer(pd.Index(neighbours["item_id"]))
        columns = position.get_indexer(pd.Index(neighbours["neighbour"])).astype(np.int32)
        distances = neighbours["distance"].to_numpy(dtype=np.float32)
        order = np.lexsort((columns, distances, rows))
        shape = (len(ids), -1)
        return cls(ids, columns[order].reshape(shape), distances[order].reshape(shape))

    def table(self) -> pd.DataFrame:
        """Return the columns of `Neighbours`."""
        names = pd.Series(self.item_ids, dtype="str")
        return pd.DataFrame(
            {
                "item_id": names.repeat(self.indices.shape[1]).reset_index(drop=True),
                "neighbour": names.take(self.indices.ravel()).reset_index(drop=True),
                "distance": self.distances.ravel().astype(np.float64),
            }
        )

    def first(self, k: int) -> Self:
        """Return the items with only their k nearest neighbours."""
        return self._replace(indices=self.indices[:, :k], distances=self.distances[:, :k])

    def nearest_distances(self) -> NDArray[np.float32]:
        """Return the distance (n,) of each item to its nearest neighbour."""
        return self.distances[:, 0] if len(self.item_ids) else np.empty(0, np.float32)
