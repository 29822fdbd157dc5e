"""The distance below which items are similar: where the density of neighbour distances peaks.

SMART, section 3.4 and A.1; the halving at a single peak is in the released code only.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.params.filtering import SimilarParams
from benchwright.statistics.density import Binned, Density, bin_counts, local_maxima
from benchwright.statistics.nearest_neighbours import DECIMALS


class Threshold(NamedTuple):
    """δ and how it was chosen."""

    value: float | None  # pairs closer than this are similar; None where the density has no peak
    branch: str  # `first_peak`, `halved`, `fixed` or `none`
    peaks: list[float]  # distances at which the density peaks
    limit: float | None  # pairs closer than this are similar: δ, at most `max_distance`


class Estimate(NamedTuple):
    """δ and the density it is derived from, which is None for constant or too few distances."""

    density: Density | None
    threshold: Threshold


_ROWS = 1 << 15  # items whose distances are counted at once
_STEPS = 10**DECIMALS  # of distances, per unit


class DistanceCounts:
    """How often each distance occurs among the neighbours of items, for several numbers of them."""

    def __init__(self, widths: Sequence[int]) -> None:
        """Count the distances to the first `widths` neighbours; the widths are ascending."""
        self._bands = list(pairwise([0, *widths]))
        self._counts = np.zeros((len(widths), 2 * _STEPS + 1), np.uint32)

    def add(
        self, distances: NDArray[np.float32], skipped: NDArray[np.intp] | None = None
    ) -> "DistanceCounts":
        """Count the distances (n, k) of some items to their nearest neighbours; return this.

        The leading neighbours whose questions are similar, `skipped` (n,) of them, are left out and
        not replaced.
        """
        ranks = np.arange(distances.shape[1])
        for first in range(0, len(distances), _ROWS):
            rows = slice(first, first + _ROWS)
            for counts, (start, stop) in zip(self._counts, self._bands, strict=True):
                some = distances[rows, start:stop]
                if skipped is not None:
                    some = some[ranks[start:stop] >= skipped[rows, None]]
                steps = np.rint(some.ravel() * _STEPS).astype(np.intp)
                np.add.at(counts, steps, np.uint32(1))  # another type is 20 times slower
        return self

    def binned(self, grid: int) -> list[Binned | None]:
        """Bin the counted distances, for their density, up to each of the widths."""
        steps = np.arange(2 * _STEPS + 1)
        distances = (steps / _STEPS).astype(np.float32)
        return [
            bin_counts(distances[counts > 0], counts[counts > 0], grid)
            for counts in self._counts.cumsum(axis=0, dtype=np.int64)
        ]


def choose_threshold(density: Density | None, params: SimilarParams) -> Threshold:
    """Choose δ from the density, or take the fixed one, which `max_distance` does not bound.

    δ is the grid point just below the peak, one of 1,000 between the smallest and the largest
    distance, as in the released code, whose published shares depend on that step.
    """
    maxima = local_maxima(density.y) if density else np.empty(0, dtype=np.intp)
    peaks = density.x[maxima].tolist() if density else []
    if not isinstance(params.threshold, str):
        return Threshold(params.threshold, "fixed", peaks, params.threshold)
    if density is None or not peaks:
        return Threshold(None, "none", peaks, None)
    halved = len(peaks) == 1 and params.halve_single_peak
    delta = float(density.x[maxima[0] - 1]) / (2 if halved else 1)
    limit = min(delta, params.max_distance or delta)
    return Threshold(delta, "halved" if halved else "first_peak", peaks, limit)


def estimate(binned: Binned | None, params: SimilarParams) -> Estimate:
    """Estimate the density of binned distances and its threshold."""
    density = binned.density(params.bandwidth) if binned else None
    return Estimate(density, choose_threshold(density, params))


def closer_than(distances: NDArray[np.floating], threshold: Threshold) -> NDArray[np.bool_]:
    """Mark the distances below the limit of the threshold; none where there is no threshold."""
    # As float64, lest the limit is rounded to the precision of the distances.
    return distances < np.float64(-np.inf if threshold.limit is None else threshold.limit)
