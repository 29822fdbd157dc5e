"""Approximate neighbours against the exact ones."""

import numpy as np
import pytest

from all_neighbours import nearest_neighbours
from benchwright.statistics import nearest_neighbours as module
from benchwright.statistics.nearest_neighbours import (
    NearestNeighbours,
    approximate_blocks,
    neighbours_of,
)

DRAW = np.random.default_rng(3)
CENTRES = DRAW.normal(size=(60, 16))
VECTORS = (np.repeat(CENTRES, 50, axis=0) + 0.4 * DRAW.normal(size=(3000, 16))).astype(np.float32)
VECTORS *= DRAW.uniform(0.1, 9, (3000, 1)).astype(np.float32)  # lengths have no effect


def approximate_neighbours(vectors: np.ndarray, k: int) -> NearestNeighbours:
    width = min(k, max(len(vectors) - 1, 0))
    found = NearestNeighbours(
        np.full((len(vectors), width), -1, np.int32), np.empty((len(vectors), width), np.float32)
    )
    for rows, near in approximate_blocks(vectors, k):
        found.indices[rows], found.distances[rows] = near
    return found


def test_searching_all_lists_equals_the_exact_search(monkeypatch):
    monkeypatch.setattr(module, "_COMPARED", 10_000)
    vectors = VECTORS[:700].copy()
    vectors[300:340] = vectors[600:640] = vectors[:40]  # equal distances, in order of row
    approximate, exact = approximate_neighbours(vectors, 20), nearest_neighbours(vectors, 20)
    # Two ways of summing in float64 may round the sixth digit apart, which swaps two neighbours.
    assert (approximate.indices == exact.indices).mean() > 0.999
    assert approximate.distances == pytest.approx(exact.distances, abs=1.1e-6)
    row = np.arange(40)
    assert (approximate.indices[:40, :2] == np.stack([row + 300, row + 600], axis=1)).all()
    assert (approximate.indices[300:340, :2] == np.stack([row, row + 600], axis=1)).all()
    assert (approximate.distances[:40, :2] == 0).all()


def test_recall_is_high_and_distances_are_exact():
    approximate, exact = approximate_neighbours(VECTORS, 30), nearest_neighbours(VECTORS, 30)
    shares = [np.isin(a, b).mean() for a, b in zip(exact.indices, approximate.indices, strict=True)]
    assert np.mean(shares) > 0.9
    assert (approximate.indices != np.arange(3000)[:, None]).all()
    assert all(len(set(row)) == 30 for row in approximate.indices.tolist())
    unit = VECTORS / np.linalg.norm(VECTORS.astype(np.float64), axis=1, keepdims=True)
    for row in range(0, 3000, 100):
        cosine = unit[approximate.indices[row]] @ unit[row]
        assert approximate.distances[row] == pytest.approx(1 - cosine, abs=1e-6)
        assert (np.diff(approximate.distances[row]) >= 0).all()


def test_results_do_not_depend_on_threads_or_blocks(monkeypatch):
    from threadpoolctl import threadpool_limits

    whole = approximate_neighbours(VECTORS, 10)
    monkeypatch.setattr(module, "_BLOCK_CELLS", 20_000)
    with threadpool_limits(limits=2, user_api="blas"):
        in_parts = approximate_neighbours(VECTORS, 10)
    assert (in_parts.indices == whole.indices).mean() > 0.999
    assert in_parts.distances == pytest.approx(whole.distances, abs=1.1e-6)


@pytest.mark.parametrize(("n", "k", "width"), [(0, 3, 0), (1, 3, 0), (2, 3, 1), (5, 3, 3)])
def test_few_rows_are_searched(n, k, width):
    approximate = approximate_neighbours(VECTORS[:n], k)
    assert approximate.indices.shape == (n, width)
    assert (approximate.indices == nearest_neighbours(VECTORS[:n], k).indices).all()


@pytest.mark.parametrize("cells", [1, 3000, 1 << 23])
def test_neighbours_of_some_rows_equal_those_of_all_pairs(monkeypatch, cells):
    vectors = VECTORS[:300].copy()
    vectors[100:120] = vectors[:20]
    rows = np.array([3, 100, 119, 250])
    whole = nearest_neighbours(vectors, 12)
    monkeypatch.setattr(module, "_BLOCK_CELLS", cells)
    some = neighbours_of(vectors, rows, 12)
    assert (some.indices == whole.indices[rows]).all()
    assert some.distances == pytest.approx(whole.distances[rows], abs=1.1e-6)
