"""Clusters of texts, their samplers, and independence of row order."""

from types import MappingProxyType
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

from benchwright.core.errors import InputError
from benchwright.methods.dele.evidence.text_features import tsne_map
from benchwright.methods.dele.samplers import clustering
from benchwright.methods.dele.samplers.clustering import (
    ClusterCurve,
    Method,
    cluster_curve,
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
    assert adjusted_rand_score(topics, clusters.labels) >= (0.5 if method == "lda" else 1)
    assert clusters.asked == 3
    assert not clusters.curve.k.size
    assert (np.diff(np.bincount(clusters.labels)) <= 0).all()


@pytest.mark.parametrize(("method", "source"), [*SOURCES, ("dbscan", "tfidf"), ("dbscan", "mini")])
def test_clusters_do_not_depend_on_pool_order(method: Method, source: str) -> None:
    pool, _ = topical_pool()
    order = np.random.default_rng(0).permutation(len(pool))
    labels = cluster_items(pool, method, source, THREE).labels
    assert cluster_items(pool.select(order), method, source, THREE).labels.tolist() == (
        labels[order].tolist()
    )


@pytest.mark.parametrize("method", ["kmeans", "spectral", "nmf"])
def test_number_of_topics_is_found(method: Method, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustering, "CANDIDATES", (2, 3, 4, 5, 6, 7))
    clusters = cluster_items(topical_pool()[0], method, "tfidf", "elbow")
    assert clusters.asked == clusters.labels.max() + 1 == 3
    assert clusters.curve.k.tolist() == [2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("method", get_args(Method))
@pytest.mark.parametrize(("n", "k"), [(1, 8), (2, "elbow"), (3, 8), (4, "elbow")])
def test_smallest_pools_are_clustered(method: Method, n: int, k: "int | str") -> None:
    pool = topical_pool()[0].select(np.arange(n))
    clusters = cluster_items(pool, method, "tfidf", k)
    assert len(clusters.labels) == n
    assert clusters.labels.max() < max(n - 1, 1)


@pytest.mark.parametrize("method", get_args(Method))
def test_items_without_words_are_noise(method: Method) -> None:
    pool, _ = topical_pool()
    texts = ("", "? !", *pool.texts[2:])
    labels = cluster_items(
        SamplingPool(pool.item_ids, pool.subjects, texts), method, "tfidf", THREE
    ).labels
    assert labels[:2].tolist() == [-1, -1]
    if method != "dbscan":
        assert labels[2:].min() == 0
    assert (cluster_items(texts_pool("", "", "", ""), method, "tfidf", THREE).labels == -1).all()


def test_dbscan_on_tfidf_joins_three_copies() -> None:
    pool = texts_pool(*["red apple pie"] * 3, *["blue ocean wave"] * 2, "green", *["old map"] * 4)
    labels = cluster_items(pool, "dbscan", "tfidf", THREE).labels
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


def test_curve_matches_inertia_and_silhouette_of_scikit_learn() -> None:
    pool, _ = topical_pool()
    points = pool.vectors["mini"].astype(np.float64)
    fits = {k: KMeans(k, n_init=2, random_state=0).fit(points) for k in (2, 3, 4)}
    everything = np.arange(len(points))
    curve = cluster_curve(points, (2, 3, 4), lambda k: fits[k].labels_.astype(np.intp), everything)
    assert curve.within == pytest.approx([fit.inertia_ for fit in fits.values()])
    assert curve.silhouette == pytest.approx(
        [silhouette_score(points, fit.labels_, metric="cosine") for fit in fits.values()]
    )


def curve_of(within: list[float], silhouette: list[float]) -> ClusterCurve:
    k = np.arange(2, 2 + len(within))
    return ClusterCurve(k, np.array(within), np.array(silhouette))


def test_elbow_is_found_on_known_curves() -> None:
    nan = float("nan")
    assert elbow(curve_of([100, 40, 35, 30, 25], [nan] * 5)) == 3
    assert elbow(curve_of([100, 90, 80, 20, 10, 9], [nan] * 6)) == 5
    assert elbow(curve_of([5, 6, 7], [nan] * 3)) == 2  # the curve does not fall


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


def test_map_does_not_depend_on_row_order(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, _ = topical_pool()
    monkeypatch.setattr("benchwright.methods.dele.evidence.text_features._MAP_ITEMS", 25)
    order = np.random.default_rng(2).permutation(len(pool))
    for source in ("tfidf", "mini"):
        places, coordinates = tsne_map(pool, source)
        assert coordinates.shape == (25, 2)
        again, same = tsne_map(pool.select(order), source)
        assert same.tolist() == coordinates.tolist()
        assert order[again].tolist() == places.tolist()
    assert not len(tsne_map(pool.select(np.arange(3)), "tfidf")[0])
