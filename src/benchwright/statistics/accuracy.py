"""Accuracy of models and its standard error over items."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Accuracy(NamedTuple):
    """Accuracy of m models: answered items (m,), mean (m,) in [0, 1], standard error (m,)."""

    n: NDArray[np.int64]
    mean: NDArray[np.float64]
    se: NDArray[np.float64]


def accuracy(correct: NDArray[np.floating]) -> Accuracy:
    """Mean and standard error over items of answers (m, n) in [0, 1], NaN = no answer.

    The standard error is s/√n with s the sample standard deviation, so it holds for fractional
    scores too; it takes items as independent. A model without answers has NaN for both, a model
    with one answer has no standard error.
    """
    answered = ~np.isnan(correct)
    n = answered.sum(axis=1).astype(np.int64)
    values = np.where(answered, correct, 0).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = values.sum(axis=1) / n
        squares = np.where(answered, values - mean[:, None], 0) ** 2
        se = np.sqrt(squares.sum(axis=1) / (n - 1) / n)
    se[n < 2] = np.nan
    return Accuracy(n, mean, se)
