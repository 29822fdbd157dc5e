"""Anchor points: items that represent similar ones (Polo et al. 2024, tinyBenchmarks)."""

from functools import lru_cache

import numpy as np

from benchwright.core.array_types import Floats, Integers, Places
from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.samplers.pool import Draw, SamplingPool, once_per_pool
from benchwright.methods.dele.samplers.response_samplers import require_responses
from benchwright.statistics.item_response import fit_2pl

Labels = Places

_DECIMALS = 6  # smaller differences of points are rounding errors
_SIZES = 128  # cached clusterings of a pool
_DIFFICULTY_REACH = 6.0  # the grid of abilities ends there


def ward_merges(points: Floats, sizes: Integers) -> Places:
    """Build Ward's tree (1963) of weighted points; one of size s stands for s equal points.

    SciPy's `linkage` has no sizes and needs n² distances; this takes 8 u² bytes for u distinct
    points. The tree grows by chains of nearest neighbours.

    `points` (u, d) are distinct, `sizes` (u,) at least 1. Return (u − 1, 2) a point of each of the
    two clusters that a step joins, cheapest first.
    """
    weight = np.asarray(sizes, dtype=np.float64)
    costs = _costs(points, weight)
    merges = np.empty((max(len(points) - 1, 0), 2), dtype=np.intp)
    heights = np.empty(len(merges))
    chain: list[int] = []
    for step in range(len(merges)):
        if not chain:
            chain.append(int((weight > 0).argmax()))
        while True:
            last = costs[chain[-1]]
            nearest = int(last.argmin())
            if len(chain) > 1 and last[chain[-2]] <= last[nearest]:
                break
            chain.append(nearest)
        x = chain.pop()
        y = chain.pop()
        merges[step] = x, y
        heights[step] = costs[x, y]
        _join(costs, weight, x, y)
    return merges[np.argsort(heights, kind="stable")]


def _costs(points: Floats, weight: Floats) -> Floats:
    """Return twice the cost (u, u) of each union, 2st/(s + t) × squared distance; diagonal ∞."""
    square = (points**2).sum(axis=1)
    costs = points @ points.T
    for place, row in enumerate(costs):
        np.maximum(-2 * row + square[place] + square, 0, out=row)
        np.multiply(row, 2 * weight[place] * weight / (weight[place] + weight), out=row)
    np.fill_diagonal(costs, np.inf)
    return costs


def _join(costs: Floats, weight: Floats, x: int, y: int) -> None:
    """Replace cluster y by the union, and x by one of infinite cost (Lance & Williams 1967)."""
    both = weight[x] + weight[y]
    row = (weight[x] + weight) * costs[x] + (weight[y] + weight) * costs[y] - weight * costs[x, y]
    row /= both + weight
    row[[x, y]] = np.inf
    weight[y] = both
    weight[x] = 0
    costs[y] = row
    costs[:, y] = row
    costs[:, x] = np.inf


def cut_tree(merges: Places, u: int, k: int) -> Labels:
    """Return the labels 0 … k − 1 of u points after the first u − k merges."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    done = merges[: u - k]
    graph = csr_matrix((np.ones(len(done)), (done[:, 0], done[:, 1])), shape=(u, u))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)


class AnchorClusters:
    """Ward's clusters of n points for any number of clusters; the tree is built once.

    The order of the points (n, d) does not depend on the order of the pool.
    """

    def __init__(self, points: Floats) -> None:
        self.points = np.round(points, _DECIMALS)
        distinct, kind, sizes = np.unique(
            self.points, axis=0, return_inverse=True, return_counts=True
        )
        self._distinct = len(distinct)
        self._kind = kind.ravel()
        self._merges = ward_merges(distinct, sizes)
        self._clusters = lru_cache(maxsize=_SIZES)(self._nearness)

    def anchors(self, size: int, ties: Floats) -> WeightedSubset:
        """Return `size` points with weights: each represents its share of a cluster.

        Each cluster gives the point nearest to its mean. Equal points are never in two clusters. If
        `size` exceeds the number of distinct points, further anchors are those with the lowest
        `ties`, and anchors of a cluster share its weight.

        `size` is 1 to n; `ties` (n,) are distinct numbers that break ties of distances.
        """
        labels, distances = self._clusters(min(size, self._distinct))
        order = np.lexsort((ties, distances, labels))
        counts = np.bincount(labels)
        nearest = order[np.cumsum(counts) - counts]
        others = np.setdiff1d(order, nearest)
        further = others[np.argsort(ties[others], kind="stable")][: size - len(nearest)]
        chosen = np.concatenate([nearest, further])
        shares = counts / (np.bincount(labels[chosen]) * len(order))
        return WeightedSubset(chosen, shares[labels[chosen]])

    def _nearness(self, k: int) -> tuple[Labels, Floats]:
        """Return the label (n,) of each point's cluster and its distance to the mean, squared."""
        labels = cut_tree(self._merges, self._distinct, k)[self._kind]
        sums = np.array([np.bincount(labels, column) for column in self.points.T])
        means = (sums / np.bincount(labels)).T
        return labels, np.round(((self.points - means[labels]) ** 2).sum(axis=1), _DECIMALS)


def _item_parameters(pool: SamplingPool) -> Floats:
    """Return discrimination and difficulty, clipped at ±6 (n, 2); medians without responses."""
    fit = fit_2pl(pool.correct)
    known = ~np.isnan(fit.discrimination)
    if not known.any():
        raise InputError(f"sampler irt_clusters cannot fit a two-parameter model: {fit.reason}")
    b = np.clip(fit.difficulty, -_DIFFICULTY_REACH, _DIFFICULTY_REACH)
    columns = np.stack([fit.discrimination, b], axis=1)
    return np.where(known[:, None], columns, np.median(columns[known], axis=0))


@once_per_pool
def _clusters_of(pool: SamplingPool) -> tuple[Places, AnchorClusters]:
    """Return the order of the items by id, and the clusters of the items in this order."""
    require_responses(pool, "irt_clusters")
    order = np.argsort(pool.ids, kind="stable")
    return order, AnchorClusters(_item_parameters(pool.select(order)))


def irt_clusters_sampler(pool: SamplingPool, seed: int) -> Draw:
    """Draw one item per cluster of similar discrimination and difficulty.

    These are the IRT anchors of tinyBenchmarks with one ability. The score is the mean weighted by
    the shares of clusters.
    """
    order, clusters = _clusters_of(pool)
    ids = [pool.item_ids[place] for place in order]
    ties = item_uniforms(seed, "sampling.irt_clusters", ids)

    def draw(size: int) -> WeightedSubset:
        chosen = clusters.anchors(size, ties)
        return WeightedSubset(order[chosen.positions], chosen.weights)

    return draw
