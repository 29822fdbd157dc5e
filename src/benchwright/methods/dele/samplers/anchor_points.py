"""Anchor points: items that represent similar ones (Vivek et al. 2024; Polo et al. 2024)."""

from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.training import Training
from benchwright.methods.dele.samplers.pool import Draw, Sampler, SamplingPool, once_per_pool
from benchwright.methods.dele.samplers.response_samplers import (
    require_responses,
    two_parameter_fit,
)

Float = NDArray[np.float64]
Labels = NDArray[np.intp]

_DECIMALS = 6  # smaller differences of points are rounding errors
_SIZES = 128  # cached clusterings of a pool
_COMPONENTS = 64  # of the responses; this bounds the time with thousands of models
_EIGEN_MODELS = 1000  # with more models the components are computed by random projections
_DIFFICULTY_REACH = 6.0  # the grid of abilities ends there


def ward_merges(points: Float, sizes: NDArray[np.integer]) -> NDArray[np.intp]:
    """Build Ward's tree (1963) of weighted points; one of size s stands for s equal points.

    SciPy's `linkage` has no sizes and needs n² distances; this takes 8 u² bytes for u distinct
    points. The tree grows by chains of nearest neighbours.

    `points` (u, d) are distinct, `sizes` (u,) at least 1. Return (u − 1, 2) a point of each of the
    two clusters that a step joins, cheapest first.
    """
    costs, weight = _costs(points, sizes), np.asarray(sizes, dtype=np.float64)
    merges = np.empty((max(len(points) - 1, 0), 2), dtype=np.intp)
    heights, chain = np.empty(len(merges)), list[int]()
    for step in range(len(merges)):
        if not chain:
            chain.append(int((weight > 0).argmax()))
        while True:
            last = costs[chain[-1]]
            nearest = int(last.argmin())
            if len(chain) > 1 and last[chain[-2]] <= last[nearest]:
                break
            chain.append(nearest)
        x, y = chain.pop(), chain.pop()
        merges[step], heights[step] = (x, y), costs[x, y]
        _join(costs, weight, x, y)
    return merges[np.argsort(heights, kind="stable")]


def _costs(points: Float, sizes: NDArray[np.integer]) -> Float:
    """Return twice the cost (u, u) of each union, 2st/(s + t) × squared distance; diagonal ∞."""
    square, weight = (points**2).sum(axis=1), sizes.astype(np.float64)
    costs = np.asarray(points @ points.T)
    for place, row in enumerate(costs):
        np.maximum(-2 * row + square[place] + square, 0, out=row)
        np.multiply(row, 2 * weight[place] * weight / (weight[place] + weight), out=row)
    np.fill_diagonal(costs, np.inf)
    return costs


def _join(costs: Float, weight: Float, x: int, y: int) -> None:
    """Replace cluster y by the union, and x by one of infinite cost (Lance & Williams 1967)."""
    both = weight[x] + weight[y]
    row = (weight[x] + weight) * costs[x] + (weight[y] + weight) * costs[y] - weight * costs[x, y]
    row /= both + weight
    row[[x, y]] = np.inf
    weight[y], weight[x] = both, 0
    costs[y], costs[:, y], costs[:, x] = row, row, np.inf


def cut_tree(merges: NDArray[np.intp], u: int, k: int) -> Labels:
    """Return the labels 0 … k − 1 of u points after the first u − k merges.

    Single points come first, then clusters in the order in which they were made.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    done = merges[: u - k]
    graph = csr_matrix((np.ones(len(done)), (done[:, 0], done[:, 1])), shape=(u, u))
    cluster = connected_components(graph, directed=False)[1]
    made = np.zeros(k, dtype=np.intp)
    np.maximum.at(made, cluster, np.arange(u))
    np.maximum.at(made, cluster[done[:, 0]], np.arange(u, u + len(done)))
    return np.argsort(np.argsort(made))[cluster]


class AnchorClusters:
    """Ward's clusters of n points for any number of clusters; the tree is built once.

    The order of the points (n, d) does not depend on the order of the pool.
    """

    def __init__(self, points: Float) -> None:
        self.points = np.round(points, _DECIMALS)
        self._columns = np.ascontiguousarray(self.points.T)
        different, kind, sizes = np.unique(
            self.points, axis=0, return_inverse=True, return_counts=True
        )
        self._distinct, self._kind = len(different), kind.ravel()
        self._merges = ward_merges(different, sizes)
        self._clusters = lru_cache(maxsize=_SIZES)(self._ordered)

    def anchors(self, size: int, ties: Float) -> WeightedSubset:
        """Return `size` points with weights: each represents its share of a cluster.

        Each cluster gives the point nearest to its mean. Equal points are never in two clusters. If
        `size` exceeds the number of distinct points, further anchors come one by one from the
        cluster with the most points per anchor, and anchors of a cluster share its weight.

        `size` is 1 to n; `ties` (n,) are distinct numbers that break ties of distances.
        """
        places, counts = self._clusters(min(size, self._distinct))
        shuffled = np.argsort(ties, kind="stable")
        order = shuffled[np.argsort(places[shuffled], kind="stable")]
        given = np.ones(len(counts), dtype=np.intp)
        if size > len(counts):
            more = self._further[: size - len(counts)]
            given += np.bincount(more, minlength=len(counts))
        turn = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        weights = np.repeat(counts / (given * len(order)), given)
        return WeightedSubset(order[turn < np.repeat(given, counts)], weights)

    @cached_property
    def _further(self) -> Labels:
        """The order in which clusters of equal points, with an anchor each, give further ones.

        The next cluster is always the one with the most points per anchor; ties go by number.
        """
        sizes = self._clusters(self._distinct)[1]
        numbers = np.repeat(np.arange(len(sizes)), sizes - 1)
        first = np.repeat(np.cumsum(sizes - 1) - (sizes - 1), sizes - 1)
        given = 1 + np.arange(len(numbers)) - first
        return numbers[np.lexsort((numbers, -sizes[numbers] / given))]

    def _ordered(self, k: int) -> tuple[NDArray[np.unsignedinteger], Labels]:
        """Return the rank (n,) of points by cluster and distance to its mean, and cluster sizes.

        Equal distances share a rank, so the result does not depend on `ties`.
        """
        labels = cut_tree(self._merges, self._distinct, k)[self._kind]
        counts = np.bincount(labels)
        sums = np.array([np.bincount(labels, column, len(counts)) for column in self._columns])
        gaps = self.points - np.ascontiguousarray((sums / counts).T)[labels]
        gaps *= gaps
        distances = np.round(gaps.sum(axis=1), _DECIMALS)
        order = np.lexsort((distances, labels))
        differs = np.diff(labels[order]).astype(bool) | np.diff(distances[order]).astype(bool)
        kind = np.uint16 if len(order) < 1 << 16 else np.uint32  # 16-bit integers sort fastest
        places: NDArray[np.unsignedinteger] = np.empty(len(order), dtype=kind)
        places[order] = np.concatenate([[0], np.cumsum(differs)])
        return places, counts


def answer_components(correct: NDArray[np.float32], components: int = _COMPONENTS) -> Float:
    """Return the leading principal components (n, c) of n items' responses, c ≤ `components`.

    With at most `components` models, return the responses, since distances are the same.
    """
    responses = np.ascontiguousarray(Training(correct).filled.T, dtype=np.float64)
    n, m = responses.shape
    if m <= components or n <= components:
        return responses
    from sklearn.decomposition import PCA
    from threadpoolctl import threadpool_limits

    solver = "covariance_eigh" if m <= _EIGEN_MODELS else "randomized"
    with threadpool_limits(limits=1):
        points = PCA(components, svd_solver=solver, random_state=0).fit_transform(responses)
    return np.asarray(points, dtype=np.float64)


def _item_parameters(pool: SamplingPool) -> Float:
    """Return discrimination and difficulty, clipped at ±6 (n, 2); medians without responses.

    Raises:
        InputError: no model can be fitted to the responses.
    """
    fit = two_parameter_fit(pool)
    known = ~np.isnan(fit.discrimination)
    if not known.any():
        raise InputError(f"sampler irt_clusters cannot fit a two-parameter model: {fit.reason}")
    b = np.clip(fit.difficulty, -_DIFFICULTY_REACH, _DIFFICULTY_REACH)
    columns = np.stack([fit.discrimination, b], axis=1)
    return np.where(known[:, None], columns, np.median(columns[known], axis=0))


def _anchor_sampler(name: str, points_of: Callable[[SamplingPool], Float]) -> Sampler:
    """Return the sampler of anchors among the points `points_of(pool)` of a sorted pool."""

    def fit(pool: SamplingPool) -> tuple[NDArray[np.intp], AnchorClusters]:
        require_responses(pool, name)
        order = np.argsort(np.array(pool.item_ids, dtype=object), kind="stable")
        return order, AnchorClusters(points_of(pool.select(order)))

    clusters_of = once_per_pool(fit)

    def sample(pool: SamplingPool, seed: int) -> Draw:
        order, clusters = clusters_of(pool)
        ids = [pool.item_ids[place] for place in order]
        ties = item_uniforms(seed, f"sampling.{name}", ids)

        def draw(size: int) -> WeightedSubset:
            chosen = clusters.anchors(size, ties)
            return WeightedSubset(order[chosen.positions], chosen.weights)

        return draw

    return sample


anchor_points_sampler = _anchor_sampler(
    "anchor_points", lambda pool: answer_components(pool.correct)
)
"""The sampler of one item per cluster of items with similar responses.

Items are clustered by the principal components of the selection models' responses. The score is the
mean weighted by the shares of clusters.
"""

irt_clusters_sampler = _anchor_sampler("irt_clusters", _item_parameters)
"""The sampler of one item per cluster of similar discrimination and difficulty.

These are the IRT anchors of tinyBenchmarks with one ability.
"""
