"""Text features, readability indices and clusters (DELE, Tables 2–5, Figures 33–44)."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np
import pandas as pd

from benchwright.core.array_types import Floats, Places
from benchwright.core.seeding import item_uniforms, stage_generator
from benchwright.methods.dele.evidence.study import SamplingStudy
from benchwright.methods.dele.samplers import text_quality
from benchwright.methods.dele.samplers.clustering import (
    TFIDF,
    Method,
    clusterings,
    item_features,
)
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.registry import RANKED, sampler_kinds
from benchwright.tables.dele import ClusterCurves, ItemFeatures, ItemMap, ReadabilityExtremes

FEATURES: Mapping[str, Callable[[str], float]] = {
    **{name: feature for name, (_, feature, _) in RANKED.items()},
    "wordform": text_quality.wordform,
    "vowel_consonant_ratio": text_quality.vowel_consonant_ratio,
    "periods": text_quality.periods,
}
"""Features of a text by name; NaN if undefined."""


_EXAMPLES = 3  # items at either end
_SEED = 0
_MAP_ITEMS = 1500
_SVD = 50  # dimensions of TF-IDF after reduction, before t-SNE
_PERPLEXITY = 30.0


def describe_texts(study: SamplingStudy) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Describe the text of every compared item, and list the easiest and hardest to read."""
    pool = study.plain
    frame = pd.DataFrame({"item_id": pool.item_ids, "subject": pool.subjects})
    for name, feature in FEATURES.items():
        frame[name] = np.array([feature(text) for text in pool.texts], dtype=float)
    return ItemFeatures.of(frame), easiest_and_hardest(frame, pool.texts)


def easiest_and_hardest(features: pd.DataFrame, texts: Sequence[str]) -> pd.DataFrame:
    """List the three easiest and the three hardest items to read, with all indices (Table 2).

    Items are ordered by the share of difficult words, then by the other indices and ids. Items
    without words are left out. Return a `ReadabilityExtremes` table: the easiest, easiest first,
    then the hardest, hardest first.
    """
    items = features.assign(text=texts, hard_to_read=-features["flesch"])
    order = ["difficult_words", "dale_chall", "hard_to_read", "gunning_fog", "item_id"]
    items = items.dropna(subset="difficult_words").sort_values(order)
    shown = min(_EXAMPLES, len(items) // 2)
    ranks = range(1, shown + 1)
    easy = items.head(shown).assign(end="easy", rank=ranks)
    hard = items[::-1].head(shown).assign(end="hard", rank=ranks)
    return ReadabilityExtremes.of(pd.concat([easy, hard], ignore_index=True))


def describe_clusters(study: SamplingStudy) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Describe the choice of the number of clusters, and map the items with their clusters."""
    pool = study.plain
    curves = [ClusterCurves.empty()]
    maps = [ItemMap.empty()]
    by_source: dict[str, list[str]] = {}
    for name, kind in sampler_kinds(study.sampling).items():
        if kind.family == "clustering" and len(pool):
            source = name.partition("_")[2]  # kmeans_all-minilm-l6-v2
            by_source.setdefault(source, []).append(name)
    for source, names in by_source.items():
        places, coordinates = tsne_map(pool, source)
        points = pd.DataFrame(coordinates, columns=["x", "y"])
        points["item_id"] = pool.ids[places]
        for name in names:
            method = cast("Method", name.partition("_")[0])
            found = clusterings(method, source, study.sampling.clustering.k)(pool)
            curve = pd.DataFrame(found.curve._asdict())
            curves.append(curve.assign(sampler=name, chosen=curve["k"] == found.asked))
            maps.append(points.assign(source=source, sampler=name, cluster=found.labels[places]))
    return (
        ClusterCurves.of(pd.concat(curves, ignore_index=True)),
        ItemMap.of(pd.concat(maps, ignore_index=True)),
    )


def tsne_map(pool: SamplingPool, source: str) -> tuple[Places, Floats]:
    """Map at most 1,500 items to the plane by t-SNE (van der Maaten & Hinton 2008).

    The subset is random and depends only on the ids. TF-IDF is first reduced to 50 dimensions;
    items without words are left out. With fewer than four items the map is empty. Return places in
    the pool (s,) and coordinates (s, 2), whose axes and distances have no meaning.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.manifold import TSNE
    from sklearn.utils.extmath import row_norms
    from threadpoolctl import threadpool_limits

    lots = item_uniforms(_SEED, "t-SNE items", pool.item_ids)
    order = np.lexsort((pool.ids, lots))
    features = item_features(pool, order, "kmeans", source)
    kept = np.flatnonzero(row_norms(features) > 0)[:_MAP_ITEMS]
    if len(kept) < 4:
        return np.empty(0, np.intp), np.empty((0, 2))
    state = int(stage_generator(_SEED, f"t-SNE {source}").integers(2**31))
    points = features[kept]
    dimensions = min(_SVD, *(side - 1 for side in points.shape))
    with threadpool_limits(limits=1):
        if not isinstance(points, np.ndarray) and dimensions < 2:
            points = points.toarray()
        elif source == TFIDF:
            points = TruncatedSVD(dimensions, random_state=state).fit_transform(points)
        model = TSNE(
            perplexity=min(_PERPLEXITY, (len(kept) - 1) / 3), init="pca", random_state=state
        )
        coordinates = model.fit_transform(points)
    return order[kept], np.asarray(coordinates, dtype=np.float64)
