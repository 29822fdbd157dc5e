"""Exact neighbours agree with a comparison of all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from all_neighbours import nearest_neighbours
from benchwright.statistics import nearest_neighbours as module


@given(st.integers(2, 60), st.integers(1, 70), st.integers(1, 5), st.integers(0, 1000))
def test_neighbours_equal_those_of_all_pairs(n, k, dimensions, seed):
    # Few whole coordinates: many ties and many equal rows.
    vectors = np.random.default_rng(seed).integers(-1, 2, (n, dimensions)).astype(np.float32)
    neighbours = nearest_neighbours(vectors, k)
    length = np.linalg.norm(vectors, axis=1)
    for row in range(n):
        others = [other for other in range(n) if other != row]
        bottom = length[row] * length[others]
        cosine = np.divide(
            vectors[others] @ vectors[row], bottom, out=np.zeros(n - 1), where=bottom > 0
        )
        exact = np.round(1 - cosine, 5)
        nearest = [others[i] for i in np.lexsort((others, exact))[:k]]
        assert neighbours.indices[row].tolist() == nearest
        assert neighbours.distances[row] == pytest.approx(np.sort(exact)[:k], abs=1e-5)


@pytest.mark.parametrize("cells", [1, 700, 5000])
def test_neighbours_do_not_depend_on_block_size(monkeypatch, cells):
    vectors = np.random.default_rng(0).normal(size=(100, 8)).astype(np.float32)
    vectors[40:60] = vectors[:20]
    whole = nearest_neighbours(vectors, 10)
    monkeypatch.setattr(module, "_BLOCK_CELLS", cells)
    blocks = nearest_neighbours(vectors, 10)
    assert (blocks.indices == whole.indices).all()
    assert blocks.distances == pytest.approx(whole.distances, abs=2e-6)


def test_distances_do_not_depend_on_threads_or_other_rows():
    from threadpoolctl import threadpool_limits

    vectors = np.random.default_rng(0).normal(size=(700, 384)).astype(np.float32)
    whole = nearest_neighbours(vectors, 699)
    by_pair = np.empty((700, 700), np.float32)
    np.put_along_axis(by_pair, whole.indices, whole.distances, axis=1)
    for threads in (1, 2, 3):
        with threadpool_limits(limits=threads):
            again = nearest_neighbours(vectors, 699)
            few = nearest_neighbours(vectors[:37], 36)
        assert again.distances.tobytes() == whole.distances.tobytes()
        assert again.indices.tobytes() == whole.indices.tobytes()
        assert (few.distances == np.take_along_axis(by_pair[:37], few.indices, axis=1)).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_non_finite_vectors_are_refused(wrong):
    with pytest.raises(ValueError, match="NaN or infinity"):
        nearest_neighbours(np.array([[1, 0], [wrong, 1]], dtype=np.float32), 1)


def test_k_must_be_positive():
    with pytest.raises(ValueError, match="k is 0"):
        nearest_neighbours(np.ones((3, 2), np.float32), 0)
