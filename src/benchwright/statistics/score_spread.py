"""Distances between two distributions of scores, and how far scores spread models apart.

Scores are of the same models and in any unit; a result is in the same unit. Missing scores (NaN)
are left out, in two vectors from both. All functions take many scorings at once, one a row: `a`
(1, m) or (s, m), `b` (s, m).
"""

import numpy as np

from benchwright.statistics.rank_agreement import Float, complete_rows, row_means


def wasserstein_rows(a: Float, b: Float) -> Float:
    """Wasserstein-1 distance (s,): the mean distance of scores of the same place, both sorted."""
    first, second = complete_rows(a, b)
    return row_means(np.abs(np.sort(second, axis=1) - np.sort(first, axis=1)))


def signed_shift_rows(a: Float, b: Float) -> Float:
    """Mean of b − a over the models of each row (s,)."""
    first, second = complete_rows(a, b)
    return row_means(second - first)


def spread_top_rows(scores: Float, top: int) -> Float:
    """Range ≥ 0 of the `top` highest scores of each row (s,); of all with fewer; NaN below two.

    The best models are those of the row itself: it is the range that a leaderboard made of these
    items would show at its top.

    Raises:
        ValueError: `top` is below two.
    """
    if top < 2:
        raise ValueError(f"a spread needs at least two models, top is {top}")
    known = ~np.isnan(scores)
    n = known.sum(axis=1)
    if scores.shape[1] < 2:
        return np.full(len(scores), np.nan)
    descending = -np.sort(-scores, axis=1)  # NaN last
    last = np.clip(np.minimum(n, top) - 1, 0, None)
    lowest = np.take_along_axis(descending, last[:, None], axis=1)[:, 0]
    return np.where(n >= 2, descending[:, 0] - lowest, np.nan)


def signal_to_noise_rows(scores: Float, standard_errors: Float) -> Float:
    """Spread of m models over the noise of one model's score (s,), ≥ 0.

    The standard deviation of each row of scores (s, m) over models (m − 1 in the denominator),
    divided by the root mean square of their standard errors (s, m). Near 1 the models differ no
    more than one model's score is uncertain; it grows with √n. Heineman et al. 2025
    (arXiv:2508.13144) use the name for another ratio, whose noise is that between training
    checkpoints; the figures are not comparable. NaN with fewer than two models or without a
    standard error; infinite where the scores have no noise but differ.
    """
    values, errors = complete_rows(scores, standard_errors)
    n = np.count_nonzero(~np.isnan(values), axis=1)
    deviations = values - row_means(values)[:, None]
    signal = np.sqrt(row_means(deviations**2, fewest=2) * n / np.maximum(n - 1, 1))
    noise = np.sqrt(row_means(errors**2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return signal / noise
