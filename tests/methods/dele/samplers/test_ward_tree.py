"""Ward's tree of weighted points: SciPy's, with each point as often as its size says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

from benchwright.methods.dele.samplers.anchor_points import cut_tree, ward_tree


def _same_clusters(first: np.ndarray, second: np.ndarray) -> bool:
    pairs = len(set(zip(first.tolist(), second.tolist(), strict=True)))
    return pairs == len(set(first.tolist())) == len(set(second.tolist()))


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 10_000))
def test_a_point_of_size_s_is_s_equal_points(u: int, dimensions: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, sizes = rng.normal(size=(u, dimensions)), rng.integers(1, 5, u)
    tree = ward_tree(points, sizes)
    assert tree.shape == (u - 1, 2)
    every = np.repeat(np.arange(u), sizes)
    for k in {1, u, 1 + u // 3, 1 + u // 2}:
        labels = cut_tree(tree, u, k)
        assert len(set(labels.tolist())) == k
        if len(every) > 1:
            theirs = fcluster(linkage(points[every], method="ward"), k, "maxclust")
            assert _same_clusters(labels[every], theirs)


def test_the_tree_is_scipys_where_sizes_are_one() -> None:
    points = np.random.default_rng(0).normal(size=(200, 8))
    theirs = linkage(points, method="ward")[:, :2].astype(int)
    assert np.array_equal(ward_tree(points, np.ones(200, dtype=int)), np.sort(theirs, axis=1))


def test_sizes_decide_who_is_joined_first() -> None:
    points = np.array([[0.0], [1.0], [2.2]])
    light = cut_tree(ward_tree(points, np.array([1, 1, 1])), 3, 2)
    heavy = cut_tree(ward_tree(points, np.array([9, 9, 1])), 3, 2)
    assert light[0] == light[1] != light[2]
    # 2 · 9 · 9/18 · 1² = 9 joins the first two, 2 · 9/10 · 1.2² = 2.6 the last two.
    assert heavy[0] != heavy[1] == heavy[2]


@pytest.mark.parametrize("u", [0, 1])
def test_nothing_is_joined_where_there_is_nothing_to_join(u: int) -> None:
    tree = ward_tree(np.zeros((u, 2)), np.ones(u, dtype=int))
    assert tree.shape == (0, 2)
