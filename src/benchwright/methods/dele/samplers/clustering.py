"""Clusters of items by their texts, and samplers that draw from them (DELE, 3.1, A.1, A.4)."""

import warnings
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from benchwright.core.array_types import AnyFloats, Floats, Places
from benchwright.core.errors import InputError
from benchwright.core.seeding import stage_generator
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.samplers.pool import (
    Draw,
    Sampler,
    SamplerKind,
    SamplingPool,
    once_per_pool,
    random_order,
    random_quotas,
)
from benchwright.params.sampling import SamplingParams

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Features: TypeAlias = "AnyFloats | csr_matrix"
"""(n, d) features of n items: a dense array, or a sparse matrix."""
K = int | Literal["elbow"]
"""A number of clusters, or the bend of the curve over `CANDIDATES`."""

Labels = Places
Method = Literal["nmf", "lda", "kmeans", "spectral", "dbscan"]
TFIDF = "tfidf"
NOISE = -1

CANDIDATES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16)  # numbers of clusters that are tried
_MOST_WORDS = 10_000  # by frequency
_SEED = 0  # clusters are fitted once per pool; repeats draw inside them
_STARTS = 3  # runs of k-means, of which the best is used
_NEIGHBOURS = 10  # of each item in the graph of spectral clustering
# DBSCAN as printed (DELE, appendix A.4): cosine distance on TF-IDF, Euclidean on vectors, which are
# at most 2 apart, so that the second radius makes nearly any benchmark one cluster.
_TFIDF_DBSCAN = {"eps": 0.003, "min_samples": 3, "metric": "cosine"}
_DENSE_DBSCAN = {"eps": 1.7, "min_samples": 5, "algorithm": "ball_tree", "leaf_size": 90}


@lru_cache(maxsize=2)  # clustering methods use the same features one after another
def tfidf_matrix(texts: tuple[str, ...]) -> "csr_matrix":
    """Return the TF-IDF of n texts as a sparse matrix (n, v) of rows of length 1.

    Words have at least two letters or digits, in lower case, without scikit-learn's English stop
    words. A text without words has a row of zeros. The matrix is cached: do not modify it.
    """
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(stop_words="english", max_features=_MOST_WORDS, dtype=np.float64)
    try:
        return vectorizer.fit_transform(texts)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        return csr_matrix((len(texts), 1), dtype=np.float64)


# Up to this size all eigenvectors are computed, which is exact also for disconnected graphs.
_DENSE = 500
WORKING_MIB = 64
"""Working memory of one block of distances."""


def spectral_embedding(
    features: Features, dimensions: int, generator: np.random.Generator
) -> Floats:
    """Embed n items in `dimensions` < n by their graph of nearest neighbours (Shi & Malik 2000).

    An edge has weight 1 if both items are among the other's nearest by cosine, and 1/2 if only one
    is. The coordinates are the leading eigenvectors of the random walk on the graph; scikit-learn's
    solver takes over a minute for 14,042 items.

    `features` (n, d) have no rows of zeros; `generator` draws the start vector.
    """
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import eigsh
    from sklearn import config_context
    from sklearn.neighbors import kneighbors_graph

    n = features.shape[0]
    with config_context(working_memory=WORKING_MIB):
        joined = kneighbors_graph(features, min(_NEIGHBOURS, n - 1), metric="cosine")
    affinity = (joined + joined.T) / 2
    scale = 1 / np.sqrt(np.asarray(affinity.sum(axis=1)).ravel())
    walk = diags_array(scale) @ affinity @ diags_array(scale)
    if n <= _DENSE:
        values, vectors = np.linalg.eigh(walk.toarray())
    else:
        values, vectors = eigsh(
            walk, dimensions, which="LA", v0=generator.standard_normal(n), tol=1e-6
        )
    leading = np.argsort(-values, kind="stable")[:dimensions]
    return np.asarray(vectors[:, leading] * scale[:, None], dtype=np.float64)


def elbow(candidates: Sequence[int], within: Sequence[float]) -> int:
    """Return the k farthest below the line between the curve's ends (Satopää et al. 2011).

    `within` has for each candidate, in increasing order, the sum of squared distances of items to
    the mean of their cluster. If the curve does not fall, return the smallest k.
    """
    k = np.array(candidates)
    squares = np.array(within)
    fall = squares[0] - squares[-1]
    if fall <= 0:
        return int(k[0])
    x = (k - k[0]) / (k[-1] - k[0])
    y = (squares - squares[-1]) / fall
    return int(k[np.argmax(np.round(1 - x - y, 9))])


def within_squares(features: Features, labels: Labels) -> float:
    """Sum the squared distances of items to their cluster's mean: Σ|x|² − Σ|Σx|²/n."""
    from scipy.sparse import csr_matrix
    from sklearn.utils.extmath import row_norms, safe_sparse_dot

    n = len(labels)
    _, numbers, counts = np.unique(labels, return_inverse=True, return_counts=True)
    membership = csr_matrix((np.ones(n), (numbers, np.arange(n))), shape=(len(counts), n))
    sums = safe_sparse_dot(membership, features, dense_output=True)
    between = (row_norms(sums, squared=True) / counts).sum()
    return float(row_norms(features, squared=True).sum() - between)


def cluster_items(pool: SamplingPool, method: Method, source: str, k: K) -> Labels:
    """Cluster a pool's items on TF-IDF (`source` "tfidf") or on the vectors of an encoder.

    Return labels (n,): 0, 1, … by decreasing size, ties by smallest id; −1 is noise: the noise of
    DBSCAN, and on TF-IDF items without words. They do not depend on the order of the pool or the
    number of cores.

    Raises:
        InputError: the pool has no vectors of the encoder `source`.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.extmath import row_norms
    from threadpoolctl import threadpool_limits

    order = np.argsort(pool.ids, kind="stable")
    features = _item_features(pool, order, method, source)
    kept = np.arange(len(pool))
    if source == TFIDF:
        kept = np.flatnonzero(row_norms(features) > 0)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # Topic models stop before full convergence, and k-means may have equal rows.
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        found = _cluster(features[kept], method, source, k)
    labels_by_id = np.full(len(pool), NOISE, dtype=np.intp)
    labels_by_id[kept] = found
    labels = np.empty(len(pool), dtype=np.intp)
    labels[order] = _by_size(labels_by_id)
    return labels


def _item_features(pool: SamplingPool, order: Places, method: Method, source: str) -> Features:
    """Return the features (n, d) of a pool's items in `order`."""
    if source == TFIDF:
        return tfidf_matrix(tuple(pool.texts[place] for place in order))
    if source not in pool.vectors:
        known = ", ".join(sorted(pool.vectors)) or "none"
        raise InputError(
            f"sampler {method}_{source} needs vectors of the encoder {source!r}; available: "
            f"{known}. Add the encoder to sampling.encoders or remove the sampler"
        )
    return np.asarray(pool.vectors[source][order], dtype=np.float64)


def _cluster(features: Features, method: Method, source: str, k: K) -> Labels:
    n = features.shape[0]
    if n < 3:  # too few for two clusters of which one has two items
        return np.zeros(n, dtype=np.intp)
    if method == "dbscan":
        return _dbscan(features, source)
    most = max(CANDIDATES) if isinstance(k, str) else k
    labels_of = cache(_labeller(features, method, source, most))  # the chosen k is fitted once
    if isinstance(k, int):
        return labels_of(min(k, n - 1))
    candidates = [number for number in CANDIDATES if number < n]
    within = [within_squares(features, labels_of(number)) for number in candidates]
    return labels_of(elbow(candidates, within))


def _labeller(
    features: Features, method: Method, source: str, most: int
) -> Callable[[int], Labels]:
    """Return the function from a number of clusters, at most `most`, to the labels."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import NMF, LatentDirichletAllocation

    generator = stage_generator(_SEED, f"clustering {method} {source}")
    state = int(generator.integers(2**31))

    def kmeans(points: Features, k: int) -> Labels:
        fit = KMeans(k, n_init=_STARTS, random_state=state).fit(points)
        return np.asarray(fit.labels_, dtype=np.intp)

    if method == "kmeans":
        return lambda k: kmeans(features, k)
    if method == "spectral":
        points = spectral_embedding(features, min(most, features.shape[0] - 1), generator)
        return lambda k: kmeans(points[:, :k], k)

    def nmf(k: int) -> Labels:
        model = NMF(min(k, *features.shape), init="nndsvda", tol=1e-3, random_state=state)
        return model.fit_transform(features).argmax(axis=1)

    if method == "nmf":
        return nmf

    def lda(k: int) -> Labels:
        model = LatentDirichletAllocation(
            k,
            learning_method="online",
            max_iter=5,
            batch_size=512,
            mean_change_tol=1e-2,
            random_state=state,
        )
        return model.fit_transform(features).argmax(axis=1)

    return lda


def _dbscan(features: Features, source: str) -> Labels:
    from sklearn import config_context
    from sklearn.cluster import DBSCAN

    model = DBSCAN(**(_TFIDF_DBSCAN if source == TFIDF else _DENSE_DBSCAN))
    with config_context(working_memory=WORKING_MIB):
        return np.asarray(model.fit(features).labels_, dtype=np.intp)


def _by_size(labels: Labels) -> Labels:
    """Renumber clusters by decreasing size, ties by first row; noise stays noise."""
    names, first, cluster, counts = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    ranked = np.lexsort((first, -counts, names == NOISE))
    return np.where(labels == NOISE, NOISE, np.argsort(ranked)[cluster])


DENSE_METHODS: tuple[Method, ...] = ("kmeans", "spectral", "dbscan")


@lru_cache(maxsize=64)
def clusterings(method: Method, source: str, k: K) -> Callable[[SamplingPool], Labels]:
    """Return `cluster_items` by pool, fitted once per process."""
    return once_per_pool(lambda pool: cluster_items(pool, method, source, k))


def proportional_draw(pool: SamplingPool, labels: Labels, seed: int, sampler: str) -> Draw:
    """Draw from each cluster its share of the size by largest remainder, at random inside it.

    Ties of remainders are broken at random once per repeat. `labels` (n,) are clusters, including
    noise (−1). The name of the sampler is part of the seed.
    """
    shuffled = random_order(pool, seed, sampler)
    members = {str(name): shuffled[labels[shuffled] == name] for name in np.unique(labels)}
    quotas_of = random_quotas(members, seed, f"sampling.{sampler}.cluster")

    def draw(size: int) -> WeightedSubset:
        parts = [members[name][:quota] for name, quota in quotas_of(size).items()]
        return WeightedSubset.equal(np.concatenate(parts))

    return draw


def clustering_kind(method: Method, source: str) -> SamplerKind:
    """Return the sampler that draws each cluster's share, and that of noise, at random.

    Items are clustered on TF-IDF or on the vectors of an encoder.
    """

    def make(params: SamplingParams) -> Sampler:
        labels_of = clusterings(method, source, params.clustering.k)
        return lambda pool, seed: proportional_draw(
            pool, labels_of(pool), seed, f"{method}_{source}"
        )

    reads = "texts" if source == TFIDF else "vectors"
    return SamplerKind("clustering", make, reads)
