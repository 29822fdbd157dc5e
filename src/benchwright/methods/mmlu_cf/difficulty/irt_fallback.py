"""Difficulty 0–9 from models' answers, where no judge rated a question.

The difficulty b of a two-parameter item response model has no levels of its own. It is put on the
judges' scale by equal percentiles (Kolen & Brennan 2014, chapter 2): the hardest tenth by b gets
the levels of the hardest tenth of a reference.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.statistics.item_response import fit_2pl

Float = NDArray[np.float64]

LEVELS = 10


class DifficultyFromResponses(NamedTuple):
    """Levels 0–9 by item id, NaN where the answers give none.

    Attributes:
        levels: whole numbers.
        b: of the item response model, in standard deviations of ability.
        models: that answered.
        reason: why there is nothing, or what to bear in mind.
    """

    levels: dict[str, float]
    b: dict[str, float]
    models: int
    reason: str


def levels_by_quantiles(values: ArrayLike, reference_levels: ArrayLike | None = None) -> Float:
    """Levels 0–9 (n,) of continuous difficulties (n,), by where they stand among each other.

    A value's percentile is the share of the values below it plus half of that equal to it. Its
    level is the level at that percentile of `reference_levels`; without these, its tenth.

    Args:
        values: NaN stays NaN.
        reference_levels: levels of like items, e.g. judges' ratings of the same.
    """
    given = np.asarray(values, dtype=np.float64)
    out = np.full(given.shape, np.nan)
    here = ~np.isnan(given)
    known = np.sort(given[here])
    below = np.searchsorted(known, given[here], "left")
    upto = np.searchsorted(known, given[here], "right")
    percentile = (below + upto) / (2 * max(len(known), 1))
    levels = np.arange(LEVELS, dtype=np.float64)
    if reference_levels is not None:
        levels = np.sort(np.asarray(reference_levels, dtype=np.float64))
        levels = levels[~np.isnan(levels)]
    if len(levels):
        places = np.floor(percentile * len(levels)).astype(np.intp)
        out[here] = levels[np.minimum(places, len(levels) - 1)]
    return out


def difficulty_from_responses(
    responses: ResponseMatrix,
    fewest_models: int,
    reference_levels: ArrayLike | None = None,
) -> DifficultyFromResponses:
    """Levels of the items that models answered, by their b among all items of the matrix.

    Args:
        responses: answers; the reference is all their items.
        fewest_models: with answers; with fewer there is no difficulty.
        reference_levels: judges' levels whose distribution the items are to have; without them
            every level has a tenth of the items.
    """
    models = int((~np.isnan(responses.correct)).any(axis=1).sum())
    nothing = dict.fromkeys(responses.item_ids, np.nan)
    if models < fewest_models:
        reason = f"{models} models have answers; {fewest_models} are needed"
        return DifficultyFromResponses(nothing, nothing, models, reason)
    fitted = fit_2pl(responses.correct)
    levels = levels_by_quantiles(fitted.difficulty, reference_levels)
    return DifficultyFromResponses(
        dict(zip(responses.item_ids, levels.tolist(), strict=True)),
        dict(zip(responses.item_ids, fitted.difficulty.tolist(), strict=True)),
        models,
        fitted.reason,
    )
