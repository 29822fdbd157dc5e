"""Logistic regression on an item's features, kept as plain numbers."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.methods.wicked.single_best_answer.features import Features

_VECTOR_WEIGHT = 0.3  # of one dimension of a vector beside a named feature: there are hundreds


class LogisticClassifier(NamedTuple):
    """P(single best answer) = σ(Σ coefficientᵢ · (valueᵢ − meanᵢ) / scaleᵢ + intercept)."""

    features: tuple[str, ...]
    means: NDArray[np.float64]
    scales: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    intercept: float

    def probabilities(self, features: Features) -> NDArray[np.float64]:
        """(n,) probabilities of n items.

        Raises:
            InputError: the features are not those it was trained on.
        """
        if features.names != self.features:
            raise InputError(
                "the single-best-answer classifier was trained on other features than it is given; "
                "kedro run --pipeline sba trains it again"
            )
        from scipy.special import expit

        centred = (features.table - self.means) / self.scales
        return np.asarray(expit(centred @ self.coefficients + self.intercept), dtype=np.float64)

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and names."""
        return {
            "features": list(self.features),
            "means": self.means.tolist(),
            "scales": self.scales.tolist(),
            "coefficients": self.coefficients.tolist(),
            "intercept": self.intercept,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "LogisticClassifier":
        """What `to_json` gave.

        Raises:
            InputError: a part is missing, or lengths differ.
        """
        try:
            made = cls(
                tuple(document["features"]),
                np.asarray(document["means"], dtype=np.float64),
                np.asarray(document["scales"], dtype=np.float64),
                np.asarray(document["coefficients"], dtype=np.float64),
                float(document["intercept"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"the single-best-answer classifier cannot be read ({error!r}); "
                "kedro run --pipeline sba writes it again"
            ) from None
        if len({len(made.features), len(made.means), len(made.scales), len(made.coefficients)}) > 1:
            raise InputError(
                "the single-best-answer classifier has features and coefficients of different "
                "lengths; kedro run --pipeline sba writes it again"
            )
        return made


def fit_logistic(
    features: Features, labels: NDArray[np.integer], strength: float
) -> LogisticClassifier:
    """Fit with an L2 penalty on standardised features.

    A feature that is constant has no effect. With labels of one kind only, every item gets the
    share of ones.

    Args:
        features: of n items.
        labels: (n,) 0 or 1.
        strength: inverse of the penalty's weight; smaller shrinks more.
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

    fitted = LogisticRegression(C=strength, max_iter=5000, tol=1e-8).fit(
        (features.table - means) / scales, labels
    )
    return LogisticClassifier(
        features.names,
        means,
        scales,
        fitted.coef_[0].astype(np.float64),
        float(fitted.intercept_[0]),
    )
