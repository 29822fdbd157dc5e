"""Exact test of whether a model prefers the released orders of items over equivalent ones.

The released order of each item was drawn with equal chances. For a model that has not seen the
release, the excess S of its scores is therefore one of those that other keys would have given, all
equally likely; nothing is assumed about the model or the items.
"""

from typing import NamedTuple

import numpy as np

from benchwright.core.array_types import Floats, Integers
from benchwright.statistics.row_blocks import row_blocks

KEYS = 9_999
"""Fresh keys that the release is compared with."""

_AT_A_TIME = 1 << 22  # draws
_ROUNDING = 1e-9  # relative; sums in another order differ by less


class LeakEvidence(NamedTuple):
    """The result over n items with at least two orders.

    Attributes:
        excess: S, the mean over items of the released order's score less the mean of the others'.
        p_value: (1 + keys with S at least as large) / (1 + keys).
        spread: the standard deviation of S over keys.
        items: n.
    """

    excess: float
    p_value: float
    spread: float
    items: int

    def detectable(self, alpha: float, power: float) -> float:
        """Return the mean excess that is found at level `alpha` with probability `power`.

        It takes S as normal, and the spread over orders to be the same in a model that was trained.
        """
        from scipy.special import ndtri

        return float(ndtri(1 - alpha) + ndtri(power)) * self.spread


def leak_evidence(
    scores: Floats,
    released: Integers,
    generator: np.random.Generator,
    keys: int = KEYS,
) -> LeakEvidence:
    """Test the released orders against fresh keys; the order of items does not matter.

    Args:
        scores: (n, m) of each item and order, two at least; NaN after an item's last order.
        released: (n,) the number of the released order of each item.
        generator: draws the keys.
        keys: how many.
    """
    counts = (~np.isnan(scores)).sum(axis=1)
    n = len(scores)
    totals = np.nansum(scores, axis=1, keepdims=True)
    others = (totals - scores) / (counts[:, None] - 1)
    excess = np.nan_to_num(scores - others)
    # Rows in the order of their content, so that each draw falls on the same item.
    order = np.lexsort((released, *excess.T[::-1], counts))
    excess = excess[order]
    counts = counts[order]
    observed = float(excess[np.arange(n), released[order]].sum())
    drawn = np.zeros(keys)
    for rows in row_blocks(n, keys, _AT_A_TIME):
        part = excess[rows]
        chosen = generator.integers(counts[rows, None], size=(len(part), keys))
        drawn += np.take_along_axis(part, chosen, axis=1).sum(axis=0)
    tolerance = _ROUNDING * float(np.abs(excess).sum())
    at_least = int((drawn >= observed - tolerance).sum())
    variance = ((excess**2).sum(axis=1) / counts).sum()
    p_value = (1 + at_least) / (1 + keys)
    return LeakEvidence(observed / n, p_value, spread=float(np.sqrt(variance)) / n, items=n)
