"""The 14 fields of questions, assigned by a classifier (MMLU-CF, section 3.1)."""

from collections.abc import Sequence
from importlib.resources import files
from io import StringIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

FIELDS = (
    "Math", "Physics", "Chemistry", "Law", "Engineering", "Economics", "Health", "Psychology",
    "Business", "Biology", "Philosophy", "Computer Science", "History", "Other",
)  # fmt: skip
Vectors = NDArray[np.floating]

_DECIMALS = 6
_STRENGTH = 10.0  # inverse of the L2 penalty, for 140 examples


def bundled_examples() -> pd.DataFrame:
    """Return ten questions of each field, written for this project: field, question."""
    file = files("benchwright.methods.mmlu_cf") / "field_examples.csv"
    return pd.read_csv(StringIO(file.read_text(encoding="utf-8")), keep_default_na=False)


def predict_fields(
    item_ids: Sequence[str], vectors: Vectors, example_vectors: Vectors, fields: Sequence[str]
) -> pd.DataFrame:
    """Predict the most probable field of each item: item_id, field, confidence.

    Logistic regression learns from examples of known `fields`. Vectors (n, d) have length 1.
    """
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    y = [FIELDS.index(field) for field in fields]
    classifier = LogisticRegression(C=_STRENGTH, max_iter=2000, tol=1e-6)
    with threadpool_limits(limits=1):  # equal bits with any number of threads
        classifier.fit(example_vectors.astype(np.float64), y)
    # Finer digits depend on the number of threads and on the order of items.
    probability = np.round(classifier.predict_proba(vectors.astype(np.float64)), _DECIMALS)
    best = classifier.classes_[probability.argmax(axis=1)]
    return pd.DataFrame(
        {
            "item_id": list(item_ids),
            "field": np.array(FIELDS, dtype=object)[best],
            "confidence": probability.max(axis=1),
        }
    )
