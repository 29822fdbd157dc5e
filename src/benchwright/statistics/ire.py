"""IRE: which items a filter by difficulty and discrimination keeps.

The baseline that SMART is compared with (Gupta et al., section 4.3, Tables 4 and 5), after
Rodriguez et al. 2021, *Evaluation Examples Are Not Equally Informative*: fit a two-parameter item
response model to the answers and drop the items below a percentile of difficulty or of
discrimination. SMART says which percentile (25), not whether one or both must be low.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.statistics.item_response import ItemResponse, fit_2pl

FEWEST_MODELS = 3  # below this nothing is fitted
FEWEST_FOR_RANKS = 50  # with these, 3 in 4 items dropped in simulations are the right ones
_DECIMALS = 6  # items with the same answers have the same estimates up to rounding


class IreSelection(NamedTuple):
    """What IRE keeps of n items."""

    kept: NDArray[np.bool_]  # (n,) True for items that stay
    difficulty_cut: float  # items below it are easy; NaN where nothing was fitted
    discrimination_cut: float  # items below it tell models apart badly; NaN as above
    response: ItemResponse | None  # the fitted model, None where nothing was fitted
    reason: str = ""  # "" or, in words, why all items stay or why the fit is weak


def ire_kept(
    correct: ArrayLike, percentile: float = 25, rule: Literal["either", "both"] = "either"
) -> IreSelection:
    """Items that IRE keeps, judged by answers (m, n) in [0, 1], NaN = no answer.

    An item goes when its difficulty is below the percentile of difficulties, or its
    discrimination below that of discriminations (`rule="both"`: and). Below is strict, so items
    that tie at a cut stay. Items without answers are not judged and stay. With fewer than three
    models, or where no item tells models apart, all stay and `reason` says why.

    Raises:
        ValueError: `percentile` is not in [0, 100), `rule` is unknown, or `correct` is not a
            matrix in [0, 1].
    """
    if not 0 <= percentile < 100:
        raise ValueError(f"percentile {percentile} must be in [0, 100)")
    if rule not in {"either", "both"}:
        raise ValueError(f"rule {rule!r} must be either or both")
    values = np.asarray(correct)
    response = fit_2pl(values)
    models = int((~np.isnan(values)).any(axis=1).sum())
    if models < FEWEST_MODELS or np.isnan(response.difficulty).all():
        plural = "" if models == 1 else "s"
        reason = f"{models} model{plural} with answers; at least {FEWEST_MODELS} are needed"
        kept = np.ones(values.shape[1], dtype=bool)
        reason = reason if models < FEWEST_MODELS else response.reason
        return IreSelection(kept, np.nan, np.nan, None, reason)
    difficulty = np.round(response.difficulty, _DECIMALS)
    discrimination = np.round(response.discrimination, _DECIMALS)
    cuts = [float(np.nanpercentile(x, percentile)) for x in (difficulty, discrimination)]
    easy, flat = difficulty < cuts[0], discrimination < cuts[1]
    gone = easy | flat if rule == "either" else easy & flat
    weak = f"weak fit: {models} models, {FEWEST_FOR_RANKS} are needed to rank items"
    notes = [weak if models < FEWEST_FOR_RANKS else "", response.reason]
    return IreSelection(~gone, cuts[0], cuts[1], response, "; ".join(filter(None, notes)))
