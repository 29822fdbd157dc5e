"""Batches of one shape: what a network computes of a text then does not depend on its neighbours.

A matrix product of another shape adds up in another order, which shows in the low bits, above all
in bfloat16.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

_STEP = 16  # tokens that widths are multiples of


def rounded_widths(lengths: Sequence[int] | NDArray[np.intp], most: int | None) -> NDArray[np.intp]:
    """(n,) widths in tokens for texts of the given lengths: rounded up to 16, at most `most`."""
    widths = -(-np.asarray(lengths, dtype=np.intp) // _STEP) * _STEP
    return widths if most is None else np.minimum(widths, most)


def batches(widths: NDArray[np.intp], batch: int) -> Iterator[tuple[list[int], int]]:
    """Rows of one width, at most `batch`, with that width: longest first.

    A lack of memory so shows at once. A batch with fewer rows is to be filled up (`filled`).
    """
    for width in np.unique(widths)[::-1]:
        rows = np.flatnonzero(widths == width).tolist()
        for start in range(0, len(rows), batch):
            yield rows[start : start + batch], int(width)


def filled(rows: list[int], batch: int) -> list[int]:
    """The rows and, up to `batch`, the first of them again."""
    return [*rows, *[rows[0]] * (batch - len(rows))]
