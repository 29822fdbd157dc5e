"""Logistic regression on features of an item, as plain numbers, and its operating point."""

from collections.abc import Mapping
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.methods.wicked.single_best_answer.features import Features

_VECTOR_WEIGHT = 0.3  # of one dimension of a vector relative to a named feature: there are hundreds


class LogisticClassifier(NamedTuple):
    """P(single best answer) = σ(Σ coefficientᵢ · (valueᵢ − meanᵢ) / scaleᵢ + intercept)."""

    features: tuple[str, ...]
    means: NDArray[np.float64]
    scales: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    intercept: float

    def probabilities(self, features: Features) -> NDArray[np.float64]:
        """Return (n,) probabilities of n items.

        Raises:
            InputError: the classifier was trained on other features.
        """
        if features.names != self.features:
            raise InputError(
                "the single-best-answer classifier was trained on other features; "
                "kedro run --pipeline sba trains it again"
            )
        from scipy.special import expit

        centred = (features.table - self.means) / self.scales
        return np.asarray(expit(centred @ self.coefficients + self.intercept), dtype=np.float64)

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers and names."""
        return {
            "features": list(self.features),
            "means": self.means.tolist(),
            "scales": self.scales.tolist(),
            "coefficients": self.coefficients.tolist(),
            "intercept": self.intercept,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "LogisticClassifier":
        """Read the result of `to_json`, which `LogisticDocument` has checked."""
        names, intercept = ("means", "scales", "coefficients"), float(document["intercept"])
        means, scales, coefficients = (np.asarray(document[name], dtype=float) for name in names)
        return cls(tuple(document["features"]), means, scales, coefficients, intercept)


def fit_logistic(
    features: Features, labels: NDArray[np.integer], strength: float
) -> LogisticClassifier:
    """Fit with an L2 penalty on standardised features.

    A constant feature has no effect. With labels of one kind only, every item gets the share of
    ones. `labels` are (n,) 0 or 1; `strength` is the inverse of the penalty's weight.
    """
    means = features.table.mean(axis=0)
    spread = features.table.std(axis=0)
    vector = np.array([name.rsplit("_", 1)[-1].isdigit() for name in features.names])
    scales = np.where(spread > 1e-12, spread, 1.0) / np.where(vector, _VECTOR_WEIGHT, 1.0)
    kinds = np.unique(labels)
    if len(kinds) < 2:
        certain = 30.0 if kinds[0] == 1 else -30.0
        return LogisticClassifier(features.names, means, scales, np.zeros(len(means)), certain)
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=strength, max_iter=5000, tol=1e-8)
    model.fit((features.table - means) / scales, labels)
    coefficients, intercept = model.coef_[0].astype(np.float64), float(model.intercept_[0])
    return LogisticClassifier(features.names, means, scales, coefficients, intercept)


class OperatingPoint(NamedTuple):
    """A threshold on a probability, and its effect on the items it was chosen on; shares 0–1.

    An item is flagged where its probability is at least `threshold`. `reason` says why metrics are
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
    """Return the highest threshold whose recall is at least `recall` (WiCkeD chooses 98.9%).

    With fewer than 1/(1 − recall) positives the only recall that high is 1, so the threshold is the
    lowest probability of a positive. Without a positive everything is flagged.

    `probabilities` (n,) are out of fold, `labels` (n,) 0 or 1, `recall` is in (0, 1].
    """
    n, positives = len(labels), int(labels.sum())
    if not positives:
        return OperatingPoint(0.0, nan, nan, 1.0 if n else nan, n, 0, "no item has the label 1")
    # A little less than the target, so that 0.7 of 10 is 7 and not 8.
    wanted = max(1, int(np.ceil(recall * positives - 1e-9)))
    threshold = float(np.sort(probabilities[labels == 1])[-wanted])
    flagged = probabilities >= threshold
    hits = int(labels[flagged].sum())
    shares = (hits / positives, hits / int(flagged.sum()), float(flagged.mean()))
    return OperatingPoint(threshold, *shares, n, positives)


def precision_recall(
    probabilities: NDArray[np.floating], labels: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return (k, 2) recall and precision at k distinct thresholds, from the highest.

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
    """Return the area under the precision–recall steps, Σ (Rₖ − Rₖ₋₁) Pₖ; NaN without positives.

    Chance gives about the share of positives.
    """
    curve = precision_recall(probabilities, labels)
    if not len(curve):
        return nan
    return float(np.sum(np.diff(curve[:, 0], prepend=0) * curve[:, 1]))
