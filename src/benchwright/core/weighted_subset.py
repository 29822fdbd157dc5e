"""A subset of a benchmark's items with weights."""

from typing import NamedTuple, Self

import numpy as np

from benchwright.core.array_types import AnyFloats, Floats, Integers, Places


class WeightedSubset(NamedTuple):
    """Items by their positions in the benchmark.

    Attributes:
        positions: (k,) distinct positions, in the order of choice.
        weights: (k,) float64, non-negative, with sum 1; the score is the weighted mean.
        inclusion: (k,) known probabilities in (0, 1] with which a random draw contains these items,
            with weights ∝ 1/inclusion; None if they are equal or unknown.
    """

    positions: Places
    weights: Floats
    inclusion: Floats | None = None

    @classmethod
    def equal(cls, positions: Integers) -> Self:
        """Create a subset with equal weights."""
        k = len(positions)
        return cls(np.asarray(positions, dtype=np.intp), np.full(k, 1 / max(k, 1)))

    @classmethod
    def drawn(cls, positions: Integers, inclusion: AnyFloats) -> Self:
        """Create a subset drawn with known inclusion probabilities (k,)."""
        probability = np.asarray(inclusion, dtype=np.float64)
        weights = 1 / probability
        return cls(np.asarray(positions, dtype=np.intp), weights / weights.sum(), probability)
