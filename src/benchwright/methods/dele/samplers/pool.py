"""Pools of items, the types of samplers, and rankings of items."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.array_types import Places
from benchwright.core.seeding import item_uniforms
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.random_subsets import largest_remainder


@dataclass(frozen=True)
class SamplingPool:
    """The n items of a benchmark with the data that samplers read."""

    # n unique ids; ties are broken by their hashes, so results do not depend on the order of rows.
    item_ids: tuple[str, ...]
    subjects: tuple[str, ...]  # n subjects, "" if unknown
    # n texts for features: the question, or question and options.
    texts: tuple[str, ...]
    # by encoder, (n, d) float32 unit vectors of the texts.
    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    # (m, n) float32 in [0, 1], NaN if missing: responses of the models that choose items, never of
    # held-out models; m = 0 without responses.
    correct: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))

    def __len__(self) -> int:
        return len(self.item_ids)

    @property
    def ids(self) -> NDArray[np.object_]:
        """The ids as an array (n,)."""
        return np.array(self.item_ids, dtype=object)

    def select(self, places: Places) -> "SamplingPool":
        """Return the pool of some items, in the order of `places`."""
        return SamplingPool(
            item_ids=tuple(self.item_ids[place] for place in places),
            subjects=tuple(self.subjects[place] for place in places),
            texts=tuple(self.texts[place] for place in places),
            vectors={name: matrix[places] for name, matrix in self.vectors.items()},
            correct=self.correct[:, places] if self.correct.size else self.correct,
        )

    def by_subject(self) -> dict[str, Places]:
        """Return the positions of each subject's items, subjects in order."""
        places = pd.DataFrame({"subject": self.subjects}).groupby("subject").indices
        return {str(name): np.asarray(own, dtype=np.intp) for name, own in places.items()}

    @cached_property
    def digest(self) -> bytes:
        """A hash of everything except the subjects."""
        digest = hashlib.blake2b(repr((self.item_ids, self.texts)).encode(), digest_size=16)
        for name, matrix in {**self.vectors, "": self.correct}.items():
            digest.update(f"{name}{matrix.shape}".encode())
            digest.update(np.ascontiguousarray(matrix).data)
        return digest.digest()


Draw = Callable[[int], WeightedSubset]
"""One draw of a sampler: a subset of any size from 1 to all items."""


Sampler = Callable[[SamplingPool, int], Draw]
"""A function of a pool and a seed, its only source of randomness, that returns a draw.

It raises InputError if the pool lacks vectors or responses that the sampler reads.
"""


class SamplerKind(NamedTuple):
    """An entry of the registry of samplers."""

    family: str  # "baseline", "clustering", "quality", "difficulty" or "responses"
    make: Callable[[SamplingParams], Sampler]  # the sampler with a run's settings
    reads: str  # what it reads besides ids: "", "texts", "subjects", "vectors" or "responses"


VectorsByText = Mapping[str, NDArray[np.float32]]


def item_pool(items: pd.DataFrame, vectors: Mapping[str, VectorsByText]) -> SamplingPool:
    """Return an `Items` table as a pool of questions; `vectors` are by encoder and question."""
    texts = tuple(items["question"])
    matrices = {}
    for encoder, by_text in vectors.items():
        matrices[encoder] = np.array([by_text[text] for text in texts], dtype=np.float32)
    return SamplingPool(tuple(items["item_id"]), tuple(items["subject"]), texts, vectors=matrices)


T = TypeVar("T")

_MOST = 64  # cached fits: more than the subjects of MMLU


def once_per_pool(fit: Callable[[SamplingPool], T]) -> Callable[[SamplingPool], T]:
    """Cache the results of a function by the pool's content: repeats create equal pools."""
    known: dict[bytes, T] = {}

    def result(pool: SamplingPool) -> T:
        if pool.digest not in known:
            if len(known) == _MOST:
                del known[next(iter(known))]
            known[pool.digest] = fit(pool)
        return known[pool.digest]

    return result


Feature = Callable[[str], float]
"""A number computed from a text; NaN if undefined."""


def prefixes(order: Places) -> Draw:
    """Return the draw whose subset of size k is the first k of `order`."""
    return lambda size: WeightedSubset.equal(order[:size])


def random_order(pool: SamplingPool, seed: int, sampler: str) -> Places:
    """Return all n positions in an order that depends only on seed, sampler and ids."""
    return np.argsort(item_uniforms(seed, f"sampling.{sampler}", pool.item_ids), kind="stable")


def random_quotas(
    members: Mapping[str, Places], seed: int, stage: str
) -> Callable[[int], dict[str, int]]:
    """Return the function from a size to the share of each group, by largest remainder.

    Ties of remainders are broken at random, once per seed.
    """
    lots = item_uniforms(seed, stage, list(members))
    turns = np.argsort(np.argsort(lots, kind="stable"))
    # largest_remainder breaks ties by name, so names begin with the random turn.
    sizes = {}
    for turn, (name, own) in zip(turns, members.items(), strict=True):
        sizes[f"{turn:09d}{name}"] = len(own)
    return lambda size: {key[9:]: quota for key, quota in largest_remainder(sizes, size).items()}


def order_by(
    values: Sequence[float], pool: SamplingPool, seed: int, sampler: str, *, highest_first: bool
) -> Places:
    """Sort all n positions by value; ties are in random order, NaN comes last."""
    scores = np.asarray(values, dtype=np.float64)
    keys = -scores if highest_first else scores
    shuffled = random_order(pool, seed, sampler)
    return shuffled[np.argsort(keys[shuffled], kind="stable")]


def rank_by_feature(sampler: str, feature: Feature, *, highest_first: bool) -> Sampler:
    """Return the sampler that takes items in the order of a feature of their texts.

    The feature is computed once per text. The random order of ties depends on the sampler's name.
    """
    cached = lru_cache(maxsize=1 << 17)(feature)

    def sample(pool: SamplingPool, seed: int) -> Draw:
        values = [cached(text) for text in pool.texts]
        return prefixes(order_by(values, pool, seed, sampler, highest_first=highest_first))

    return sample
