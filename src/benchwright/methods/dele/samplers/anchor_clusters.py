"""Items that each stand for a cluster, weighted by its size."""

import warnings
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.samplers.ward_tree import cut_tree, ward_tree
from benchwright.params.anchors import AnchorParams

Float = NDArray[np.float64]
Labels = NDArray[np.intp]

_DECIMALS = 6  # finer differences of points are rounding
_SIZES = 128  # clusterings of one pool that are remembered


class AnchorClusters:
    """Clusters of n points for any number of clusters.

    Ward's tree (1963) is built once, and each number of clusters is a cut of it. It takes u²
    working memory for u different points (docs/sampling.md); k-means starts anew for each number.

    Args:
        points: (n, d), in an order that does not depend on the pool's.
        params: the algorithm.
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

        Args:
            size: 1 to n.
            ties: (n,) different numbers that order equal distances.
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
