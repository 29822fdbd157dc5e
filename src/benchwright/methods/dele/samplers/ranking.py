"""Samplers that put all items in one order; a subset is the order's beginning."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchwright.core.seeding import item_uniforms
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.samplers.pool import Draw, Sampler, SamplingPool

Feature = Callable[[str], float]
"""A figure of a text; NaN where the text does not have it."""


def prefixes(order: NDArray[np.intp]) -> Draw:
    """The draw whose subset of size k is the first k of `order`, a permutation of n places."""

    def draw(size: int) -> WeightedSubset:
        require_size(size, len(order))
        return WeightedSubset.equal(order[:size])

    return draw


def require_size(size: int, n: int) -> None:
    """Raise ValueError unless 1 ≤ `size` ≤ `n`."""
    if not 1 <= size <= n:
        raise ValueError(f"cannot draw {size} of {n} items")


def random_order(pool: SamplingPool, seed: int, sampler: str) -> NDArray[np.intp]:
    """All n places in an order that depends on seed, sampler and ids only."""
    uniforms = item_uniforms(seed, f"sampling.{sampler}", pool.item_ids)
    order = np.argsort(uniforms, kind="stable")
    if (uniforms[order[1:]] != uniforms[order[:-1]]).all():
        return order
    # Ids decide between equal numbers; sorting by them takes longer than everything else.
    return np.lexsort((np.array(pool.item_ids, dtype=object), uniforms))


def order_by(
    values: Sequence[float], pool: SamplingPool, seed: int, sampler: str, *, highest_first: bool
) -> NDArray[np.intp]:
    """All n places by value; equal values at random, values that are NaN last."""
    scores = np.asarray(values, dtype=np.float64)
    keys = -scores if highest_first else scores
    shuffled = random_order(pool, seed, sampler)
    return shuffled[np.argsort(keys[shuffled], kind="stable")]


def rank_by_feature(sampler: str, feature: Feature, *, highest_first: bool) -> Sampler:
    """The sampler that takes items by a feature of their texts.

    The random order of equal values depends on `sampler`, its name. The feature is computed once
    for each text, however often the sampler draws.
    """
    cached = lru_cache(maxsize=1 << 17)(feature)

    def sample(pool: SamplingPool, seed: int) -> Draw:
        values = [cached(text) for text in pool.texts]
        return prefixes(order_by(values, pool, seed, sampler, highest_first=highest_first))

    return sample
