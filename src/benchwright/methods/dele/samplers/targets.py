"""What a benchmark's score is the mean over: its items, or its subjects (DELE, section 4.2)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def target_weights(subjects: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Weights (n,) of n items in the score, by target; each sums to 1.

    `items` counts all items alike. `subjects` counts all subjects alike, and items alike inside
    each; it is not there where there is one subject or none.
    """
    n = len(subjects)
    found = {"items": np.full(n, 1 / max(n, 1))}
    _, own, counts = np.unique(
        np.array(subjects, dtype=str), return_inverse=True, return_counts=True
    )
    if len(counts) > 1:
        found["subjects"] = 1 / (len(counts) * counts[own])
    return found
