"""Text features, readability indices and clusters (DELE, Tables 2–5, Figures 33–44)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import item_uniforms, stage_generator
from benchwright.methods.dele.evidence.study import SamplingStudy
from benchwright.methods.dele.samplers import readability, text_quality
from benchwright.methods.dele.samplers.clustering import (
    TFIDF,
    Clustering,
    Method,
    clusterings,
    item_features,
    row_lengths,
)
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.registry import sampler_kinds
from benchwright.tables.dele import (
    ClusterCurves,
    ItemFeatures,
    ItemMap,
    ReadabilityExtremes,
)

FEATURES: Mapping[str, Callable[[str], float]] = MappingProxyType(
    {
        "spelling_errors": text_quality.spelling_errors,
        "word_length": text_quality.average_word_length,
        "repeated_words": text_quality.repeated_words,
        "wordform": text_quality.wordform,
        "vowel_consonant_ratio": text_quality.vowel_consonant_ratio,
        "periods": text_quality.periods,
        "cpd": text_quality.compound_probability,
        "lexical_diversity": text_quality.lexical_diversity,
        "difficult_words": readability.difficult_word_share,
        "dale_chall": readability.dale_chall,
        "flesch": readability.flesch_reading_ease,
        "gunning_fog": readability.gunning_fog,
    }
)
"""Features of a text by name; NaN if undefined."""


def text_feature_table(pool: SamplingPool) -> pd.DataFrame:
    """Compute every feature of every item in the order of the pool: an `ItemFeatures` table.

    `cpd` is not standardised, since standardisation depends on all items.
    """
    columns = {name: [feature(text) for text in pool.texts] for name, feature in FEATURES.items()}
    frame = pd.DataFrame({"item_id": pool.item_ids, "subject": pool.subjects, **columns})
    return ItemFeatures.of(frame)


if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_SEED = 0
_MAP_ITEMS = 1500
_SVD = 50  # dimensions of TF-IDF after reduction, before t-SNE
_PERPLEXITY = 30.0


class Map(NamedTuple):
    """Coordinates of some items in the plane."""

    positions: NDArray[np.intp]  # (s,) places in the pool
    # (s, 2) float64; only neighbourhoods are meaningful, not axes or distances.
    coordinates: NDArray[np.float64]


def cluster_curves(clusterings: dict[str, Clustering]) -> pd.DataFrame:
    """List the curves that determined k: a `ClusterCurves` table."""
    return ClusterCurves.from_rows(
        [
            (name, int(k), float(within), float(silhouette), int(k) == clustering.asked)
            for name, clustering in clusterings.items()
            for k, within, silhouette in zip(*clustering.curve, strict=True)
        ]
    )


def tsne_map(pool: SamplingPool, source: str) -> Map:
    """Map at most 1,500 items to the plane by t-SNE (van der Maaten & Hinton 2008).

    The subset is random and depends only on the ids. TF-IDF is first reduced to 50 dimensions;
    items without words are left out. With fewer than four items the map is empty.

    `source` is "tfidf" or an encoder.

    Raises:
        InputError: the pool has no vectors of this encoder.
    """
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    lots = item_uniforms(_SEED, "t-SNE items", pool.item_ids)
    order = np.lexsort((np.array(pool.item_ids, dtype=object), lots))
    features = item_features(pool, order, "kmeans", source)
    kept = np.flatnonzero(row_lengths(features) > 0)[:_MAP_ITEMS]
    if len(kept) < 4:
        return Map(np.empty(0, np.intp), np.empty((0, 2)))
    state = int(stage_generator(_SEED, f"t-SNE {source}").integers(2**31))
    with threadpool_limits(limits=1):
        points = _dense(features[kept], state) if source == TFIDF else features[kept]
        model = TSNE(
            perplexity=min(_PERPLEXITY, (len(kept) - 1) / 3), init="pca", random_state=state
        )
        coordinates = model.fit_transform(points)
    return Map(order[kept], np.asarray(coordinates, dtype=np.float64))


def item_map(
    pool: SamplingPool, source: str, plane: Map, clusterings: dict[str, Clustering]
) -> pd.DataFrame:
    """Join the coordinates with the clusters of each sampler: an `ItemMap` table."""
    return ItemMap.from_rows(
        [
            (source, pool.item_ids[place], x, y, name, int(clustering.labels[place]))
            for name, clustering in clusterings.items()
            for place, (x, y) in zip(plane.positions, plane.coordinates, strict=True)
        ]
    )


def _dense(features: "csr_matrix", state: int) -> NDArray[np.float64]:
    """Reduce TF-IDF to its leading dimensions (s, d), d ≤ 50."""
    from sklearn.decomposition import TruncatedSVD

    dimensions = min(_SVD, *(side - 1 for side in features.shape))
    if dimensions < 2:
        return np.asarray(features.toarray(), dtype=np.float64)
    return np.asarray(
        TruncatedSVD(dimensions, random_state=state).fit_transform(features), dtype=np.float64
    )


def describe_texts(study: SamplingStudy) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Describe the text of every compared item, and list the easiest and hardest to read."""
    pool = study.plain
    if not len(pool):
        return ItemFeatures.empty(), ReadabilityExtremes.empty()
    return text_feature_table(pool), readability.easiest_and_hardest(pool)


def describe_clusters(study: SamplingStudy) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Describe the choice of the number of clusters, and map the items with their clusters."""
    pool, k = study.plain, study.sampling.clustering.k
    by_source: dict[str, dict[str, Clustering]] = {}
    for name, kind in sampler_kinds(study.sampling).items() if len(pool) else ():
        if kind.family == "clustering":
            start, _, source = name.partition("_")  # kmeans_all-minilm-l6-v2
            method = next(known for known in get_args(Method) if known == start)
            clustering = clusterings(method, source, k)(pool)
            by_source.setdefault(source, {})[name] = clustering
    by_sampler = {name: own[name] for own in by_source.values() for name in own}
    maps = [
        item_map(pool, source, tsne_map(pool, source), own) for source, own in by_source.items()
    ]
    filled = [table for table in maps if len(table)]
    together = pd.concat(filled, ignore_index=True) if filled else ItemMap.empty()
    return cluster_curves(by_sampler), together
