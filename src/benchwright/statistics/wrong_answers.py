"""How wrongly models answer an item, each family of models counted once.

Models of one family make the same mistakes, so their answers are averaged before families are.
`families` (m,) are labels of any kind. An item without answers is NaN.
"""

from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchwright.core.array_types import AnyFloats, Bools, Floats, Integers, Places
from benchwright.statistics.row_blocks import row_blocks

_CELLS = 1 << 24  # numbers in one working array: models × items


class Margin(NamedTuple):
    """The wrong option that most families choose, and its lead over the right ones."""

    option: Places  # (n,) index of the option, the first of tied ones; −1 if none
    lead: Floats  # (n,) share of families choosing it less share choosing right, −1 to 1


def share_wrong(correct: ArrayLike, families: ArrayLike) -> Floats:
    """Return the share of wrong answers (n,), 0 to 1, of `correct` (m, n) in [0, 1] or NaN."""
    return 1 - _over_families(np.asarray(correct), families)


def wrong_option_margin(prediction: Integers, right: Bools, families: ArrayLike) -> Margin:
    """Find the wrong option that most families choose, and its lead over the right ones.

    Args:
        prediction: (m, n) index of the chosen option; −1 if unknown.
        right: (n, k) which of at most k options are right. An item without any has no margin.
        families: (m,) labels.
    """
    n, k = right.shape
    known = prediction >= 0
    chosen = np.zeros((k, n))
    for place in range(k):
        votes = np.where(known, prediction == place, np.float32(nan))
        chosen[place] = _over_families(votes, families)
    for_right = np.where(right.T, chosen, 0).sum(axis=0)
    against = np.where(right.T, -1.0, chosen)
    most = np.max(against, axis=0, initial=0)
    judged = right.any(axis=1) & np.isfinite(most)
    option = np.full(n, -1, dtype=np.intp)
    if k:
        option = np.where(judged & (most > 0), np.argmax(against, axis=0), -1)
    return Margin(option, np.where(judged, most - for_right, nan))


def _over_families(values: AnyFloats, families: ArrayLike) -> Floats:
    """Return the mean over families (n,) of the mean answer of each family's models."""
    m, n = values.shape
    if not m:
        return np.full(n, nan)
    _, family = np.unique(np.asarray(families), return_inverse=True)
    order = np.argsort(family, kind="stable")
    starts = np.flatnonzero(np.diff(family[order], prepend=-1))
    means = np.full(n, nan)
    for items in row_blocks(n, m, _CELLS):
        block = values[order, items]
        known = ~np.isnan(block)
        right = np.where(known, block, 0)
        answers = np.add.reduceat(known, starts, axis=0, dtype=np.int64)
        right = np.add.reduceat(right, starts, axis=0, dtype=np.float64)
        total = (right / np.maximum(answers, 1)).sum(axis=0)
        answered = (answers > 0).sum(axis=0)  # families
        means[items] = np.where(answered, total / np.maximum(answered, 1), nan)
    return means
