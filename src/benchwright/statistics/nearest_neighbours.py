"""Nearest neighbours by cosine distance: exact, or among candidates of an inverted file.

The exact search compares all pairs, in memory that does not grow with n². For very many vectors the
approximate search sorts them into lists around centres (faiss, IVF) and compares each with those of
the nearest lists only, so the work grows with about n^1.5. It may miss a neighbour, but the
distances of those it finds are exact.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError

Vectors = NDArray[np.float32]

# Rows × columns of one block of similarities: 64 MiB of float64, whatever n is.
_BLOCK_CELLS = 1 << 23
# Finer differences would decide ties at random. The matrix product is in float64: its rounding
# depends on the processor and the number of threads, and in float32 would reach this digit.
_DECIMALS = 6
# Rows per block of the check for NaN.
_CHECKED = 1 << 16


class NearestNeighbours(NamedTuple):
    """Neighbours of n rows, nearest first; equal distances in order of row."""

    indices: NDArray[np.int32]  # (n, k) int32, row numbers; a row is never its own neighbour
    distances: NDArray[np.float32]  # (n, k) float32, 1 − cosine, in [0, 2], rounded to 6 decimals


def nearest_neighbours(vectors: Vectors, k: int) -> NearestNeighbours:
    """Find the k nearest other rows of each row of (n, d) `vectors`, by cosine distance.

    All pairs are compared: one matrix product per block of rows. Rows of zeros are at distance 1
    from all others. With fewer than k other rows, k is n − 1.

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
        nearest = _smallest(distance, k)
        indices[rows] = nearest
        distances[rows] = np.take_along_axis(distance, nearest, axis=1)
    return NearestNeighbours(indices, distances)


def neighbours_of(vectors: Vectors, rows: NDArray[np.intp], k: int) -> NearestNeighbours:
    """Find the neighbours of `rows` only, as `nearest_neighbours` does, block by block."""
    k = checked_k(vectors, k)
    asked = unit_rows(vectors[rows])
    step = max(k, _BLOCK_CELLS // (max(len(rows), 1) * 4))
    indices = np.empty((len(rows), 0), dtype=np.int32)
    distances = np.empty((len(rows), 0), dtype=np.float32)
    for start in range(0, len(vectors), step):
        columns = np.arange(start, min(start + step, len(vectors)), dtype=np.int32)
        block = cosine_distances(asked @ unit_rows(vectors[columns]).T).astype(np.float32)
        block[rows[:, None] == columns] = np.inf
        # Earlier neighbours come first: their rows precede those of this block.
        distances = np.hstack([distances, block])
        indices = np.hstack([indices, np.broadcast_to(columns, block.shape)])
        best = _smallest(distances, min(k, distances.shape[1]))
        indices = np.take_along_axis(indices, best, axis=1)
        distances = np.take_along_axis(distances, best, axis=1)
    return NearestNeighbours(indices[:, :k], distances[:, :k])


def checked_k(vectors: Vectors, k: int) -> int:
    """Return how many neighbours each row has: k, or all others.

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
    """Return 1 − cosine, clipped to [0, 2] and rounded to 6 decimals, in place."""
    np.subtract(1, cosines, out=cosines)
    np.clip(cosines, 0, 2, out=cosines)
    return np.round(cosines, _DECIMALS, out=cosines)


def unit_rows(vectors: Vectors) -> NDArray[np.float64]:
    """Divide rows by their length, in float64; rows of zeros stay zero."""
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
    # argpartition picks arbitrarily among ties for the last place: correct such rows.
    ties_in_row = (distance == largest[:, None]).sum(axis=1)
    ties_taken = (values == largest[:, None]).sum(axis=1)
    for row in np.flatnonzero(ties_in_row > ties_taken):
        candidates[row] = np.sort(np.argsort(distance[row], kind="stable")[:k])
        values[row] = distance[row, candidates[row]]
    order = np.argsort(values, axis=1, kind="stable")
    return np.take_along_axis(candidates, order, axis=1)


# Rows per block of adding and searching.
_BLOCK = 16_384
# Cells per block of exact distances: 4 MiB of float64, which fit into the cache.
_GATHERED = 1 << 19
# Lists per root of n, and the number of lists searched. Comparing a pair costs two to three
# times what it costs in a matrix product of all pairs; the recall is in docs/evidence/scale.md.
_LISTS, _PROBES = 2, 32
_TRAINED_PER_LIST, _ROUNDS = 64, 8
# Candidates beyond k: the library compares in 16 bits, which swaps the last ones.
_SPARE = 16


def approximate_neighbours(vectors: Vectors, k: int) -> NearestNeighbours:
    """Find most of the k nearest other rows of each row of (n, d) `vectors`, by cosine distance.

    Rounding and order are those of `nearest_neighbours`, and do not depend on the number of
    threads. A row whose lists hold fewer than k others is compared with all. This takes 2·d + 20
    bytes per row for the index and 8·k for the result.

    Raises:
        ValueError: k is not positive, or a vector holds NaN or infinity.
        InputError: faiss is not installed.
    """
    k = checked_k(vectors, k)
    n = len(vectors)
    indices = np.empty((n, k), dtype=np.int32)
    distances = np.empty((n, k), dtype=np.float32)
    if k == 0:
        return NearestNeighbours(indices, distances)
    lists = InvertedLists.of(vectors)
    # Rows of one list are searched together: their neighbours are then in the cache.
    order = np.argsort(lists.list_of, kind="stable")
    for start in range(0, n, _BLOCK):
        rows = order[start : start + _BLOCK]
        indices[rows], distances[rows] = lists.nearest(rows, k)
    return NearestNeighbours(indices, distances)


class InvertedLists(NamedTuple):
    """All rows of a matrix, each in the list of the centre that is nearest to it."""

    vectors: Vectors  # (n, d), as they were given
    lengths: NDArray[np.float64]  # (n,) of the rows, 1 for rows of zeros
    list_of: NDArray[np.int64]  # (n,) number of each row's list
    index: Any  # faiss's index of the rows

    @classmethod
    def of(cls, vectors: Vectors) -> Self:
        """Train the centres on a sample of the rows and sort all rows into their lists."""
        faiss = _faiss()
        n, d = vectors.shape
        lengths, list_of = np.empty(n), np.empty(n, dtype=np.int64)
        with _one_blas_thread():
            coarse = faiss.IndexFlatIP(d)
            coarse.add(_centres(vectors))
            bits = faiss.ScalarQuantizer.QT_fp16
            index = faiss.IndexIVFScalarQuantizer(
                coarse, d, coarse.ntotal, bits, faiss.METRIC_INNER_PRODUCT, False
            )
            index.nprobe = min(_PROBES, coarse.ntotal)
            index.train(np.zeros((1, d), np.float32))  # 16-bit vectors need no training
            for start in range(0, n, _BLOCK):
                block = slice(start, min(start + _BLOCK, n))
                unit, lengths[block] = _unit32(vectors[block])
                list_of[block] = coarse.search(unit, 1)[1][:, 0]
                numbers = np.arange(block.start, block.stop)
                lists = list_of[block]
                index.add_core(len(unit), *map(faiss.swig_ptr, (unit, numbers, lists)))
        return cls(vectors, lengths, list_of, index)

    def nearest(self, rows: NDArray[np.intp], k: int) -> NearestNeighbours:
        """Find the k nearest other rows in the lists around each of `rows`."""
        n = len(self.vectors)
        unit, _ = _unit32(self.vectors[rows])
        with _one_blas_thread():
            _, candidates = self.index.search(unit, min(k + 1 + _SPARE, n))
        few = rows[(candidates >= 0).sum(axis=1) <= k]
        parts = max(1, len(rows) * candidates.shape[1] * unit.shape[1] // _GATHERED)
        ranked = [
            self._ranked(some, near, k)
            for some, near in zip(
                np.array_split(rows, parts), np.array_split(candidates, parts), strict=True
            )
        ]
        neighbours = NearestNeighbours(
            *(np.concatenate(part) for part in zip(*ranked, strict=True))
        )
        if len(few):
            place = np.isin(rows, few)
            neighbours.indices[place], neighbours.distances[place] = neighbours_of(
                self.vectors, few, k
            )
        return neighbours

    def _ranked(
        self, rows: NDArray[np.intp], candidates: NDArray[np.int64], k: int
    ) -> NearestNeighbours:
        near = np.sort(candidates, axis=1)
        asked = self.vectors[rows].astype(np.float64)[:, :, None]
        products = np.matmul(self.vectors[near].astype(np.float64), asked)[:, :, 0]
        distance = cosine_distances(products / (self.lengths[rows, None] * self.lengths[near]))
        distance[(near < 0) | (near == rows[:, None])] = np.inf
        best = np.argsort(distance, axis=1, kind="stable")[:, :k]
        return NearestNeighbours(
            np.take_along_axis(near, best, axis=1).astype(np.int32),
            np.take_along_axis(distance, best, axis=1).astype(np.float32),
        )


def _centres(vectors: Vectors) -> Vectors:
    """Centres of the lists, by k-means of a sample that depends on n only."""
    n, d = vectors.shape
    count = max(1, min(n, round(_LISTS * n**0.5)))
    size = min(n, _TRAINED_PER_LIST * count)
    sample = np.sort(np.random.default_rng(0).choice(n, size, replace=False))
    means = _faiss().Kmeans(
        d, count, niter=_ROUNDS, seed=1, spherical=True, min_points_per_centroid=1
    )
    means.train(_unit32(vectors[sample])[0])
    return np.asarray(means.centroids, dtype=np.float32)


def _unit32(vectors: Vectors) -> tuple[Vectors, NDArray[np.float64]]:
    """Rows divided by their lengths, in float32, and the lengths; 1 for rows of zeros."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1)
    lengths[lengths == 0] = 1
    return np.ascontiguousarray(wide / lengths[:, None], dtype=np.float32), lengths


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise InputError(
            "neighbours of so many items are searched with faiss, which is not installed: "
            "pip install 'benchwright[scale]', or raise filtering.similar.exact_up_to"
        ) from error
    return faiss


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Make the rounding of products independent of the number of threads."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
