"""The distance below which items are similar: where the density of neighbour distances peaks.

SMART, section 3.4 and A.1; the halving at a single peak is in the released code only.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.params.filtering import SimilarParams
from benchwright.similarity.neighbourhood import Neighbourhood, leading_alike
from benchwright.statistics.density import Density, gaussian_density, local_maxima


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


def density_distances(near: Neighbourhood, exempt: float | None) -> NDArray[np.float64]:
    """Return the distances of items to their neighbours, flat, for the density.

    With `exempt`, the leading neighbours whose questions are more similar than that are skipped and
    not replaced.
    """
    if exempt is None or not len(near.item_ids):
        return near.distances.ravel()
    skipped = leading_alike(near, exempt)
    ranks = np.arange(near.distances.shape[1])
    return near.distances[ranks >= skipped[:, None]]


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


def estimate(near: Neighbourhood, params: SimilarParams) -> Estimate:
    """Estimate the density of all distances in `near` and its threshold."""
    distances = density_distances(near, params.string_similarity_exempt)
    density = gaussian_density(distances, params.bandwidth, params.grid)
    return Estimate(density, choose_threshold(density, params))


def closer_than(distances: NDArray[np.float64], threshold: Threshold) -> NDArray[np.bool_]:
    """Mark the distances below the limit of the threshold; none where there is no threshold."""
    return distances < (-np.inf if threshold.limit is None else threshold.limit)
