"""How often do two models give the same answer? (SMART, Figure 4.)"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class PairwiseAgreement(NamedTuple):
    """Share (m, m) in [0, 1] of items on which two models agree, and the items counted (m, m).

    The share is NaN where no item has an answer of both.
    """

    share: NDArray[np.float64]
    n: NDArray[np.int64]


def prediction_agreement(prediction: NDArray[np.integer]) -> PairwiseAgreement:
    """Agreement of the chosen options (m, n); negative = unknown, that item is not counted."""
    return _agreement(
        [prediction == option for option in np.unique(prediction[prediction >= 0])], prediction >= 0
    )


def correctness_agreement(correct: NDArray[np.floating]) -> PairwiseAgreement:
    """Agreement of being right (m, n): both at least 0.5, or both below; NaN is not counted."""
    answered = ~np.isnan(correct)
    right = answered & (np.nan_to_num(correct) >= 0.5)
    return _agreement([right, answered & ~right], answered)


def _agreement(kinds: list[NDArray[np.bool_]], answered: NDArray[np.bool_]) -> PairwiseAgreement:
    """Items where two models share a kind of answer, over items where both have one."""
    both = _shared(answered)
    same = sum((_shared(kind) for kind in kinds), np.zeros_like(both))
    with np.errstate(invalid="ignore", divide="ignore"):
        return PairwiseAgreement(same / both, both)


def _shared(marked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(m, m) items marked for both of two models."""
    # Counts are exact in float64, and a float matrix product is a BLAS call.
    values = marked.astype(np.float64)
    return np.rint(values @ values.T).astype(np.int64)
