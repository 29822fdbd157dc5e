"""Some of a benchmark's items, and how much each counts in their score."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


class WeightedSubset(NamedTuple):
    """Items by their places in the benchmark.

    Attributes:
        positions: (k,) places, each once, in the order of choice.
        weights: (k,) float64, at least 0, that sum to 1; the score is the weighted mean.
    """

    positions: NDArray[np.intp]
    weights: NDArray[np.float64]

    @classmethod
    def equal(cls, positions: NDArray[np.integer]) -> Self:
        """Items that all count alike."""
        places = np.asarray(positions, dtype=np.intp)
        return cls(places, np.full(len(places), 1 / len(places)) if len(places) else np.empty(0))
