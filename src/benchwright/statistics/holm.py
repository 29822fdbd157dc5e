"""Holm's correction of p-values for testing several hypotheses (Holm 1979)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values (k,) in [0, 1], in the order given; NaN stay NaN and do not count.

    The i-th smallest of k is multiplied by k − i + 1, at least its predecessor's, at most 1.
    Rejecting what is adjusted to at most α keeps the chance of any false rejection at α.
    """
    p = np.asarray(p_values, dtype=np.float64)
    out = np.full(p.shape, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    out[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1)
    return out
