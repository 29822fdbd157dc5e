"""Logistic regression kept as plain numbers."""

import json

import numpy as np
import pytest
from pydantic import ValidationError

from benchwright.core.errors import InputError
from benchwright.methods.wicked.single_best_answer.classifier import (
    LogisticClassifier,
    fit_logistic,
)
from benchwright.methods.wicked.single_best_answer.features import Features
from benchwright.params.single_best_answer import LogisticDocument


def examples(n: int = 80) -> tuple[Features, np.ndarray]:
    random = np.random.default_rng(3)
    values = random.normal(size=(n, 3)) * [1, 100, 0] + [0, 50, 7]
    labels = (values[:, 0] + random.normal(size=n) > 0.3).astype(int)
    return Features(("signal", "noise", "constant"), values), labels


def test_the_probabilities_are_scikit_learns_on_standardised_features() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    features, labels = examples()
    scaled = StandardScaler().fit_transform(features.table)
    expected = LogisticRegression(C=0.5, tol=1e-8, max_iter=5000).fit(scaled, labels)
    found = fit_logistic(features, labels, 0.5).probabilities(features)
    assert found == pytest.approx(expected.predict_proba(scaled)[:, 1], abs=1e-6)


def test_it_survives_being_written_as_json() -> None:
    features, labels = examples()
    fitted = fit_logistic(features, labels, 0.5)
    again = LogisticClassifier.from_json(json.loads(json.dumps(fitted.to_json())))
    assert (again.probabilities(features) == fitted.probabilities(features)).all()


def test_labels_of_one_kind_make_a_constant() -> None:
    features, labels = examples()
    assert fit_logistic(features, labels * 0, 1.0).probabilities(features).max() < 0.01
    assert fit_logistic(features, labels * 0 + 1, 1.0).probabilities(features).min() > 0.99


def test_other_features_and_broken_documents_are_refused() -> None:
    features, labels = examples()
    fitted = fit_logistic(features, labels, 1.0)
    with pytest.raises(InputError, match="trained on other features"):
        fitted.probabilities(Features(("a", "b", "c"), features.table))
    document = fitted.to_json()
    LogisticDocument.model_validate(document)
    with pytest.raises(ValidationError, match="1 means for"):
        LogisticDocument.model_validate(document | {"means": [0.0]})
    del document["intercept"]
    with pytest.raises(ValidationError, match="intercept"):
        LogisticDocument.model_validate(document)
