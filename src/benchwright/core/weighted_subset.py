"""A subset of a benchmark's items with weights."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


class WeightedSubset(NamedTuple):
    """Items by their positions in the benchmark.

    Attributes:
        positions: (k,) distinct positions, in the order of choice.
        weights: (k,) float64, non-negative, with sum 1; the score is the weighted mean.
    """

    positions: NDArray[np.intp]
    weights: NDArray[np.float64]

    @classmethod
    def equal(cls, positions: NDArray[np.integer]) -> Self:
        """Create a subset with equal weights."""
        places = np.asarray(positions, dtype=np.intp)
        return cls(places, np.full(len(places), 1 / len(places)) if len(places) else np.empty(0))
