"""Coordinates for spectral clustering that stay cheap with many items."""

import numpy as np
from numpy.typing import NDArray

from benchwright.methods.dele.samplers.text_features import Features

# Below this all eigenvectors are computed: exact, also where a graph in pieces has equal ones.
_DENSE = 500
_WORKING_MIB = 64  # of one block of distances


def spectral_embedding(
    features: Features, dimensions: int, neighbours: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """(n, `dimensions`) coordinates from the graph of nearest neighbours (Shi & Malik 2000).

    Two items are joined with weight 1 if each is among the other's nearest by cosine, 1/2 if one
    is. The coordinates are the leading eigenvectors of the random walk on that graph. A full
    similarity matrix would take n² numbers; the graph takes n × `neighbours`. The eigenvectors
    come from plain Lanczos iterations: the shift-and-invert of scikit-learn's solver factorises a
    matrix that fills up, and did not end in a minute on 14,042 items.

    Args:
        features: (n, d), no row all zero.
        dimensions: fewer than n.
        neighbours: of each item; at most n − 1 are used.
        generator: of the start vector.
    """
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import eigsh
    from sklearn import config_context
    from sklearn.neighbors import kneighbors_graph

    n = features.shape[0]
    with config_context(working_memory=_WORKING_MIB):
        joined = kneighbors_graph(features, min(neighbours, n - 1), metric="cosine")
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
