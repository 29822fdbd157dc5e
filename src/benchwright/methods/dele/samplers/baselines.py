"""Samplers that read no texts: random, stratified, balanced (DELE, A.1.1, section 5)."""

from collections import Counter

import numpy as np

from benchwright.core.seeding import item_uniforms
from benchwright.methods.dele.samplers.cluster_samplers import proportional_draw
from benchwright.methods.dele.samplers.pool import Draw, SamplingPool
from benchwright.methods.dele.samplers.ranking import prefixes, random_order


def random_sampler(pool: SamplingPool, seed: int) -> Draw:
    """Every subset of a size is equally likely; a smaller one lies within a larger one."""
    return prefixes(random_order(pool, seed, "random"))


def stratified_sampler(pool: SamplingPool, seed: int) -> Draw:
    """Each subject's share of the items, by largest remainder; within a subject at random.

    Equal remainders draw lots, once per repeat. Subsets do not nest: a subject's quota may fall by
    one where the size grows by one.
    """
    _, labels = np.unique(np.array(pool.subjects, dtype=object), return_inverse=True)
    return proportional_draw(pool, labels, seed, "stratified")


def balanced_sampler(pool: SamplingPool, seed: int) -> Draw:
    """As many items of each subject; one that runs out gives all, the others share the rest.

    Which subjects have one more than others is drawn anew with each round. Subsets nest. Every item
    counts alike, so the score is nearer to the mean over subjects than to that over items.
    """
    shuffled = random_order(pool, seed, "balanced")
    seen: Counter[str] = Counter()
    rounds = np.empty(len(pool), dtype=np.intp)
    for place in shuffled:
        rounds[place] = seen[pool.subjects[place]]
        seen[pool.subjects[place]] += 1
    turns = [f"{turn}\x1f{name}" for turn, name in zip(rounds, pool.subjects, strict=True)]
    lots = item_uniforms(seed, "sampling.balanced.turn", turns)
    return prefixes(np.lexsort((np.array(turns, dtype=object), lots, rounds)))
