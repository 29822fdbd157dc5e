"""How far apart two models must be for a subset of the items to order them as all items do.

Following Jung et al. 2025 (arXiv:2510.08730): for random subsets of n of N items the share of
subsets that keep the order of two models is close to Φ(δ/√(σ²(1/n − 1/N))), with δ the gap of their
scores on all items and σ² the variance of the difference of their answers to an item.
"""

from math import nan

import numpy as np
from numpy.typing import ArrayLike

from benchwright.core.array_types import AnyFloats, Floats
from benchwright.statistics.paired_differences import paired_se
from benchwright.statistics.subset_scores import full_scores

WANTED = 0.8
"""Share of pairs and subsets with the right order at the gap that is told apart."""


def right_order(gap: ArrayLike, standard_error: ArrayLike) -> Floats:
    """Return Φ(gap/standard error), the expected share in the right order.

    The standard error is that of the difference on the subset around the one on all items; a gap
    with an error of 0 is always right.
    """
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.asarray(gap, np.float64) / np.asarray(standard_error, np.float64)
    return np.asarray(ndtr(z))


def gap_told_apart(correct: AnyFloats, of_items: int) -> float:
    """Return the gap at which n items order two models as all `of_items` do in 80% of the cases.

    Φ⁻¹(.8) · √(σ²(1/n − 1/N)), in shares, with the median σ² of the half of the pairs of models
    that are closest. `correct` (m, n) are the answers to the n items, NaN where missing. NaN for
    fewer than two models or items; 0 with all items.
    """
    from scipy.special import ndtri

    m, n = correct.shape
    if m < 2 or n < 2:
        return nan
    first, second = np.triu_indices(m, 1)
    errors = paired_se(correct, np.arange(n))[first, second].astype(np.float64)
    scores = full_scores(correct)
    gaps = np.abs(scores[first] - scores[second])
    if np.isnan(gaps).all():
        return nan
    closer = errors[gaps <= np.nanmedian(gaps)]
    known = closer[~np.isnan(closer)]
    if not len(known):
        return nan
    left_out = max(1 - n / of_items, 0.0)
    return float(ndtri(WANTED) * np.median(known) * np.sqrt(left_out))
