"""How far models' scores lie apart on chosen items (DELE, Figure 45)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.core.weighted_subset import WeightedSubset
from benchwright.statistics.subset_scores import POINTS, subset_scores

Float = NDArray[np.float64]

_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


class ScoreDistribution(NamedTuple):
    """The distribution of models' scores on s subsets, in points (0–100); NaN without models.

    Attributes:
        quantiles: (s, 7) the lowest score, the 5%, 25%, 50%, 75% and 95% quantiles, the highest.
        sd: (s,) standard deviation over models (divisor m).
    """

    quantiles: Float
    sd: Float


def score_distributions(
    correct: NDArray[np.floating], subsets: Sequence[WeightedSubset]
) -> ScoreDistribution:
    """How models' scores are distributed on each subset.

    A random subset of the same size is the yardstick: few items widen the scores by noise alone.

    Args:
        correct: (m, n) answers of the models that judge, NaN where there is no answer; a model that
            answered nothing of a subset is left out of it.
        subsets: s of them.
    """
    weights = np.zeros((len(subsets), correct.shape[1]))
    for row, subset in zip(weights, subsets, strict=True):
        row[subset.positions] = subset.weights
    scores = POINTS * subset_scores(correct, weights)
    found = [row[~np.isnan(row)] for row in scores]
    blank = np.full(len(_QUANTILES), np.nan)
    quantiles = [np.quantile(row, _QUANTILES) if len(row) else blank for row in found]
    sd = [row.std() if len(row) else np.nan for row in found]
    return ScoreDistribution(np.array(quantiles).reshape(-1, len(_QUANTILES)), np.array(sd))
