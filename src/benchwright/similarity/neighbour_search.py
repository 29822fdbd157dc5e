"""The search for the nearest neighbours of each item in embedding space (SMART, section 3.4)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.core.cells import in_one_part
from benchwright.core.errors import InputError
from benchwright.core.neighbourhood import Neighbourhood
from benchwright.statistics.nearest_neighbours import approximate_blocks, exact_blocks

Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]

_PAIRS = 1 << 16  # questions compared at once


def search_neighbours(
    items: pd.DataFrame, embeddings: pd.DataFrame, k: int, exact_up_to: int | None = None
) -> Neighbourhood:
    """Find the k nearest other items of each item with a vector, all others if there are fewer.

    Above `exact_up_to` items the search is approximate and misses a few neighbours.
    """
    ids, vectors = item_vectors(items, embeddings)
    n = len(ids)
    if n < 2:
        return Neighbourhood.empty()
    k = min(k, n - 1)
    near = Neighbourhood(ids, np.empty((n, k), np.int32), np.empty((n, k), np.float32))
    search = exact_blocks if exact_up_to is None or n <= exact_up_to else approximate_blocks
    for rows, found in search(vectors, k):
        near.indices[rows], near.distances[rows] = found
    return near


def item_vectors(
    items: pd.DataFrame, embeddings: pd.DataFrame
) -> tuple[list[str], NDArray[np.float32]]:
    """Return the ids of items that have a vector, in order, and their vectors (n, d).

    Vectors that are contiguous in memory, as after reading a file in this order, are not copied.

    Raises:
        InputError: vectors of different lengths (made with different encoders).
    """
    wanted = in_one_part(items["item_id"])
    known = in_one_part(embeddings["item_id"])
    ids = wanted.filter(pc.is_in(wanted, known))
    places = pc.index_in(ids, known).to_numpy()
    rows = embeddings["vector"].to_numpy()[places].tolist()
    sizes = {len(row) for row in rows}
    if len(sizes) > 1:
        raise InputError(f"embeddings: vectors of different lengths: {sorted(sizes)}")
    if not rows:
        return [], np.empty((0, 0), np.float32)
    consecutive = _consecutive(rows)
    return ids.to_pylist(), np.array(rows, np.float32) if consecutive is None else consecutive


def _consecutive(rows: list[Any]) -> NDArray[np.float32] | None:
    """Return a view (n, d) of rows that are consecutive pieces of one float32 array, else None."""
    base = getattr(rows[0], "base", None)
    if base is None or base.dtype != np.float32 or not base.flags.c_contiguous:
        return None
    if any(row.base is not base for row in rows):
        return None
    size = len(rows[0])
    starts = np.array([row.ctypes.data for row in rows])
    if (np.diff(starts) != size * base.itemsize).any():
        return None
    first = (starts[0] - base.ctypes.data) // base.itemsize
    return base.reshape(-1)[first : first + size * len(rows)].reshape(len(rows), size)


def questions_of(items: pd.DataFrame, item_ids: Sequence[str]) -> pa.Array:
    """Return the questions of these items, in their order."""
    rows = pd.Index(items["item_id"]).get_indexer(pd.Index(item_ids))
    questions = in_one_part(items["question"])
    if np.array_equal(rows, np.arange(len(items))):
        return questions
    return questions.take(pa.array(rows))


def alike_pairs(
    questions: pa.Array, left: NDArray[np.integer], right: NDArray[np.integer], above: float
) -> Bools:
    """Mark the pairs of places (left[i], right[i]) in `questions` whose questions are similar.

    Their rapidfuzz ratio (0–1), the share of common characters in order, exceeds `above`.
    """
    from rapidfuzz import fuzz, process

    alike = np.empty(len(left), dtype=bool)
    for start in range(0, len(left), _PAIRS):
        some = slice(start, start + _PAIRS)
        first = questions.take(pa.array(left[some])).to_pylist()
        second = questions.take(pa.array(right[some])).to_pylist()
        ratios = process.cpdist(first, second, scorer=fuzz.ratio, dtype=np.float64)
        alike[some] = ratios > 100 * above
    return alike


def leading_alike(
    questions: pa.Array, rows: Rows, indices: NDArray[np.integer], above: float
) -> Rows:
    """Count the leading neighbours `indices` (r, k) of `rows` (r,) with similar questions.

    These are copies or differ by a symbol; their distances say nothing about paraphrases.
    """
    count = np.zeros(len(rows), dtype=np.intp)
    left = np.arange(len(rows))
    for rank in range(indices.shape[1]):
        left = left[alike_pairs(questions, rows[left], indices[left, rank], above)]
        if not len(left):
            break
        count[left] = rank + 1
    return count
