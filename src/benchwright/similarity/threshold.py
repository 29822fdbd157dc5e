"""The distance below which items are similar: where the density of neighbour distances peaks.

SMART, section 3.4 and A.1; the halving at a single peak is in the released code only.
"""

from collections.abc import Sequence
from itertools import pairwise
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


def bin_distances(
    items: pd.DataFrame, near: Neighbourhood, widths: Sequence[int], params: SimilarParams
) -> list[Binned | None]:
    """Bin the distances to the first neighbours of each item, up to each of the ascending `widths`.

    Leading neighbours with similar questions are left out and not replaced: they are copies or
    differ by a symbol, so their distances say nothing about paraphrases.
    """
    exempt = params.string_similarity_exempt
    questions = None if exempt is None else questions_of(items, near.item_ids)
    counts = np.zeros((len(widths), 2 * _STEPS + 1), np.uint32)
    ranks = np.arange(near.indices.shape[1])
    for first in range(0, len(near.item_ids), _ROWS):
        distances = near.distances[first : first + _ROWS]
        rows = first + np.arange(len(distances))
        skipped = np.zeros(len(rows), np.intp)
        if questions is not None and exempt is not None:
            skipped = leading_alike(questions, rows, near.indices[rows], exempt)
        for count, (start, stop) in zip(counts, pairwise([0, *widths]), strict=True):
            kept = ranks[start:stop] >= skipped[:, None]
            steps = np.rint(distances[:, start:stop][kept] * _STEPS).astype(np.intp)
            np.add.at(count, steps, np.uint32(1))  # another type is 20 times slower
    distances = (np.arange(2 * _STEPS + 1) / _STEPS).astype(np.float32)
    binned = []
    for count in counts.cumsum(axis=0, dtype=np.int64):
        seen = count > 0
        binned.append(bin_counts(distances[seen], count[seen], _GRID))
    return binned


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
