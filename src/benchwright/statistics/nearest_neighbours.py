"""Nearest neighbours by cosine distance: exact, or among candidates of lists around centres.

The exact search compares all pairs, in memory that does not grow with n². For very many vectors the
approximate search sorts them into lists around centres and compares each list with the nearest
lists only, so the work grows with about n^1.5. It may miss a neighbour, but the distances of those
it finds are exact.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.core.array_types import AnyFloats, Floats, Places
from benchwright.statistics.row_blocks import row_blocks

Vectors = NDArray[np.float32]

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


Blocks = Iterator[tuple[Places, NearestNeighbours]]


def exact_blocks(vectors: Vectors, k: int) -> Blocks:
    """Yield blocks of rows of (n, d) `vectors` with the k nearest others by cosine distance.

    All pairs are compared: one matrix product per block of rows. Rows of zeros are at distance 1
    from all others. With fewer than k other rows, k is n − 1.

    Raises:
        ValueError: k is not positive, or a vector holds NaN or infinity.
    """
    k = _checked_k(vectors, k)
    if k == 0:
        return
    n = len(vectors)
    unit = np.array(vectors, dtype=np.float64, order="C")
    unit /= _lengths(unit)[:, None]
    for block in row_blocks(n, n, _BLOCK_CELLS):
        rows = np.arange(n)[block]
        distance = _distances(unit[rows] @ unit.T)
        distance[np.arange(len(rows)), rows] = np.inf
        nearest = _smallest(distance, k)
        near = np.take_along_axis(distance, nearest, axis=1)
        yield rows, NearestNeighbours(nearest.astype(np.int32), near)


def neighbours_of(vectors: Vectors, rows: Places, k: int) -> NearestNeighbours:
    """Find the neighbours of `rows` only among all rows, with little memory."""
    k = _checked_k(vectors, k)
    return _among(vectors, _lengths(vectors), rows, np.arange(len(vectors)), k)


def _checked_k(vectors: Vectors, k: int) -> int:
    """Return how many neighbours each row has: k, or all others."""
    if k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")
    for rows in row_blocks(len(vectors), 1, _CHECKED):
        if not np.isfinite(vectors[rows]).all():
            raise ValueError("a vector holds NaN or infinity")
    return min(k, max(len(vectors) - 1, 0))


def _distances(cosines: Floats) -> Vectors:
    """Return 1 − cosine, clipped to [0, 2] and rounded to 6 decimals; overwrite the cosines."""
    np.subtract(1, cosines, out=cosines)
    np.clip(cosines, 0, 2, out=cosines)
    return np.round(cosines, DECIMALS, out=cosines).astype(np.float32)


def _lengths(vectors: AnyFloats) -> Floats:
    """Lengths (n,) of rows, 1 for rows of zeros."""
    lengths = np.empty(len(vectors))
    for rows in row_blocks(len(vectors), 1, _CHECKED):
        block = vectors[rows].astype(np.float64, copy=False)
        lengths[rows] = np.linalg.norm(block, axis=1)
    lengths[lengths == 0] = 1
    return lengths


def _smallest(distance: Vectors, k: int) -> Places:
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
_LISTS = 2
_PART = 64
_TRAINED_PER_LIST = 32
_ROUNDS = 8
# Rows compared with those of a part, in multiples of the neighbours wanted; the recall is in
# docs/evidence/scale.md.
_COMPARED = 64
_SPARE = 16  # candidates by cosines in 32 bits beyond k


def approximate_blocks(vectors: Vectors, k: int) -> Blocks:
    """Yield blocks of rows with most of their k nearest other rows, together all rows.

    The vectors are sorted into lists, one per centre, and these into parts. The rows of a part are
    compared with those of the parts whose centres are nearest to its own, by one matrix product.
    Products run on one thread, so that rounding does not depend on their number. Rounding and order
    are those of `exact_blocks`.
    """
    from threadpoolctl import threadpool_limits

    k = _checked_k(vectors, k)
    if k == 0:
        return
    with threadpool_limits(limits=1, user_api="blas"):
        lengths = _lengths(vectors)
        coarse = _centres(vectors)
        parts = []
        for rows in _sorted_into(_nearest_centre(vectors, coarse), len(coarse)):
            if len(rows):
                parts += _divide(vectors, rows)
        members = [rows for rows, _ in parts]
        centres = np.stack([centre for _, centre in parts])
        sizes = np.array([len(rows) for rows in members])
        for own, rows in enumerate(members):
            products = centres @ centres[own]
            products[own] = np.inf  # comes first, also among equal centres
            nearest = np.argsort(-products, kind="stable")
            enough = np.searchsorted(sizes[nearest].cumsum(), _COMPARED * k) + 1
            columns = np.concatenate([members[each] for each in nearest[:enough]])
            own_rows = np.arange(len(rows))  # the part itself comes first
            yield rows, _among(vectors[columns], lengths[columns], own_rows, columns, k=k)


def _sorted_into(list_of: Places, lists: int) -> list[Places]:
    """Return the rows of each list, in order."""
    order = np.argsort(list_of, kind="stable")
    return np.split(order, np.bincount(list_of, minlength=lists).cumsum()[:-1])


def _divide(vectors: Vectors, rows: Places) -> list[tuple[Places, Vectors]]:
    """Divide the rows of a list into parts that are not empty, each with its centre."""
    unit = _unit32(vectors[rows])
    count = max(1, round(len(rows) / _PART))
    centres = _k_means(unit, unit[np.arange(count) * len(rows) // count].copy())
    parts = _sorted_into(_nearest_centre(unit, centres), count)
    used = [number for number in range(count) if len(parts[number])]
    return [(rows[parts[number]], centres[number]) for number in used]


def _among(
    vectors: Vectors, lengths: Floats, rows: Places, numbers: Places, k: int
) -> NearestNeighbours:
    """Find the k nearest others of some `rows` of `vectors`; `numbers` (n,) name the vectors.

    A few more candidates are found in 32 bits; their distances are computed in 64 bits.
    """
    wanted = min(k + _SPARE, len(vectors) - 1)
    inverse = (1 / lengths).astype(np.float32)
    indices = np.empty((len(rows), k), np.int32)
    distances = np.empty((len(rows), k), np.float32)
    for block in row_blocks(len(rows), len(vectors), _BLOCK_CELLS):
        some = rows[block]
        cosines = (vectors[some] * inverse[some, None]) @ vectors.T
        cosines *= inverse
        cosines[np.arange(len(some)), some] = -np.inf
        candidates = np.argpartition(cosines, -wanted, axis=1)[:, -wanted:]
        exact = np.empty(candidates.shape)
        for place, near in enumerate(candidates):
            own = vectors[some[place]].astype(np.float64)
            exact[place] = vectors[near].astype(np.float64) @ own
        rounded = _distances(exact / (lengths[some, None] * lengths[candidates]))
        best = np.lexsort((numbers[candidates], rounded), axis=1)[:, :k]
        indices[block] = numbers[np.take_along_axis(candidates, best, axis=1)]
        distances[block] = np.take_along_axis(rounded, best, axis=1)
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


def _nearest_centre(vectors: Vectors, centres: Vectors) -> Places:
    """Return the number (n,) of the centre nearest to each row."""
    nearest = np.empty(len(vectors), dtype=np.intp)
    for rows in row_blocks(len(vectors), len(centres), _BLOCK_CELLS):
        nearest[rows] = (_unit32(vectors[rows]) @ centres.T).argmax(axis=1)
    return nearest


def _unit32(vectors: Vectors) -> Vectors:
    return vectors / _lengths(vectors).astype(np.float32)[:, None]
