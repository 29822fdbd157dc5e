"""How often the fields of labelled questions are found."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.methods.mmlu_cf.fields.names import FIELDS
from benchwright.statistics.proportion import wilson_interval
from benchwright.tables.mmlu_cf import FieldAccuracy


def field_accuracy(labels: str, true: pd.Series, predicted: pd.DataFrame) -> pd.DataFrame:
    """A `FieldAccuracy` table: all questions first, then field by field.

    Args:
        labels: a name for these questions.
        true: the field of each, by item id.
        predicted: a `FieldPredictions` table; an item without a field counts as not found.
    """
    chosen = predicted.set_index("item_id")[["field", "confidence"]].reindex(true.index)
    hit = (chosen["field"] == true).to_numpy()
    rows = [_row(labels, "", hit, chosen["confidence"], int(chosen["field"].notna().sum()))]
    for field in FIELDS:
        of_field = (true == field).to_numpy()
        said = (chosen["field"] == field).to_numpy()
        rows.append(
            _row(labels, field, hit[of_field], chosen["confidence"][of_field], int(said.sum()))
        )
        precision = float(hit[said].mean()) if said.any() else np.nan
        rows[-1] = (*rows[-1][:-2], precision, rows[-1][-1])
    return FieldAccuracy.from_rows(rows)


def _row(
    labels: str, field: str, hit: "np.ndarray[Any, Any]", confidence: pd.Series, predicted: int
) -> tuple[Any, ...]:
    n, found = len(hit), int(hit.sum())
    bounds = wilson_interval(found, n)
    recall = found / n if n else np.nan
    mean = float(confidence.mean()) if confidence.notna().any() else np.nan
    # Of all questions with a field, the share that is right.
    precision = found / predicted if predicted else np.nan
    return (labels, field, n, recall, bounds.low, bounds.high, predicted, precision, mean)
