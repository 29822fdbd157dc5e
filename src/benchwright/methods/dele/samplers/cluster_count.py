"""How many clusters: the elbow of the squared distances, or the highest silhouette."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.methods.dele.samplers.text_features import Features

Labels = NDArray[np.intp]


class ClusterCurve(NamedTuple):
    """How good a clustering is with each number of clusters that was tried."""

    k: NDArray[np.intp]  # (c,) numbers of clusters asked for, rising
    # (c,) sum of squared distances of items to the mean of their cluster, in the space of the
    # features (TF-IDF or vectors), whatever made the clusters: it compares methods.
    within: NDArray[np.float64]
    # (c,) mean silhouette by cosine distance, −1 to 1; NaN with one cluster.
    silhouette: NDArray[np.float64]

    @classmethod
    def empty(cls) -> "ClusterCurve":
        """Nothing was tried."""
        return cls(np.empty(0, np.intp), np.empty(0), np.empty(0))


def cluster_curve(
    features: Features,
    candidates: tuple[int, ...],
    labels_of: Callable[[int], Labels],
    sample: NDArray[np.intp],
) -> ClusterCurve:
    """Try every number of clusters.

    `features` are (n, d); the silhouette is that of the rows in `sample`.
    """
    distances = cosine_distances(features[sample])
    within, silhouette = [], []
    for k in candidates:
        labels = labels_of(k)
        within.append(within_squares(features, labels))
        silhouette.append(_silhouette(distances, labels[sample]))
    return ClusterCurve(np.array(candidates, np.intp), np.array(within), np.array(silhouette))


def elbow(curve: ClusterCurve) -> int:
    """The k at which the curve lies farthest below the line between its ends (Satopää et al. 2011).

    A curve that does not fall has no elbow; then the smallest k.
    """
    fall = curve.within[0] - curve.within[-1]
    if fall <= 0:
        return int(curve.k[0])
    x = (curve.k - curve.k[0]) / (curve.k[-1] - curve.k[0])
    y = (curve.within - curve.within[-1]) / fall
    return int(curve.k[np.argmax(np.round(1 - x - y, 9))])


def best_silhouette(curve: ClusterCurve) -> int:
    """The k of the highest silhouette, the smallest of equals; without any, the smallest k."""
    known = np.where(np.isnan(curve.silhouette), -np.inf, curve.silhouette)
    return int(curve.k[np.argmax(np.round(known, 9))])


def within_squares(features: Features, labels: Labels) -> float:
    """Sum over clusters of the squared distances of their items to their mean: Σ|x|² − Σ|Σx|²/n."""
    from scipy.sparse import csr_matrix

    n = len(labels)
    _, numbers, counts = np.unique(labels, return_inverse=True, return_counts=True)
    membership = csr_matrix((np.ones(n), (numbers, np.arange(n))), shape=(len(counts), n))
    sums = membership @ features
    dense = sums if isinstance(sums, np.ndarray) else sums.toarray()
    squares = float(
        (features**2).sum()
        if isinstance(features, np.ndarray)
        else features.multiply(features).sum()
    )
    return squares - float(((dense.astype(np.float64) ** 2).sum(axis=1) / counts).sum())


def cosine_distances(features: Features) -> NDArray[np.float64]:
    """(n, n) 1 − cosine, with zeros on the diagonal."""
    from sklearn.metrics.pairwise import cosine_distances as pairwise

    return np.asarray(pairwise(features), dtype=np.float64)


def _silhouette(distances: NDArray[np.float64], labels: Labels) -> float:
    from sklearn.metrics import silhouette_score

    if not 2 <= len(np.unique(labels)) < len(labels):
        return float("nan")
    return float(silhouette_score(distances, labels, metric="precomputed"))
