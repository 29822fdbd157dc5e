"""Samplers that draw from clusters of similar texts (DELE, section 3.1)."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from benchwright.core.seeding import item_uniforms
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.samplers.clustering import TFIDF, Clustering, Method, cluster_items
from benchwright.methods.dele.samplers.kind import SamplerKind
from benchwright.methods.dele.samplers.once_per_pool import OncePerPool
from benchwright.methods.dele.samplers.pool import Draw, Sampler, SamplingPool
from benchwright.methods.dele.samplers.ranking import random_order, require_size
from benchwright.params.clustering import ClusteringParams
from benchwright.statistics.largest_remainder import largest_remainder

DENSE_METHODS: tuple[Method, ...] = ("kmeans", "spectral", "dbscan")


def clustering_sampler(method: Method, source: str, params: ClusteringParams) -> Sampler:
    """The sampler that gives each cluster its share of the size, noise too, and draws at random.

    Args:
        method: of clustering.
        source: "tfidf", or the encoder whose vectors are clustered.
        params: of the clustering, which is fitted once per pool whatever the repeat's seed.
    """
    clustering_of = clusterings(method, source, params)

    def sample(pool: SamplingPool, seed: int) -> Draw:
        return proportional_draw(pool, clustering_of(pool).labels, seed, f"{method}_{source}")

    return sample


@lru_cache(maxsize=64)
def clusterings(method: Method, source: str, params: ClusteringParams) -> OncePerPool[Clustering]:
    """`cluster_items` by pool, fitted once for all samplers and views of a process."""
    return OncePerPool(
        lambda pool: cluster_items(pool, method, source, params),
        "texts" if source == TFIDF else source,
    )


def proportional_draw(
    pool: SamplingPool, labels: NDArray[np.intp], seed: int, sampler: str
) -> Draw:
    """Each cluster's share of a size by largest remainder, inside a cluster at random.

    Equal remainders draw lots, once per repeat. Subsets do not nest.

    Args:
        pool: n items.
        labels: (n,) clusters; noise (−1) is one of them.
        seed: the repeat's.
        sampler: its name, so that samplers draw independently.
    """
    numbers, sizes = np.unique(labels, return_counts=True)
    lots = item_uniforms(seed, f"sampling.{sampler}.cluster", [str(number) for number in numbers])
    turns = [f"{turn:09d}" for turn in np.argsort(np.argsort(lots, kind="stable"))]
    shares = dict(zip(turns, sizes.tolist(), strict=True))
    shuffled = random_order(pool, seed, sampler)
    members = {
        turn: shuffled[labels[shuffled] == number]
        for turn, number in zip(turns, numbers, strict=True)
    }

    def draw(size: int) -> WeightedSubset:
        require_size(size, len(pool))
        quotas = largest_remainder(shares, size)
        return WeightedSubset.equal(
            np.concatenate([members[turn][: quotas[turn]] for turn in turns])
        )

    return draw


def _kind(method: Method, source: str) -> SamplerKind:
    return SamplerKind(
        "clustering",
        lambda params: clustering_sampler(method, source, params.clustering),
        frozenset({"texts" if source == TFIDF else "vectors"}),
        nested=False,
        random=True,
    )


CLUSTERING_SAMPLERS: Mapping[str, SamplerKind] = MappingProxyType(
    {f"{method}_{TFIDF}": _kind(method, TFIDF) for method in get_args(Method)}
)
"""Those on TF-IDF, which need no encoder."""


def encoder_samplers(encoder: str) -> dict[str, SamplerKind]:
    """Those on the vectors of an encoder: `kmeans_<encoder>`, `spectral_…`, `dbscan_…`."""
    return {f"{method}_{encoder}": _kind(method, encoder) for method in DENSE_METHODS}
