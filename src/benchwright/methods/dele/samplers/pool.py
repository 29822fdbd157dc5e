"""What samplers choose from, and what a sampler is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchwright.core.weighted_subset import WeightedSubset


@dataclass(frozen=True)
class SamplingPool:
    """A benchmark's n items, with what samplers read of them.

    Attributes:
        item_ids: n unique ids; ties are broken by hashes of them, so that nothing depends on the
            order of rows.
        subjects: n subjects ("" where there are none).
        texts: n texts that features are made of: the question, or question and choices.
        vectors: by encoder, (n, d) float32 unit vectors of the texts.
        correct: (m, n) float32 in [0, 1], NaN where there is no answer: the answers of the models
            that may choose items, never of those that judge the choice; m = 0 where there are none.
    """

    item_ids: tuple[str, ...]
    subjects: tuple[str, ...]
    texts: tuple[str, ...]
    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=lambda: MappingProxyType({}))
    correct: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))

    def __len__(self) -> int:
        return len(self.item_ids)


class Draw(Protocol):
    """One draw of a sampler: subsets of any size, from 1 to all items."""

    def __call__(self, size: int) -> WeightedSubset:
        """So many items; where the sampler nests, a smaller subset is a prefix of a larger one."""
        ...


class Sampler(Protocol):
    """A way to choose items; the seed is the repeat's, and decides all that is left to chance."""

    def __call__(self, pool: SamplingPool, seed: int) -> Draw:
        """Do once what all sizes share.

        Raises:
            InputError: the pool lacks what the sampler reads (vectors, answers).
        """
        ...
