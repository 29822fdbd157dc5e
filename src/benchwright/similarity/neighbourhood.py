"""The nearest neighbours of each item in embedding space (SMART, section 3.4)."""

from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.natural_order import in_order
from benchwright.statistics.nearest_neighbours import approximate_neighbours, nearest_neighbours

Bools = NDArray[np.bool_]


class Neighbourhood(NamedTuple):
    """The nearest neighbours of n items."""

    item_ids: tuple[str, ...]  # n ids in natural order
    questions: tuple[str, ...]  # their n texts
    indices: NDArray[np.intp]  # (n, k) positions of the neighbours, nearest first
    distances: NDArray[np.float64]  # (n, k) cosine distances

    @classmethod
    def of(cls, items: pd.DataFrame, neighbours: pd.DataFrame) -> Self:
        """Read the items that have neighbours from the tables `Items` and `Neighbours`."""
        ids = in_order(neighbours["item_id"].unique())
        if not ids:
            return cls._blank()
        question_of = dict(zip(items["item_id"], items["question"], strict=True))
        position = pd.Index(ids)
        rows = position.get_indexer(pd.Index(neighbours["item_id"]))
        columns = position.get_indexer(pd.Index(neighbours["neighbour"]))
        distances = neighbours["distance"].to_numpy(dtype=np.float64)
        order = np.lexsort((columns, distances, rows))
        shape = (len(ids), -1)
        return cls(
            tuple(ids),
            tuple(question_of[item_id] for item_id in ids),
            columns[order].reshape(shape),
            distances[order].reshape(shape),
        )

    @classmethod
    def nearest(
        cls, items: pd.DataFrame, embeddings: pd.DataFrame, k: int, exact_up_to: int | None = None
    ) -> Self:
        """Find the k nearest other items of each item that has a vector.

        With fewer than k other items, k is their number. Above `exact_up_to` items the search is
        approximate and misses a few neighbours.

        Raises:
            InputError: vectors of different lengths (made with different encoders), or faiss is
                needed and not installed.
        """
        question_of = dict(zip(items["item_id"], items["question"], strict=True))
        ids, vectors = item_vectors(items, embeddings)
        if len(ids) < 2:
            return cls._blank()
        exact = exact_up_to is None or len(ids) <= exact_up_to
        nearest = (nearest_neighbours if exact else approximate_neighbours)(vectors, k)
        return cls(
            tuple(ids),
            tuple(question_of[item_id] for item_id in ids),
            nearest.indices.astype(np.intp),
            nearest.distances.astype(np.float64),
        )

    def first(self, k: int) -> Self:
        """Return the items with only their k nearest neighbours."""
        return self._replace(indices=self.indices[:, :k], distances=self.distances[:, :k])

    def nearest_distances(self) -> NDArray[np.float64]:
        """Return the distance (n,) of each item to its nearest neighbour."""
        return self.distances[:, 0] if self.item_ids else np.empty(0)

    @classmethod
    def _blank(cls) -> Self:
        blank = np.empty((0, 0))
        return cls((), (), blank.astype(np.intp), blank)


def item_vectors(
    items: pd.DataFrame, embeddings: pd.DataFrame
) -> tuple[list[str], NDArray[np.float32]]:
    """Return the ids of items that have a vector, in natural order, and their vectors (n, d).

    Vectors that are contiguous in memory, as after reading a file in this order, are not copied.

    Raises:
        InputError: vectors of different lengths (made with different encoders).
    """
    vector_of = dict(zip(embeddings["item_id"], embeddings["vector"], strict=True))
    ids = in_order(item_id for item_id in items["item_id"].unique() if item_id in vector_of)
    rows = [vector_of[item_id] for item_id in ids]
    sizes = {len(row) for row in rows}
    if len(sizes) > 1:
        raise InputError(f"embeddings: vectors of different lengths: {sorted(sizes)}")
    return ids, _stacked(rows) if rows else np.empty((0, 0), np.float32)


def _stacked(rows: list[Any]) -> NDArray[np.float32]:
    """Stack rows as (n, d): a view where they are consecutive pieces of one float32 array."""
    base, size = getattr(rows[0], "base", None), len(rows[0])
    if base is None or base.dtype != np.float32 or not base.flags.c_contiguous:
        return np.array(rows, dtype=np.float32)
    if any(row.base is not base for row in rows):
        return np.array(rows, dtype=np.float32)
    starts = np.array([row.__array_interface__["data"][0] for row in rows])
    if (np.diff(starts) != size * base.itemsize).any():
        return np.array(rows, dtype=np.float32)
    first = (starts[0] - base.__array_interface__["data"][0]) // base.itemsize
    return base.reshape(-1)[first : first + size * len(rows)].reshape(len(rows), size)


def alike_pairs(
    near: Neighbourhood, rows: NDArray[np.intp], ranks: NDArray[np.intp], above: float
) -> Bools:
    """Mark the pairs (item `rows[i]`, its neighbour of rank `ranks[i]`) with similar questions.

    Their rapidfuzz ratio (0–1), the share of common characters in order, exceeds `above`.
    """
    from rapidfuzz import fuzz, process

    left = [near.questions[row] for row in rows]
    right = [near.questions[column] for column in near.indices[rows, ranks]]
    return process.cpdist(left, right, scorer=fuzz.ratio, dtype=np.float64) > 100 * above


def leading_alike(near: Neighbourhood, above: float) -> NDArray[np.intp]:
    """Count for each item the leading neighbours with similar questions.

    These are copies or differ by a symbol; their distances say nothing about paraphrases.
    """
    n, k = near.indices.shape
    count = np.zeros(n, dtype=np.intp)
    rows = np.arange(n)
    for rank in range(k):
        rows = rows[alike_pairs(near, rows, np.full(len(rows), rank), above)]
        if not len(rows):
            break
        count[rows] = rank + 1
    return count
