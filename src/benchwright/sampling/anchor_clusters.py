"""Items that each stand for a cluster, weighted by its size."""

import warnings
from functools import lru_cache
from heapq import heapify, heapreplace

import numpy as np
from numpy.typing import NDArray

from benchwright.params.anchors import AnchorParams
from benchwright.sampling.ward_tree import cut_tree, ward_tree
from benchwright.seeding import stage_generator
from benchwright.weighted_subset import WeightedSubset

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
        self._labels = lru_cache(maxsize=_SIZES)(self._cluster)

    def anchors(self, size: int, ties: Float) -> WeightedSubset:
        """`size` points and their weights: the share of the cluster that each stands for.

        Each cluster gives its point nearest to the mean. Equal points are never in two clusters:
        where more are asked for than there are different ones, clusters give several, one by one
        to the cluster with the most points per anchor, and their weight is shared.

        Args:
            size: 1 to n.
            ties: (n,) different numbers that order equal distances.
        """
        labels = self._labels(min(size, self._distinct))
        counts = np.bincount(labels)
        order = self._by_distance(labels, counts, ties)
        starts = np.cumsum(counts) - counts
        given = _highest_averages(counts, size)
        places = [order[start : start + some] for start, some in zip(starts, given, strict=True)]
        weights = np.repeat(counts / (given * len(labels)), given)
        return WeightedSubset(np.concatenate(places), weights)

    def _by_distance(self, labels: Labels, counts: NDArray[np.intp], ties: Float) -> Labels:
        """All places: by cluster, then by distance to its mean, then by `ties`."""
        sums = np.zeros((len(counts), self.points.shape[1]))
        np.add.at(sums, labels, self.points)
        gaps = self.points - (sums / counts[:, None])[labels]
        return np.lexsort((ties, np.round((gaps**2).sum(axis=1), _DECIMALS), labels))

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


def _highest_averages(counts: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """How many of `size` anchors each cluster gives: one each, then by points per anchor.

    A cluster that has given all has one point per anchor, which is the least there is, so it comes
    last. Equal ones go by number.
    """
    given = np.ones(len(counts), dtype=np.intp)
    queue = [(-float(count), number) for number, count in enumerate(counts)]
    heapify(queue)
    for _ in range(size - len(counts)):
        number = queue[0][1]
        given[number] += 1
        heapreplace(queue, (-counts[number] / given[number], number))
    return given
