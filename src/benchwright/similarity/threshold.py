"""The distance below which items are similar: where the density of neighbour distances peaks.

SMART, section 3.4 and A.1; the halving at a single peak is in the released code only.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.neighbourhood import Neighbourhood
from benchwright.params.filtering import SimilarParams
from benchwright.similarity.neighbour_search import leading_alike, questions_of
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


_GRID = 1000  # points of the density, as in the released code
_ROWS = 1 << 15  # items whose distances are counted at once
_STEPS = 10**DECIMALS  # of distances, per unit


def bin_distances(items: pd.DataFrame, near: Neighbourhood, params: SimilarParams) -> Binned | None:
    """Bin the distances to the neighbours of each item; None if they are constant or too few.

    Leading neighbours with similar questions are left out and not replaced: they are copies or
    differ by a symbol, so their distances say nothing about paraphrases.
    """
    exempt = params.string_similarity_exempt
    questions = None if exempt is None else questions_of(items, near.item_ids)
    counts = np.zeros(2 * _STEPS + 1, np.int64)
    ranks = np.arange(near.indices.shape[1])
    for first in range(0, len(near.item_ids), _ROWS):
        distances = near.distances[first : first + _ROWS]
        rows = first + np.arange(len(distances))
        skipped = np.zeros(len(rows), np.intp)
        if questions is not None and exempt is not None:
            skipped = leading_alike(questions, rows, near.indices[rows], exempt)
        kept = distances[ranks >= skipped[:, None]]
        steps = np.rint(kept * _STEPS).astype(np.intp)
        counts += np.bincount(steps, minlength=len(counts))
    seen = np.flatnonzero(counts)
    return bin_counts((seen / _STEPS).astype(np.float32), counts[seen], _GRID)


def choose_threshold(density: Density | None, params: SimilarParams) -> Threshold:
    """Choose δ from the density, or take the fixed one, which `max_distance` does not bound.

    δ is the grid point just below the peak, one of 1,000 between the smallest and the largest
    distance, as in the released code, whose published shares depend on that step.
    """
    peaks = []
    if density is not None:
        maxima = local_maxima(density.y)
        peaks = density.x[maxima].tolist()
    if not isinstance(params.threshold, str):
        return Threshold(params.threshold, "fixed", peaks, limit=params.threshold)
    if density is None or not peaks:
        return Threshold(None, "none", peaks, limit=None)
    delta = float(density.x[maxima[0] - 1])
    branch = "first_peak"
    if len(peaks) == 1 and params.halve_single_peak:
        delta /= 2
        branch = "halved"
    return Threshold(delta, branch, peaks, limit=min(delta, params.max_distance or delta))


def estimate(binned: Binned | None, params: SimilarParams) -> Estimate:
    """Estimate the density of binned distances and its threshold."""
    density = binned.density(params.bandwidth) if binned else None
    return Estimate(density, choose_threshold(density, params))


def closer_than(distances: NDArray[np.floating], threshold: Threshold) -> NDArray[np.bool_]:
    """Mark the distances below the limit of the threshold; none where there is no threshold."""
    # As float64, lest the limit is rounded to the precision of the distances.
    return distances < np.float64(-np.inf if threshold.limit is None else threshold.limit)
