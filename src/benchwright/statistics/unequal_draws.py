"""Draws of a fixed number of items with known, unequal probabilities."""

import numpy as np

from benchwright.core.array_types import AnyFloats, Floats, Places

UNIFORM_SHARE = 0.3
"""Uniform share of an unequal draw: no item weighs more than 1/0.3 times as in a uniform one."""
_BEST_SHARE = 0.3
_STEPS = 200


def response_spread(responses: AnyFloats) -> Floats:
    """Return standard deviations (n,) of responses of new models from those (m, n) of others.

    The variance p(1 − p) is the mean of that of all models and that of the best 30%, since new
    models are often better. Half a right and half a wrong response are added; it is never 0.
    """
    values = np.asarray(responses, dtype=np.float64)
    lead = np.round(values.mean(axis=1), 9)
    best = max(1, round(_BEST_SHARE * len(lead)))
    leading = values[lead >= np.sort(lead)[-best]]
    variances = [_variance(values), _variance(leading)]
    return np.asarray(np.sqrt(np.mean(variances, axis=0)))


def _variance(responses: Floats) -> Floats:
    p = (responses.sum(axis=0) + 0.5) / (len(responses) + 1)
    return np.asarray(p * (1 - p))


def inclusion_probabilities(spread: AnyFloats, count: int, share: float) -> Floats:
    """Return probabilities (n,) in (0, 1] with sum `count` ≤ n, proportional to `spread` (n,) ≥ 0.

    At least the part `share` (0–1) of the items is drawn uniformly: every probability is at least
    share · count/n, so that no weight 1/π exceeds n/(share · count). Larger ones are capped at 1.
    """
    n = len(spread)
    sizes = np.asarray(spread, dtype=np.float64)
    # A spread of 0 everywhere gives a uniform draw.
    sizes = np.where(sizes.sum() > 0, sizes, 1.0) + 1e-9
    uniform = share * count / n
    low = 0.0
    high = 1 / sizes.min()
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):  # no number is left between them
            break
        if np.minimum(uniform + middle * sizes, 1).sum() < count:
            low = middle
        else:
            high = middle
    return np.asarray(np.minimum(uniform + high * sizes, 1))


def systematic_draw(inclusion: AnyFloats, order: Places, start: float) -> Places:
    """Draw positions so that each item is included with its probability (n,), whose sum is whole.

    Items lie side by side on a line in the given order, each as long as its probability; every
    point start, start + 1, … chooses the item that it hits. The order (n,) should be random and
    `start` uniform in [0, 1).
    """
    ends = np.cumsum(np.asarray(inclusion, dtype=np.float64)[order])
    count = round(float(ends[-1]))
    ends *= count / ends[-1]
    hit = np.searchsorted(ends, start + np.arange(count), side="right")
    return np.asarray(order[np.minimum(hit, len(order) - 1)])
