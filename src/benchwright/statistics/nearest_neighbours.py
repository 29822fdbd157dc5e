"""Nearest neighbours by cosine distance: exact, or among candidates of lists around centres.

The exact search compares all pairs, in memory that does not grow with n². For very many vectors the
approximate search sorts them into lists around centres and compares each list with the nearest
lists only, so the work grows with about n^1.5. It may miss a neighbour, but the distances of those
it finds are exact.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Float = NDArray[np.float64]

# Rows × columns of one block of similarities: 64 MiB of float64, whatever n is.
_BLOCK_CELLS = 1 << 23
# Finer differences would decide ties at random. The matrix product is in float64: its rounding
# depends on the processor and the number of threads, and in float32 would reach this digit.
DECIMALS = 6
# Rows per block of the check for NaN.
_CHECKED = 1 << 14


class NearestNeighbours(NamedTuple):
    """Neighbours of n rows, nearest first; equal distances in order of row."""

    indices: NDArray[np.int32]  # (n, k) int32, row numbers; a row is never its own neighbour
    distances: NDArray[np.float32]  # (n, k) float32, 1 − cosine, in [0, 2], rounded to 6 decimals


Blocks = Iterator[tuple[NDArray[np.intp], NearestNeighbours]]


def nearest_neighbours(vectors: Vectors, k: int) -> NearestNeighbours:
    """Find the k nearest other rows of each row of (n, d) `vectors`, by cosine distance.

    All pairs are compared: one matrix product per block of rows. Rows of zeros are at distance 1
    from all others. With fewer than k other rows, k is n − 1.

    Raises:
        ValueError: k is not positive, or a vector holds NaN or infinity.
    """
    return _gathered(exact_blocks(vectors, k), len(vectors), checked_k(vectors, k))


def exact_blocks(vectors: Vectors, k: int) -> Blocks:
    """Yield blocks of rows with their neighbours, together all rows (`nearest_neighbours`).

    Raises:
        ValueError: k is not positive, or a vector holds NaN or infinity.
    """
    k = checked_k(vectors, k)
    if k == 0:
        return
    n = len(vectors)
    unit = unit_rows(vectors)
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
        near = np.take_along_axis(distance, nearest, axis=1)
        yield rows, NearestNeighbours(nearest.astype(np.int32), near)


def _gathered(blocks: Blocks, n: int, k: int) -> NearestNeighbours:
    """Return the neighbours of all n rows."""
    whole = NearestNeighbours(np.empty((n, k), np.int32), np.empty((n, k), np.float32))
    for rows, near in blocks:
        whole.indices[rows], whole.distances[rows] = near
    return whole


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
    return np.round(cosines, DECIMALS, out=cosines)


def unit_rows(vectors: Vectors) -> NDArray[np.float64]:
    """Divide rows by their length, in float64; rows of zeros stay zero."""
    unit = np.array(vectors, dtype=np.float64, order="C")
    unit /= _lengths(unit)[:, None]
    return unit


def _lengths(vectors: NDArray[np.floating]) -> Float:
    """Lengths (n,) of rows, 1 for rows of zeros."""
    blocks = (vectors[start : start + _CHECKED] for start in range(0, len(vectors), _CHECKED))
    norms = [np.linalg.norm(block.astype(np.float64, copy=False), axis=1) for block in blocks]
    lengths = np.concatenate(norms) if norms else np.empty(0)
    lengths[lengths == 0] = 1
    return lengths


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


# Lists per root of n, each of which is divided into parts of about so many rows; k-means of a
# sample, and its rounds.
_LISTS, _PART = 2, 64
_TRAINED_PER_LIST, _ROUNDS = 32, 8
# Rows compared with those of a part, in multiples of the neighbours wanted; the recall is in
# docs/evidence/scale.md.
_COMPARED = 32
# Candidates, in multiples of those wanted, that give a first bound of the distance.
_FIRST = 16
# Candidates beyond k, and the error of their cosines: these are in 32 bits.
_SPARE, _ERROR = 16, 1e-5


def approximate_neighbours(vectors: Vectors, k: int) -> NearestNeighbours:
    """Find most of the k nearest other rows of each row of (n, d) `vectors`, by cosine distance.

    Rounding and order are those of `nearest_neighbours`. This takes 8·k bytes per row.

    Raises:
        ValueError: k is not positive, or a vector holds NaN or infinity.
    """
    return _gathered(approximate_blocks(vectors, k), len(vectors), checked_k(vectors, k))


def approximate_blocks(vectors: Vectors, k: int) -> Blocks:
    """Yield blocks of rows with their neighbours, together all rows (`approximate_neighbours`).

    The vectors are sorted into lists, one per centre, and these into parts. The rows of a part are
    compared with those of the parts whose centres are nearest to its own, by one matrix product.
    Products run on one thread, so that rounding does not depend on their number.

    Raises:
        ValueError: k is not positive, or a vector holds NaN or infinity.
    """
    k = checked_k(vectors, k)
    if k == 0:
        return
    with _one_blas_thread():
        lengths = _lengths(vectors)
        lists = _sorted_into(_nearest_centre(vectors, centres := _centres(vectors)), len(centres))
        divided = [_divide(vectors, rows) for rows in lists if len(rows)]
        members = [rows for parts in divided for rows, _ in parts]
        centres = np.stack([centre for parts in divided for _, centre in parts])
        sizes = np.array([len(rows) for rows in members])
        for own, rows in enumerate(members):
            products = centres @ centres[own]
            products[own] = np.inf  # comes first, also among equal centres
            nearest = np.argsort(-products, kind="stable")
            enough = np.searchsorted(sizes[nearest].cumsum(), _COMPARED * k) + 1
            columns = np.concatenate([members[each] for each in nearest[:enough]])
            yield rows, _among(vectors[columns], lengths[columns], len(rows), columns, k)


def _sorted_into(list_of: NDArray[np.intp], lists: int) -> list[NDArray[np.intp]]:
    """Return the rows of each list, in order."""
    order = np.argsort(list_of, kind="stable")
    return np.split(order, np.bincount(list_of, minlength=lists).cumsum()[:-1])


def _divide(vectors: Vectors, rows: NDArray[np.intp]) -> list[tuple[NDArray[np.intp], Vectors]]:
    """Divide the rows of a list into parts that are not empty, each with its centre."""
    unit = _unit32(vectors[rows])
    count = max(1, round(len(rows) / _PART))
    centres = _k_means(unit, unit[np.arange(count) * len(rows) // count].copy())
    parts = _sorted_into(_nearest_centre(unit, centres), count)
    return [(rows[part], centre) for part, centre in zip(parts, centres, strict=True) if len(part)]


def _among(
    vectors: Vectors, lengths: Float, rows: int, numbers: NDArray[np.intp], k: int
) -> NearestNeighbours:
    """Find the k nearest others of the first `rows` among all `vectors`.

    `lengths` (n,) are those of the vectors, `numbers` (n,) name them. The wanted cosine among the
    first vectors bounds that among all, so that few are sorted.
    """
    wanted = min(k + _SPARE, len(vectors) - 1)
    first = min(_FIRST * wanted, len(vectors))
    inverse = (1 / lengths).astype(np.float32)
    indices = np.empty((rows, k), dtype=np.int32)
    distances = np.empty((rows, k), dtype=np.float32)
    step = max(1, _BLOCK_CELLS // len(vectors))
    for start in range(0, rows, step):
        some = np.arange(start, min(start + step, rows))
        cosines = (vectors[some] * inverse[some, None]) @ vectors.T
        cosines *= inverse
        cosines[np.arange(len(some)), some] = -np.inf
        bound = np.partition(cosines[:, :first], first - wanted, axis=1)[:, first - wanted]
        cells = np.flatnonzero(cosines >= bound[:, None] - _ERROR)
        row, column = np.divmod(cells, len(vectors))
        # Cosines are at most 1, so this sorts by row, then by cosine.
        order = np.argsort(4.0 * row - cosines.ravel()[cells], kind="stable")
        starts = np.searchsorted(row, np.arange(len(some)))
        candidates = column[order[starts[:, None] + np.arange(wanted)]]
        exact = np.empty(candidates.shape)
        for place, (one, near) in enumerate(zip(some, candidates, strict=True)):
            exact[place] = vectors[near].astype(np.float64) @ vectors[one].astype(np.float64)
        exact /= lengths[some, None] * lengths[candidates]
        rounded = cosine_distances(exact).astype(np.float32)
        best = np.lexsort((numbers[candidates], rounded), axis=1)[:, :k]
        indices[some] = numbers[np.take_along_axis(candidates, best, axis=1)]
        distances[some] = np.take_along_axis(rounded, best, axis=1)
    return NearestNeighbours(indices, distances)


def _centres(vectors: Vectors) -> Vectors:
    """Centres of the lists, by spherical k-means of a sample that depends on n only."""
    n = len(vectors)
    count = max(1, min(n, round(_LISTS * n**0.5)))
    generator = np.random.default_rng(0)
    size = min(n, _TRAINED_PER_LIST * count)
    sample = _unit32(vectors[np.sort(generator.choice(n, size, replace=False))])
    return _k_means(sample, sample[np.sort(generator.choice(size, count, replace=False))])


def _k_means(unit: Vectors, centres: Vectors) -> Vectors:
    """Move the centres to the means of the rows that are nearest to them, in place."""
    for _ in range(_ROUNDS):
        list_of = _nearest_centre(unit, centres)
        order = np.argsort(list_of, kind="stable")
        used, starts = np.unique(list_of[order], return_index=True)
        centres[used] = _unit32(np.add.reduceat(unit[order], starts))
    return centres


def _nearest_centre(vectors: Vectors, centres: Vectors) -> NDArray[np.intp]:
    """Return the number (n,) of the centre nearest to each row."""
    step = max(1, _BLOCK_CELLS // len(centres))
    blocks = (vectors[start : start + step] for start in range(0, len(vectors), step))
    return np.concatenate([(_unit32(block) @ centres.T).argmax(axis=1) for block in blocks])


def _unit32(vectors: Vectors) -> Vectors:
    return vectors / _lengths(vectors).astype(np.float32)[:, None]


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
