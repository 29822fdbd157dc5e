"""Random, stratified and balanced samplers, and samplers inside subjects (DELE, A.1.1, 4.2, 5)."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from benchwright.core.seeding import item_uniforms
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.samplers.clustering import proportional_draw
from benchwright.methods.dele.samplers.pool import (
    Draw,
    Sampler,
    SamplingPool,
    prefixes,
    random_order,
    random_quotas,
)


def random_sampler(pool: SamplingPool, seed: int) -> Draw:
    """Draw any subset of a size with equal probability; smaller subsets are prefixes."""
    return prefixes(random_order(pool, seed, "random"))


def stratified_sampler(pool: SamplingPool, seed: int) -> Draw:
    """Draw from each subject its share of the items by largest remainder, at random inside it.

    Ties of remainders are broken at random once per repeat. Subsets do not nest.
    """
    _, labels = np.unique(np.array(pool.subjects, dtype=object), return_inverse=True)
    return proportional_draw(pool, labels, seed, "stratified")


def balanced_sampler(pool: SamplingPool, seed: int) -> Draw:
    """Draw equally many items of each subject, or all items of a subject that has fewer.

    Each round takes the subjects in a new random order. Subsets nest. Items have equal weights, so
    the score is closer to the mean over subjects than to the mean over items.
    """
    shuffled = random_order(pool, seed, "balanced")
    subjects = np.array(pool.subjects, dtype=object)[shuffled]
    rounds = np.empty(len(pool), dtype=np.intp)
    rounds[shuffled] = pd.Series(subjects).groupby(subjects).cumcount()
    turns = [f"{turn}\x1f{name}" for turn, name in zip(rounds, pool.subjects, strict=True)]
    lots = item_uniforms(seed, "sampling.balanced.turn", turns)
    return prefixes(np.lexsort((np.array(turns, dtype=object), lots, rounds)))


def within_subjects(
    sampler: Sampler, by_subject: Mapping[str, Sampler] = MappingProxyType({})
) -> Sampler:
    """Return the sampler that gives each subject its share of the size and samples inside it.

    `by_subject` holds the samplers of subjects with another one than `sampler`. Shares are by
    largest remainder; ties are broken at random once per repeat. The weights of a subject's items
    sum to its share. Clusters are computed within each subject.
    """

    def sample(pool: SamplingPool, seed: int) -> Draw:
        members = pool.by_subject()
        draws = {}
        for name, own in members.items():
            own_sampler = by_subject.get(name, sampler)
            draws[name] = own_sampler(pool.select(own), seed)
        quotas_of = random_quotas(members, seed, "sampling.within_subject")

        def draw(size: int) -> WeightedSubset:
            parts = []
            for name, quota in quotas_of(size).items():
                if quota:
                    inner = draws[name](quota)
                    parts.append(
                        inner._replace(
                            positions=members[name][inner.positions],
                            weights=inner.weights * (quota / size),
                        )
                    )
            inclusion = [part.inclusion for part in parts if part.inclusion is not None]
            return WeightedSubset(
                np.concatenate([part.positions for part in parts]),
                np.concatenate([part.weights for part in parts]),
                np.concatenate(inclusion) if len(inclusion) == len(parts) else None,
            )

        return draw

    return sample
