"""Items whose label may be wrong, since every filter model disagrees with it (SMART, A.2)."""

from dataclasses import replace

import numpy as np
import pandas as pd

from benchwright.core.natural_order import sort_items
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.smart.filter_models import filter_answers
from benchwright.methods.smart.finding import Finding
from benchwright.methods.smart.unanimity import flag_unanimous
from benchwright.params.filtering import FilteringParams


def flag_suspect_labels(
    items: pd.DataFrame,
    response_matrix: ResponseMatrix,
    filter_models: list[str],
    filtering: FilteringParams,
) -> Finding:
    """Reports items that every filter model gets wrong with more than 0.8 probability.

    Their label deserves a look; nothing is removed, since the paper found about half of them to be
    labelled rightly (SMART, A.2). Needs the probability of the option that a model chose.

    Raises:
        InputError: a filter model is not among the answers.
    """
    items = sort_items(items)
    params = filtering.suspect_label
    if not params.enabled:
        return Finding.idle("suspect_label", len(items), "off")
    matrix, reason = filter_answers(response_matrix, filter_models, items["item_id"].tolist())
    if matrix is None:
        return Finding.idle("suspect_label", len(items), "not_run", reason)
    found = flag_unanimous(
        "suspect_label",
        matrix,
        matrix.correct <= 0,
        np.where(matrix.correct <= 0, matrix.p_prediction, np.float32(np.nan)),
        params.confidence,
        "wrong",
    )
    return replace(found, removed=np.zeros(len(items), dtype=bool))
