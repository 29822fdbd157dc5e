"""Name the field of each item, by a classifier or by judges."""

import math

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.stored_shards import StoredShards
from benchwright.methods.mmlu_cf.fields import (
    FIELDS,
    bundled_examples,
    judge_fields,
    predict_fields,
)
from benchwright.methods.mmlu_cf.judging.judges import named_judges, rounds_table
from benchwright.params.mmlu_cf import FieldsParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.similarity.vectors import encode_texts
from benchwright.tables.mmlu_cf import CleanItems
from benchwright.tables.similarity import TextVectors


def name_fields(
    clean_items: pd.DataFrame,
    judge_store: StoredShards,
    fields: FieldsParams,
    models: ModelsParams,
    scoring: ScoringParams,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give each item a field, by a classifier trained on the bundled examples or by judges.

    Returns:
        `CleanItems` with field and field_confidence; `ROUNDS` (no rows without judges).

    Raises:
        InputError: the encoder or a judge is unknown or has no weights, or `fields.by` is judges
            and none is named.
    """
    rounds = rounds_table("", {})
    if clean_items.empty:
        predicted = pd.DataFrame(columns=["item_id", "field", "confidence"])
    elif fields.by == "judges":
        if not fields.judges:
            raise InputError("fields.by is judges, but fields.judges is empty; name a judge")
        judges = named_judges(fields, models, scoring, judge_store, "fields")
        predicted, rounds = judge_fields(clean_items, judges, fields.attempts)
    else:
        predicted = _classified(clean_items, fields, models)
    named = predicted.set_index("item_id").reindex(clean_items["item_id"])
    fielded = clean_items.assign(
        field=named["field"].to_numpy(), field_confidence=named["confidence"].to_numpy(np.float64)
    )
    return fielded[CleanItems.columns()], rounds


def _classified(items: pd.DataFrame, fields: FieldsParams, models: ModelsParams) -> pd.DataFrame:
    examples = bundled_examples()
    shown = examples["question"].tolist()
    rows = zip(items["question"], items["choices"], strict=True)
    texts = [" ".join([question, *choices]) for question, choices in rows]
    vectors = encode_texts([*shown, *texts], TextVectors.empty(), fields.encoder, models).vectors
    return predict_fields(
        items["item_id"].tolist(),
        np.stack([vectors[text] for text in texts]),
        np.stack([vectors[text] for text in shown]),
        examples["field"].tolist(),
    )


def count_fields(fielded_items: pd.DataFrame) -> pd.DataFrame:
    """Count items and domains of each field, then of none (""), with the mean confidence or NaN."""
    field = fielded_items["field"].fillna("")
    rows = []
    for name in (*FIELDS, ""):
        of_field = fielded_items[field == name]
        confidence = of_field["field_confidence"].dropna()
        # An exact sum does not depend on the order of items.
        mean = math.fsum(confidence) / len(confidence) if len(confidence) else np.nan
        rows.append((name, len(of_field), int(of_field["domain"].nunique()), mean))
    return pd.DataFrame(rows, columns=["field", "items", "domains", "confidence"])
