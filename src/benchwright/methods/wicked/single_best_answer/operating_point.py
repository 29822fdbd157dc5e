"""The threshold that finds a given share of the single-best-answer items, and what it costs."""

from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class OperatingPoint(NamedTuple):
    """A threshold on a probability, and what it does to the items it was chosen on; shares 0–1.

    An item is flagged where its probability is at least `threshold`. `reason` says why figures are
    NaN and is "" otherwise.
    """

    threshold: float
    recall: float
    precision: float
    share_flagged: float
    n: int
    positives: int
    reason: str = ""


def operating_point(
    probabilities: NDArray[np.floating], labels: NDArray[np.integer], recall: float
) -> OperatingPoint:
    """The highest threshold whose recall is at least `recall` (WiCkeD chooses 98.9%).

    With fewer than 1/(1 − recall) positives the only recall that high is 1: every positive counts,
    and so the threshold lies at the most hidden one. Without a positive everything is flagged.

    Args:
        probabilities: (n,) out-of-fold probabilities.
        labels: (n,) 0 or 1.
        recall: in (0, 1].
    """
    n, positives = len(labels), int(labels.sum())
    if not positives:
        return OperatingPoint(0.0, nan, nan, 1.0 if n else nan, n, 0, "no item has the label 1")
    found = np.sort(probabilities[labels == 1])[::-1]
    # A little less than the target, so that 0.7 of 10 is 7 and not 8.
    wanted = max(1, int(np.ceil(recall * positives - 1e-9)))
    threshold = float(found[wanted - 1])
    flagged = probabilities >= threshold
    hits = int(labels[flagged].sum())
    return OperatingPoint(
        threshold, hits / positives, hits / int(flagged.sum()), float(flagged.mean()), n, positives
    )


def precision_recall(
    probabilities: NDArray[np.floating], labels: NDArray[np.integer]
) -> NDArray[np.float64]:
    """(k, 2) recall and precision at each of k distinct thresholds, from the highest.

    k is 0 where no label is 1.
    """
    if not labels.sum():
        return np.empty((0, 2))
    order = np.argsort(-probabilities, kind="stable")
    hits = np.cumsum(labels[order])
    last = np.append(np.diff(probabilities[order]) != 0, True)  # ties are flagged together
    flagged = np.arange(1, len(labels) + 1)
    return np.column_stack([hits[last] / hits[-1], hits[last] / flagged[last]])


def average_precision(probabilities: NDArray[np.floating], labels: NDArray[np.integer]) -> float:
    """Area under the precision–recall steps, Σ (Rₖ − Rₖ₋₁) Pₖ; NaN where no label is 1.

    Chance gives about the share of positives.
    """
    curve = precision_recall(probabilities, labels)
    if not len(curve):
        return nan
    return float(np.sum(np.diff(curve[:, 0], prepend=0) * curve[:, 1]))
