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
    filled_answers,
    required_answers,
    two_parameter_fit,
)
from benchwright.params.sampling import AnchorParams

Float = NDArray[np.float64]
Labels = NDArray[np.intp]


def ward_tree(points: Float, sizes: NDArray[np.integer]) -> NDArray[np.intp]:
    """Build Ward's tree of points with sizes.

    A point of size s is s equal points. SciPy's `linkage` knows no sizes and needs n² distances
    for thousands of items that few models answer in few ways; this takes 8 u² bytes for u different
    points.

    `points` (u, d) are all different, `sizes` (u,) at least 1.

    Returns:
        (u − 1, 2) the two nodes that each step joins, cheapest first; step i makes node u + i.
    """
    u = len(points)
    apart, weight = _costs(points, sizes), np.asarray(sizes, dtype=np.float64)
    pairs = np.empty((max(u - 1, 0), 2), dtype=np.intp)
    heights = np.empty(len(pairs))
    chain: list[int] = []
    for step in range(len(pairs)):
        x, y = _nearest_to_each_other(apart, weight, chain)
        pairs[step], heights[step] = (x, y), apart[x, y]
        _join(apart, weight, x, y)
    return _numbered(pairs[np.argsort(heights, kind="stable")], u)


def cut_tree(merges: NDArray[np.intp], u: int, k: int) -> Labels:
    """Return the labels 0 … k − 1 of u points after the first u − k steps."""
    node = list(range(2 * u - 1))  # single numbers are read faster from a list
    for step, (x, y) in zip(range(u - k - 1, -1, -1), merges[: u - k][::-1].tolist(), strict=True):
        node[x] = node[y] = node[u + step]
    return np.unique(node[:u], return_inverse=True)[1].astype(np.intp)


def _costs(points: Float, sizes: NDArray[np.integer]) -> Float:
    """(u, u) twice what each union adds, 2st/(s + t) × squared distance; the diagonal is ∞."""
    square = (points**2).sum(axis=1)
    apart = points @ points.T
    apart *= -2
    apart += square[:, None]
    apart += square
    np.maximum(apart, 0, out=apart)
    for row, size in enumerate(sizes.tolist()):
        apart[row] *= 2 * size * sizes / (size + sizes)
    np.fill_diagonal(apart, np.inf)
    return np.asarray(apart)


def _nearest_to_each_other(apart: Float, weight: Float, chain: list[int]) -> tuple[int, int]:
    """Follow nearest neighbours until two are each other's; these leave the chain."""
    if not chain:
        chain.append(int(np.argmax(weight > 0)))
    while True:
        last = apart[chain[-1]]
        nearest = int(last.argmin())
        if len(chain) > 1 and last[chain[-2]] <= last[nearest]:
            return chain.pop(), chain.pop()
        chain.append(nearest)


def _join(apart: Float, weight: Float, x: int, y: int) -> None:
    """Cluster y becomes the union, x is no more (Lance & Williams 1967)."""
    both = weight[x] + weight[y]
    row = (weight[x] + weight) * apart[x] + (weight[y] + weight) * apart[y] - weight * apart[x, y]
    row /= both + weight
    row[weight == 0] = row[[x, y]] = np.inf
    weight[x], weight[y] = 0, both
    apart[y], apart[:, y] = row, row
    apart[x], apart[:, x] = np.inf, np.inf


def _numbered(pairs: NDArray[np.intp], u: int) -> NDArray[np.intp]:
    """Clusters by the number of their node instead of one of their points."""
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


_DECIMALS = 6  # finer differences of points are rounding
_SIZES = 128  # clusterings of one pool that are remembered


class AnchorClusters:
    """Clusters of n points for any number of clusters.

    Ward's tree (1963) is built once, and each number of clusters is a cut of it. It takes u²
    working memory for u different points; k-means starts anew for each number.
    The points (n, d) stand in an order that does not depend on the pool's.
    """

    def __init__(self, points: Float, params: AnchorParams) -> None:
        self.points = np.round(points, _DECIMALS)
        self._params = params
        different, kind, sizes = np.unique(
            self.points, axis=0, return_inverse=True, return_counts=True
        )
        self._distinct, self._kind = len(different), kind.ravel()
        self._merges = ward_tree(different, sizes) if params.algorithm == "ward" else None
        self._clusters = lru_cache(maxsize=_SIZES)(self._ordered)
        self._more = lru_cache(maxsize=2)(_highest_averages)

    def anchors(self, size: int, ties: Float) -> WeightedSubset:
        """`size` points and their weights: the share of the cluster that each stands for.

        Each cluster gives its point nearest to the mean. Equal points are never in two clusters:
        where more are asked for than there are different ones, clusters give several, one by one
        to the cluster with the most points per anchor, and their weight is shared.

        `size` is 1 to n; `ties` (n,) are different numbers that order equal distances.
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
        """Place (n,) of each point by cluster and distance to its mean, equal ones the same; sizes.

        All that does not depend on ties.
        """
        labels = self._cluster(k)
        counts = np.bincount(labels)
        columns = (np.bincount(labels, column, len(counts)) for column in self.points.T)
        sums = np.stack(list(columns), axis=1)
        gaps = self.points - (sums / counts[:, None])[labels]
        distances = np.round((gaps**2).sum(axis=1), _DECIMALS)
        order = np.lexsort((distances, labels))
        differs = np.diff(labels[order]).astype(bool) | np.diff(distances[order]).astype(bool)
        kind = np.uint16 if len(order) < 1 << 16 else np.uint32  # 16-bit integers sort fastest
        places: NDArray[np.unsignedinteger] = np.empty(len(order), dtype=kind)
        places[order] = np.concatenate([[0], np.cumsum(differs)])
        return places, counts

    def _cluster(self, k: int) -> Labels:
        """Labels 0 … c − 1, none empty, c ≤ k."""
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
    """Which clusters, that gave an anchor each, give one more, in order, till no points are left.

    Always the one with the most points per anchor; equal ones go by number.
    """
    sizes = np.array(counts, dtype=np.intp)
    numbers = np.repeat(np.arange(len(sizes)), sizes - 1)
    given = 1 + np.arange(len(numbers)) - np.repeat(np.cumsum(sizes - 1) - (sizes - 1), sizes - 1)
    return numbers[np.lexsort((numbers, -sizes[numbers] / given))]


# Beyond it no ability is told apart: the grid of abilities ends there.
_DIFFICULTY_REACH = 6.0
_EIGEN_MODELS = 1000  # with more models components come from random projections


def anchor_points_sampler(params: AnchorParams) -> Sampler:
    """Cluster items that the same models get right; each cluster gives one item.

    An item is the vector of its answers by the selection models, as principal components; missing
    answers are the item's mean. The score is the mean weighted by shares of clusters.
    """
    return _anchor_sampler(
        "anchor_points", lambda pool: answer_components(pool.correct, params.components), params
    )


def irt_clusters_sampler(params: AnchorParams) -> Sampler:
    """Cluster items of similar discrimination a and difficulty b; each cluster gives one item.

    As the IRT anchors of tinyBenchmarks, with one ability. Neither is scaled: b is in standard
    deviations of ability, cut at ±6, and a per standard deviation.
    """
    return _anchor_sampler("irt_clusters", _item_parameters, params)


def answer_components(correct: NDArray[np.float32], components: int) -> Float:
    """Return the leading principal components (n, c) of n items' answers, c ≤ `components`.

    With at most `components` models, return the answers: the distances are the same.
    """
    answers = np.ascontiguousarray(filled_answers(correct).T)
    n, m = answers.shape
    if m <= components or n <= components:
        return answers
    from sklearn.decomposition import PCA
    from threadpoolctl import threadpool_limits

    solver = "covariance_eigh" if m <= _EIGEN_MODELS else "randomized"
    with threadpool_limits(limits=1):
        found = PCA(components, svd_solver=solver, random_state=0).fit_transform(answers)
    return np.asarray(found, dtype=np.float64)


def _item_parameters(pool: SamplingPool) -> Float:
    """(n, 2) a and b; an item without answers has the medians.

    Raises:
        InputError: nothing can be fitted to the answers.
    """
    fit = two_parameter_fit(pool)
    known = ~np.isnan(fit.discrimination)
    if not known.any():
        raise InputError(f"sampler irt_clusters fits a two-parameter model: {fit.reason}")
    b = np.clip(fit.difficulty, -_DIFFICULTY_REACH, _DIFFICULTY_REACH)
    columns = np.stack([fit.discrimination, b], axis=1)
    return np.where(known[:, None], columns, np.median(columns[known], axis=0))


def _anchor_sampler(
    name: str, points_of: Callable[[SamplingPool], Float], params: AnchorParams
) -> Sampler:
    """Return the sampler of anchors among points that `points_of` makes of a sorted pool."""

    def fit(pool: SamplingPool) -> tuple[NDArray[np.intp], AnchorClusters]:
        required_answers(pool, name)
        order = np.argsort(np.array(pool.item_ids, dtype=object), kind="stable")
        return order, AnchorClusters(points_of(pool.select(order)), params)

    clusters_of = OncePerPool(fit, "answers")

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
