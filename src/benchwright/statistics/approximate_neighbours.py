"""Nearest neighbours of very many vectors: candidates from an inverted file, distances exact.

The vectors are sorted into lists around centres (faiss, IVF) and each is compared with those of
the lists nearest to it only, so the work grows with about n^1.5 instead of n². A neighbour may be
missed; the distance of one that is found is as exact as that of `nearest_neighbours`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.statistics.nearest_neighbours import (
    NearestNeighbours,
    Vectors,
    checked_k,
    cosine_distances,
    neighbours_of,
)

# Rows that are added or searched at once.
_BLOCK = 16_384
# Cells gathered at once for exact distances: 4 MiB of float64, which stay in the cache.
_GATHERED = 1 << 19
# Lists per root of n, and how many of them are looked through. Comparing a pair costs two to three
# times what it costs in a matrix product of all pairs; the recall is in docs/evidence/scale.md.
_LISTS, _PROBES = 2, 32
_TRAINED_PER_LIST, _ROUNDS = 64, 8
# Candidates beyond k: the library compares in 16 bits, which swaps the last ones.
_SPARE = 16


def approximate_neighbours(vectors: Vectors, k: int) -> NearestNeighbours:
    """Most of the k nearest other rows of each row of (n, d) `vectors`, by cosine distance.

    As `nearest_neighbours`: the same rounding, equal distances in order of row, never the row
    itself. The same rows in the same order give the same result with any number of threads. A row
    whose lists hold fewer than k others is compared with all.

    Beside the vectors this takes 2·d + 20 bytes per row for the index and 8·k for the result.

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
    # Rows of one list are searched together: its neighbours are in the cache then.
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
        """Train the centres on a sample of the rows and put all rows into their lists."""
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
            index.train(np.zeros((1, d), np.float32))  # 16 bits have nothing to learn
            for start in range(0, n, _BLOCK):
                block = slice(start, min(start + _BLOCK, n))
                unit, lengths[block] = _unit32(vectors[block])
                list_of[block] = coarse.search(unit, 1)[1][:, 0]
                numbers = np.arange(block.start, block.stop)
                lists = list_of[block]
                index.add_core(len(unit), *map(faiss.swig_ptr, (unit, numbers, lists)))
        return cls(vectors, lengths, list_of, index)

    def nearest(self, rows: NDArray[np.intp], k: int) -> NearestNeighbours:
        """The k nearest other rows that are in the lists around each of `rows`."""
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
        found = NearestNeighbours(*(np.concatenate(part) for part in zip(*ranked, strict=True)))
        if len(few):
            place = np.isin(rows, few)
            found.indices[place], found.distances[place] = neighbours_of(self.vectors, few, k)
        return found

    def _ranked(
        self, rows: NDArray[np.intp], candidates: NDArray[np.int64], k: int
    ) -> NearestNeighbours:
        """The k nearest candidates by exact distance, equal ones in order of row."""
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
    """Centres of the lists, by k-means of a sample that hangs on nothing but n."""
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
    """Products whose rounding does not hang on the number of threads."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
