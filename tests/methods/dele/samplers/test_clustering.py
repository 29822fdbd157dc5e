"""Clusters of texts, their samplers, and independence of row order."""

from types import MappingProxyType
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from benchwright.core.errors import InputError
from benchwright.methods.dele.samplers import clustering
from benchwright.methods.dele.samplers.clustering import (
    Method,
    cluster_items,
    elbow,
    proportional_draw,
    within_squares,
)
from benchwright.methods.dele.samplers.pool import SamplingPool

THREE = 3
TOPICS = (
    "planet star orbit moon comet galaxy telescope",
    "enzyme protein membrane nucleus ribosome chromosome mitochondria",
    "treaty parliament election senate constitution minister republic",
)


def topical_pool(sizes: tuple[int, ...] = (30, 20, 12)) -> tuple[SamplingPool, np.ndarray]:
    """Return texts of three topics without common words, and vectors around three directions."""
    generator = np.random.default_rng(3)
    topics = np.repeat(np.arange(3), sizes)
    texts = [" ".join(generator.choice(TOPICS[topic].split(), 5)) for topic in topics]
    vectors = np.eye(8)[topics] + generator.normal(0, 0.15, (len(topics), 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = tuple(f"q{place:03d}" for place in generator.permutation(len(topics)))
    pool = SamplingPool(
        ids,
        ("",) * len(ids),
        tuple(texts),
        MappingProxyType({"mini": vectors.astype(np.float32)}),
    )
    return pool, topics


def texts_pool(*texts: str) -> SamplingPool:
    return SamplingPool(
        tuple(f"q{place}" for place in range(len(texts))), ("",) * len(texts), tuple(texts)
    )


def vectors_pool(vectors: np.ndarray) -> SamplingPool:
    ids = tuple(f"q{place:04d}" for place in range(len(vectors)))
    blank = ("",) * len(vectors)
    return SamplingPool(ids, blank, blank, {"mini": vectors.astype(np.float32)})


SOURCES = [(method, "tfidf") for method in ("nmf", "lda", "kmeans", "spectral")] + [
    ("kmeans", "mini"),
    ("spectral", "mini"),
]


@pytest.mark.parametrize(("method", "source"), SOURCES)
def test_topics_without_common_words_are_separated(method: Method, source: str) -> None:
    pool, topics = topical_pool()
    clusters = cluster_items(pool, method, source, THREE)
    # LDA confuses a few items at this size; the other methods do not.
    assert adjusted_rand_score(topics, clusters) >= (0.5 if method == "lda" else 1)
    assert (np.diff(np.bincount(clusters)) <= 0).all()


@pytest.mark.parametrize(("method", "source"), [*SOURCES, ("dbscan", "tfidf"), ("dbscan", "mini")])
def test_clusters_do_not_depend_on_pool_order(method: Method, source: str) -> None:
    pool, _ = topical_pool()
    order = np.random.default_rng(0).permutation(len(pool))
    labels = cluster_items(pool, method, source, THREE)
    assert cluster_items(pool.select(order), method, source, THREE).tolist() == (
        labels[order].tolist()
    )


@pytest.mark.parametrize("method", ["kmeans", "spectral", "nmf"])
def test_number_of_topics_is_found(method: Method, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustering, "CANDIDATES", (2, 3, 4, 5, 6, 7))
    clusters = cluster_items(topical_pool()[0], method, "tfidf", "elbow")
    assert clusters.max() + 1 == 3


@pytest.mark.parametrize("method", get_args(Method))
@pytest.mark.parametrize(("n", "k"), [(1, 8), (2, "elbow"), (3, 8), (4, "elbow")])
def test_smallest_pools_are_clustered(method: Method, n: int, k: "int | str") -> None:
    pool = topical_pool()[0].select(np.arange(n))
    clusters = cluster_items(pool, method, "tfidf", k)
    assert len(clusters) == n
    assert clusters.max() < max(n - 1, 1)


@pytest.mark.parametrize("method", get_args(Method))
def test_items_without_words_are_noise(method: Method) -> None:
    pool, _ = topical_pool()
    texts = ("", "? !", *pool.texts[2:])
    labels = cluster_items(
        SamplingPool(pool.item_ids, pool.subjects, texts), method, "tfidf", THREE
    )
    assert labels[:2].tolist() == [-1, -1]
    if method != "dbscan":
        assert labels[2:].min() == 0
    assert (cluster_items(texts_pool("", "", "", ""), method, "tfidf", THREE) == -1).all()


def test_dbscan_on_tfidf_joins_three_copies() -> None:
    pool = texts_pool(*["red apple pie"] * 3, *["blue ocean wave"] * 2, "green", *["old map"] * 4)
    labels = cluster_items(pool, "dbscan", "tfidf", THREE)
    assert labels.tolist() == [1, 1, 1, -1, -1, -1, 0, 0, 0, 0]


def test_missing_encoder_raises_an_error() -> None:
    with pytest.raises(InputError, match=r"kmeans_large .* available: mini"):
        cluster_items(topical_pool()[0], "kmeans", "large", THREE)


@given(st.integers(2, 40), st.integers(1, 5), st.integers(0, 100))
def test_within_squares_match_the_definition(n: int, k: int, seed: int) -> None:
    from scipy.sparse import csr_matrix

    generator = np.random.default_rng(seed)
    points, labels = generator.random((n, 3)), generator.integers(-1, k, n)
    expected = sum(
        ((points[labels == label] - points[labels == label].mean(axis=0)) ** 2).sum()
        for label in set(labels.tolist())
    )
    assert within_squares(points, labels) == pytest.approx(expected, abs=1e-9)
    assert within_squares(csr_matrix(points), labels) == pytest.approx(expected, abs=1e-9)


def test_elbow_is_found_on_known_curves() -> None:
    assert elbow([2, 3, 4, 5, 6], [100, 40, 35, 30, 25]) == 3
    assert elbow([2, 3, 4, 5, 6, 7], [100, 90, 80, 20, 10, 9]) == 5
    assert elbow([2, 3, 4], [5, 6, 7]) == 2  # the curve does not fall


def test_clusters_and_noise_get_their_shares() -> None:
    labels = np.repeat([0, 1, 2, -1], [50, 30, 15, 5])
    pool = vectors_pool(np.eye(100))
    draw = proportional_draw(pool, labels, 4, "test")
    for size, shares in ((20, [1, 10, 6, 3]), (100, [5, 50, 30, 15]), (10, None)):
        drawn = draw(size)
        assert len(set(drawn.positions.tolist())) == size
        assert drawn.weights == pytest.approx(np.full(size, 1 / size))
        counts = np.unique(labels[drawn.positions], return_counts=True)[1].tolist()
        if shares:
            assert counts == shares
        else:  # 0.5 of an item for noise, 1.5 for cluster 2: one of them has it
            assert counts in ([1, 5, 3, 1], [5, 3, 2])
