"""A subset of a benchmark's items with weights."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


class WeightedSubset(NamedTuple):
    """Items by their positions in the benchmark.

    Attributes:
        positions: (k,) distinct positions, in the order of choice.
        weights: (k,) float64, non-negative, with sum 1; the score is the weighted mean.
        inclusion: (k,) known probabilities in (0, 1] with which a random draw contains these items,
            with weights ∝ 1/inclusion; None if they are equal or unknown.
    """

    positions: NDArray[np.intp]
    weights: NDArray[np.float64]
    inclusion: NDArray[np.float64] | None = None

    @classmethod
    def equal(cls, positions: NDArray[np.integer]) -> Self:
        """Create a subset with equal weights."""
        places = np.asarray(positions, dtype=np.intp)
        return cls(places, np.full(len(places), 1 / len(places)) if len(places) else np.empty(0))

    @classmethod
    def drawn(cls, positions: NDArray[np.integer], inclusion: NDArray[np.floating]) -> Self:
        """Create a subset drawn with known inclusion probabilities (k,)."""
        probability = np.asarray(inclusion, dtype=np.float64)
        weights = 1 / probability
        return cls(np.asarray(positions, dtype=np.intp), weights / weights.sum(), probability)
