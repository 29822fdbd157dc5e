"""What is shown of clusterings: sizes with examples, curves, a map (DELE, figures 33–44)."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import item_uniforms, stage_generator
from benchwright.methods.dele.samplers.clustering import TFIDF, Clustering, item_features
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.text_features import row_lengths
from benchwright.params.clustering import ClusteringParams
from benchwright.tables.dele import ClusterCurves, ClusterSizes, ItemMap

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_EXAMPLES = 10
_SVD = 50  # dimensions that words are brought down to before t-SNE
_PERPLEXITY = 30.0


class Map(NamedTuple):
    """Some items in the plane.

    Attributes:
        positions: (s,) places in the pool.
        coordinates: (s, 2) float64; only neighbourhoods mean something, not axes or distances.
    """

    positions: NDArray[np.intp]
    coordinates: NDArray[np.float64]


def cluster_sizes(
    pool: SamplingPool, clusterings: dict[str, Clustering], seed: int = 0
) -> pd.DataFrame:
    """A `ClusterSizes` table: each cluster with up to ten of its items, drawn at random.

    Args:
        pool: the items.
        clusterings: by name of the sampler, of these items.
        seed: of the draw.
    """
    lots = item_uniforms(seed, "cluster examples", pool.item_ids)
    shuffled = np.lexsort((np.array(pool.item_ids, dtype=object), lots))
    rows = []
    for name, clustering in clusterings.items():
        labels = clustering.labels
        for cluster in np.unique(labels):
            members = shuffled[labels[shuffled] == cluster]
            examples = [pool.item_ids[place] for place in members[:_EXAMPLES]]
            share = len(members) / len(labels)
            rows.append((name, int(cluster), len(members), share, examples))
    return ClusterSizes.from_rows(rows)


def cluster_curves(clusterings: dict[str, Clustering]) -> pd.DataFrame:
    """A `ClusterCurves` table: elbow and silhouette curves of the samplers that chose k by one."""
    return ClusterCurves.from_rows(
        [
            (name, int(k), float(within), float(silhouette), int(k) == clustering.asked)
            for name, clustering in clusterings.items()
            for k, within, silhouette in zip(*clustering.curve, strict=True)
        ]
    )


def tsne_map(pool: SamplingPool, source: str, params: ClusteringParams) -> Map:
    """Items in the plane by t-SNE (van der Maaten & Hinton 2008), at most `params.map_items`.

    The subset is random and depends on ids and seed only. TF-IDF is first brought down to 50
    dimensions; items without a word are left out. Below four items there is no map.

    Args:
        pool: n items.
        source: "tfidf" or an encoder.
        params: `map_items`, `most_words` and `seed`.

    Raises:
        InputError: the pool has no vectors of that encoder.
    """
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    lots = item_uniforms(params.seed, "t-SNE items", pool.item_ids)
    order = np.lexsort((np.array(pool.item_ids, dtype=object), lots))
    features = item_features(pool, order, "kmeans", source, params)
    kept = np.flatnonzero(row_lengths(features) > 0)[: params.map_items]
    if len(kept) < 4:
        return Map(np.empty(0, np.intp), np.empty((0, 2)))
    state = int(stage_generator(params.seed, f"t-SNE {source}").integers(2**31))
    with threadpool_limits(limits=1):
        points = _dense(features[kept], state) if source == TFIDF else features[kept]
        model = TSNE(
            perplexity=min(_PERPLEXITY, (len(kept) - 1) / 3), init="pca", random_state=state
        )
        coordinates = model.fit_transform(points)
    return Map(order[kept], np.asarray(coordinates, dtype=np.float64))


def item_map(
    pool: SamplingPool, source: str, found: Map, clusterings: dict[str, Clustering]
) -> pd.DataFrame:
    """An `ItemMap` table: the map of a source, with the clusters of each sampler that reads it.

    Args:
        pool: the items.
        source: "tfidf" or an encoder.
        found: their map.
        clusterings: by name of the sampler.
    """
    return ItemMap.from_rows(
        [
            (source, pool.item_ids[place], x, y, name, int(clustering.labels[place]))
            for name, clustering in clusterings.items()
            for place, (x, y) in zip(found.positions, found.coordinates, strict=True)
        ]
    )


def _dense(features: "csr_matrix", state: int) -> NDArray[np.float64]:
    """(s, d) the leading dimensions of TF-IDF, d ≤ 50."""
    from sklearn.decomposition import TruncatedSVD

    dimensions = min(_SVD, *(side - 1 for side in features.shape))
    if dimensions < 2:
        return np.asarray(features.toarray(), dtype=np.float64)
    return np.asarray(
        TruncatedSVD(dimensions, random_state=state).fit_transform(features), dtype=np.float64
    )
