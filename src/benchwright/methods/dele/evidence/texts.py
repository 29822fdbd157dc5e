"""What is shown of the items' texts: features, reading indices, clusters (DELE, Tables 2, 4, 5)."""

import pandas as pd

from benchwright.methods.dele.evidence.pools import Pools
from benchwright.methods.dele.evidence.ready_samplers import kinds_of
from benchwright.methods.dele.samplers.cluster_samplers import clusterings
from benchwright.methods.dele.samplers.cluster_views import (
    cluster_curves,
    cluster_sizes,
    item_map,
    tsne_map,
)
from benchwright.methods.dele.samplers.clustering import Clustering, Method
from benchwright.methods.dele.samplers.item_features import item_features
from benchwright.methods.dele.samplers.readability_tables import (
    easiest_and_hardest,
    readability_bands,
)
from benchwright.params.sampling import SamplingParams
from benchwright.tables.dele import ItemFeatures, ItemMap, ReadabilityBands, ReadabilityExtremes


def describe_texts(pools: Pools) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Features of every judged item, the easiest and hardest to read, and bands of two indices."""
    pool = pools.plain
    if not len(pool):
        return ItemFeatures.empty(), ReadabilityExtremes.empty(), ReadabilityBands.empty()
    return item_features(pool), easiest_and_hardest(pool), readability_bands(pool)


def describe_clusters(
    pools: Pools, sampling: SamplingParams, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Sizes of the clusters that samplers draw from, how their number was chosen, and a map."""
    pool, params = pools.plain, sampling.clustering
    by_source: dict[str, dict[str, Clustering]] = {}
    for name, kind in kinds_of(sampling).items() if len(pool) else ():
        if kind.family == "clustering":
            method, source = _parts(name)
            clustering = clusterings(method, source, params)(pool)
            by_source.setdefault(source, {})[name] = clustering
    everyone = {name: found for own in by_source.values() for name, found in own.items()}
    maps = [
        item_map(pool, source, tsne_map(pool, source, params), own)
        for source, own in by_source.items()
    ]
    filled = [table for table in maps if len(table)]
    together = pd.concat(filled, ignore_index=True) if filled else ItemMap.empty()
    return cluster_sizes(pool, everyone, seed), cluster_curves(everyone), together


def _parts(name: str) -> tuple[Method, str]:
    """`kmeans_all-minilm-l6-v2` as method and source."""
    method, _, source = name.partition("_")
    known: dict[str, Method] = {
        "nmf": "nmf",
        "lda": "lda",
        "kmeans": "kmeans",
        "spectral": "spectral",
        "dbscan": "dbscan",
    }
    return known[method], source
