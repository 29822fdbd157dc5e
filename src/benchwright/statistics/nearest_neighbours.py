"""Exact nearest neighbours by cosine distance, in memory that does not grow with n²."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

# Rows × columns of one block of similarities: 64 MiB of float64, whatever n is.
_BLOCK_CELLS = 1 << 23
# Finer differences than this would decide ties at random. The matrix product is in float64: its
# rounding hangs on the processor and the number of threads, and in float32 would reach this digit.
_DECIMALS = 6
# Rows looked at at once for NaN.
_CHECKED = 1 << 16


class NearestNeighbours(NamedTuple):
    """Neighbours of n rows, nearest first; equal distances in order of row."""

    indices: NDArray[np.int32]  # (n, k) int32, row numbers; a row is never its own neighbour
    distances: NDArray[np.float32]  # (n, k) float32, 1 − cosine, in [0, 2], rounded to 6 decimals


def nearest_neighbours(vectors: Vectors, k: int) -> NearestNeighbours:
    """The k nearest other rows of each row of (n, d) `vectors`, by cosine distance.

    Every pair is compared: one matrix product per block of rows. Rows of zeros are at distance 1
    from everything. With fewer than k other rows, k is n − 1.

    Raises:
        ValueError: k is not positive, or a vector holds NaN or infinity.
    """
    k = checked_k(vectors, k)
    n = len(vectors)
    if k == 0:
        return NearestNeighbours(np.empty((n, 0), np.int32), np.empty((n, 0), np.float32))
    unit = unit_rows(vectors)
    indices = np.empty((n, k), dtype=np.int32)
    distances = np.empty((n, k), dtype=np.float32)
    step = max(1, _BLOCK_CELLS // n)
    product = np.empty((min(step, n), n), dtype=np.float64)
    block = np.empty(product.shape, dtype=np.float32)
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        exact, distance = product[: len(rows)], block[: len(rows)]
        np.matmul(unit[rows], unit.T, out=exact)
        distance[:] = cosine_distances(exact)
        distance[np.arange(len(rows)), rows] = np.inf
        found = _smallest(distance, k)
        indices[rows] = found
        distances[rows] = np.take_along_axis(distance, found, axis=1)
    return NearestNeighbours(indices, distances)


def neighbours_of(vectors: Vectors, rows: NDArray[np.intp], k: int) -> NearestNeighbours:
    """The k nearest other rows of those `rows` only, as `nearest_neighbours` finds them.

    All of `vectors` are compared, a block at a time: a few rows of very many cost little memory.
    """
    k = checked_k(vectors, k)
    asked = unit_rows(vectors[rows])
    step = max(k, _BLOCK_CELLS // (max(len(rows), 1) * 4))
    indices = np.empty((len(rows), 0), dtype=np.int32)
    distances = np.empty((len(rows), 0), dtype=np.float32)
    for start in range(0, len(vectors), step):
        columns = np.arange(start, min(start + step, len(vectors)), dtype=np.int32)
        block = cosine_distances(asked @ unit_rows(vectors[columns]).T).astype(np.float32)
        block[rows[:, None] == columns] = np.inf
        # What was found before comes first: its rows are before those of this block.
        distances = np.hstack([distances, block])
        indices = np.hstack([indices, np.broadcast_to(columns, block.shape)])
        best = _smallest(distances, min(k, distances.shape[1]))
        indices = np.take_along_axis(indices, best, axis=1)
        distances = np.take_along_axis(distances, best, axis=1)
    return NearestNeighbours(indices[:, :k], distances[:, :k])


def checked_k(vectors: Vectors, k: int) -> int:
    """How many neighbours each row can have: k, or all others.

    Raises:
        ValueError: k is not positive, or a vector holds NaN or infinity.
    """
    if k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")
    if not all(
        np.isfinite(vectors[start : start + _CHECKED]).all()
        for start in range(0, len(vectors), _CHECKED)
    ):
        raise ValueError("a vector holds NaN or infinity")
    return min(k, max(len(vectors) - 1, 0))


def cosine_distances(cosines: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 − cosine, clipped to [0, 2] and rounded to 6 decimals; written over `cosines`."""
    np.subtract(1, cosines, out=cosines)
    np.clip(cosines, 0, 2, out=cosines)
    return np.round(cosines, _DECIMALS, out=cosines)


def unit_rows(vectors: Vectors) -> NDArray[np.float64]:
    """Rows divided by their length, in float64; rows of zeros stay zero."""
    unit = np.array(vectors, dtype=np.float64, order="C")
    length = np.linalg.norm(unit, axis=1, keepdims=True)
    length[length == 0] = 1
    unit /= length
    return unit


def _smallest(distance: Vectors, k: int) -> NDArray[np.intp]:
    """Columns of the k smallest values of each row, smallest first, ties in order of column."""
    candidates = np.argpartition(distance, k - 1, axis=1)[:, :k]
    candidates.sort(axis=1)
    values = np.take_along_axis(distance, candidates, axis=1)
    largest = values.max(axis=1)
    # argpartition takes any of the columns that tie for the last place: mend the rows that do.
    ties_in_row = (distance == largest[:, None]).sum(axis=1)
    ties_taken = (values == largest[:, None]).sum(axis=1)
    for row in np.flatnonzero(ties_in_row > ties_taken):
        candidates[row] = np.sort(np.argsort(distance[row], kind="stable")[:k])
        values[row] = distance[row, candidates[row]]
    order = np.argsort(values, axis=1, kind="stable")
    return np.take_along_axis(candidates, order, axis=1)
