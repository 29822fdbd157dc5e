"""Anchor points: items that represent similar ones (Vivek et al. 2024; Polo et al. 2024)."""

import warnings
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms, stage_generator
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.samplers.pool import (
    Draw,
    OncePerPool,
    Sampler,
    SamplingPool,
    require_size,
)
from benchwright.methods.dele.samplers.response_samplers import (
    filled_responses,
    required_responses,
    two_parameter_fit,
)
from benchwright.params.sampling import AnchorParams

Float = NDArray[np.float64]
Labels = NDArray[np.intp]

_BLOCK = 1 << 15  # costs computed at once: they stay in the cache of a processor


def ward_tree(points: Float, sizes: NDArray[np.integer]) -> NDArray[np.intp]:
    """Build Ward's tree of weighted points.

    A point of size s stands for s equal points. SciPy's `linkage` has no sizes and needs n²
    distances; this takes 8 u² bytes for u distinct points, and few models give few distinct points.

    `points` (u, d) are distinct, `sizes` (u,) at least 1. Return the two nodes (u − 1, 2) that each
    step joins, cheapest first; step i creates node u + i.
    """
    u = len(points)
    apart, weight = _costs(points, sizes), np.asarray(sizes, dtype=np.float64)
    point, gone = np.arange(u), np.zeros(u)
    pairs = np.empty((max(u - 1, 0), 2), dtype=np.intp)
    heights = np.empty(len(pairs))
    chain: list[int] = []
    for step in range(len(pairs)):
        if 2 * (u - step) < len(apart):
            kept = np.flatnonzero(gone == 0)
            apart, weight, point = _packed(apart, kept), weight[kept], point[kept]
            gone, chain = np.zeros(len(kept)), np.searchsorted(kept, chain).tolist()
        x, y = _nearest_to_each_other(apart, gone, chain)
        pairs[step], heights[step] = point[[x, y]], apart[x, y]
        _join(apart, weight, gone, x, y)
    return _numbered(pairs[np.argsort(heights, kind="stable")], u)


def cut_tree(merges: NDArray[np.intp], u: int, k: int) -> Labels:
    """Return the labels 0 … k − 1 of u points after the first u − k steps."""
    node = np.arange(2 * u - 1)
    node[merges[: u - k]] = np.arange(u, 2 * u - k)[:, None]
    while (node != (above := node[node])).any():
        node = above
    return np.unique(node[:u], return_inverse=True)[1].astype(np.intp)


def _costs(points: Float, sizes: NDArray[np.integer]) -> Float:
    """Return twice the cost (u, u) of each union, 2st/(s + t) × squared distance; diagonal ∞."""
    square, weight = (points**2).sum(axis=1), sizes.astype(np.float64)
    apart = np.asarray(points @ points.T)
    step = max(1, _BLOCK // max(len(apart), 1))
    for start in range(0, len(apart), step):
        rows = slice(start, start + step)
        block, own = apart[rows], weight[rows, None]
        block *= -2
        block += square[rows, None]
        block += square
        np.maximum(block, 0, out=block)
        block *= 2 * own * weight / (own + weight)
    np.fill_diagonal(apart, np.inf)
    return apart


def _packed(apart: Float, kept: NDArray[np.intp]) -> Float:
    """Move the rows and columns `kept` (k, increasing) to the start of the same memory: (k, k)."""
    k, flat = len(kept), apart.reshape(-1)
    for row, place in enumerate(kept.tolist()):
        flat[row * k : (row + 1) * k] = apart[place, kept]
    return flat[: k * k].reshape(k, k)


def _nearest_to_each_other(apart: Float, gone: Float, chain: list[int]) -> tuple[int, int]:
    """Follow nearest neighbours until two are mutual, and remove these from the chain.

    `gone` (u,) is ∞ for clusters that are part of another, whose costs are old ones, else 0.
    """
    if not chain:
        chain.append(int(gone.argmin()))
    while True:
        last = apart[chain[-1]]
        nearest = int((last + gone).argmin())
        if len(chain) > 1 and last[chain[-2]] <= last[nearest]:
            return chain.pop(), chain.pop()
        chain.append(nearest)


def _join(apart: Float, weight: Float, gone: Float, x: int, y: int) -> None:
    """Replace cluster y by the union and remove x (Lance & Williams 1967)."""
    both = weight[x] + weight[y]
    row = (weight[x] + weight) * apart[x] + (weight[y] + weight) * apart[y] - weight * apart[x, y]
    row /= both + weight
    row[y] = np.inf
    weight[y], gone[x] = both, np.inf
    apart[y], apart[:, y] = row, row


def _numbered(pairs: NDArray[np.intp], u: int) -> NDArray[np.intp]:
    """Replace a point of each cluster by the number of the cluster's node."""
    node = np.arange(u)
    top = np.arange(u)

    def root(point: int) -> int:
        while top[point] != point:
            top[point] = top[top[point]]
            point = int(top[point])
        return point

    out = np.empty_like(pairs)
    for step, (x, y) in enumerate(pairs.tolist()):
        a, b = root(x), root(y)
        out[step] = sorted((node[a], node[b]))
        top[a] = b
        node[b] = u + step
    return out


_DECIMALS = 6  # smaller differences of points are rounding errors
_SIZES = 128  # cached clusterings of a pool


class AnchorClusters:
    """Clusters of n points for any number of clusters.

    Ward's tree (1963) is built once, and each number of clusters is a cut of it. It takes u²
    memory for u distinct points. K-means is fitted for each number of clusters.
    The order of the points (n, d) does not depend on the order of the pool.
    """

    def __init__(self, points: Float, params: AnchorParams) -> None:
        self.points = np.round(points, _DECIMALS)
        self._columns = np.ascontiguousarray(self.points.T)
        self._params = params
        different, kind, sizes = np.unique(
            self.points, axis=0, return_inverse=True, return_counts=True
        )
        self._distinct, self._kind = len(different), kind.ravel()
        self._merges = ward_tree(different, sizes) if params.algorithm == "ward" else None
        self._clusters = lru_cache(maxsize=_SIZES)(self._ordered)
        self._more = lru_cache(maxsize=2)(_highest_averages)

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
            more = self._more(tuple(counts.tolist()))[: size - len(counts)]
            given += np.bincount(more, minlength=len(counts))
        turn = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        weights = np.repeat(counts / (given * len(order)), given)
        return WeightedSubset(order[turn < np.repeat(given, counts)], weights)

    def _ordered(self, k: int) -> tuple[NDArray[np.unsignedinteger], Labels]:
        """Return the rank (n,) of points by cluster and distance to its mean, and cluster sizes.

        Equal distances share a rank, so the result does not depend on `ties`.
        """
        labels = self._cluster(k)
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

    def _cluster(self, k: int) -> Labels:
        """Return labels 0 … c − 1 without empty clusters, c ≤ k."""
        if self._merges is not None:
            return cut_tree(self._merges, self._distinct, k)[self._kind]
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits

        params = self._params
        state = int(stage_generator(params.seed, f"anchors {k}").integers(2**31))
        model = KMeans(k, n_init=params.starts, max_iter=params.steps, random_state=state)
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=ConvergenceWarning)
            labels = model.fit(self.points).labels_
        return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _highest_averages(counts: tuple[int, ...]) -> Labels:
    """Return the order in which clusters with one anchor each give further anchors.

    The next cluster is always the one with the most points per anchor; ties go by number.
    """
    sizes = np.array(counts, dtype=np.intp)
    numbers = np.repeat(np.arange(len(sizes)), sizes - 1)
    given = 1 + np.arange(len(numbers)) - np.repeat(np.cumsum(sizes - 1) - (sizes - 1), sizes - 1)
    return numbers[np.lexsort((numbers, -sizes[numbers] / given))]


# The grid of abilities ends there.
_DIFFICULTY_REACH = 6.0
_EIGEN_MODELS = 1000  # with more models the components are computed by random projections


@lru_cache(maxsize=2)
def anchor_points_sampler(params: AnchorParams) -> Sampler:
    """Return the sampler of anchor points: one item per cluster of items with similar responses.

    Items are clustered by the principal components of the selection models' responses; missing
    responses are the item's mean. The score is the mean weighted by the shares of clusters.
    """
    return _anchor_sampler(
        "anchor_points", lambda pool: answer_components(pool.correct, params.components), params
    )


@lru_cache(maxsize=2)
def irt_clusters_sampler(params: AnchorParams) -> Sampler:
    """Return the sampler of one item per cluster of similar discrimination a and difficulty b.

    These are the IRT anchors of tinyBenchmarks with one ability. Neither parameter is scaled: b is
    in standard deviations of the ability, clipped at ±6, and a is per standard deviation.
    """
    return _anchor_sampler("irt_clusters", _item_parameters, params)


def answer_components(correct: NDArray[np.float32], components: int) -> Float:
    """Return the leading principal components (n, c) of n items' responses, c ≤ `components`.

    With at most `components` models, return the responses, since distances are the same.
    """
    responses = np.ascontiguousarray(filled_responses(correct).T)
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
    """Return a and b (n, 2); an item without responses has the medians.

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


def _anchor_sampler(
    name: str, points_of: Callable[[SamplingPool], Float], params: AnchorParams
) -> Sampler:
    """Return the sampler of anchors among the points `points_of(pool)` of a sorted pool."""

    def fit(pool: SamplingPool) -> tuple[NDArray[np.intp], AnchorClusters]:
        required_responses(pool, name)
        order = np.argsort(np.array(pool.item_ids, dtype=object), kind="stable")
        return order, AnchorClusters(points_of(pool.select(order)), params)

    clusters_of = OncePerPool(fit, "responses")

    def sample(pool: SamplingPool, seed: int) -> Draw:
        order, clusters = clusters_of(pool)
        ids = [pool.item_ids[place] for place in order]
        ties = item_uniforms(seed, f"sampling.{name}", ids)

        def draw(size: int) -> WeightedSubset:
            require_size(size, len(pool))
            chosen = clusters.anchors(size, ties)
            return WeightedSubset(order[chosen.positions], chosen.weights)

        return draw

    return sample
