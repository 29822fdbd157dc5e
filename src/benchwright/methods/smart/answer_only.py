"""Items that can be solved from the options alone (SMART, section 3.3).

The paper calls them contaminated. The work that it cites found that solving an item without its
question does not prove memorisation, so they are called what they are.
"""

import pandas as pd

from benchwright.core.natural_order import sort_items
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.smart.filter_models import filter_answers, flag_unanimous
from benchwright.methods.smart.finding import Finding
from benchwright.params.filtering import FilteringParams


def flag_answer_only_items(
    items: pd.DataFrame,
    choices_only_matrix: ResponseMatrix,
    response_matrix: ResponseMatrix,
    filter_models: list[str],
    filtering: FilteringParams,
) -> Finding:
    """Flags items that every filter model solves from the options alone, with more than 0.8.

    The models saw the choices without the question (SMART, section 3.3). Without such answers from
    every filter model the rule does not run.

    Raises:
        InputError: a filter model is in neither matrix, while others are in this one.
    """
    items = sort_items(items)
    params = filtering.answer_only
    if not params.enabled:
        return Finding.idle("answer_only", len(items), "off")
    matrix, reason = filter_answers(
        choices_only_matrix,
        filter_models,
        items["item_id"].tolist(),
        what="choices-only answers",
        known=response_matrix.models,
    )
    if matrix is None:
        return Finding.idle("answer_only", len(items), "not_run", reason)
    return flag_unanimous(
        "answer_only",
        matrix,
        matrix.correct >= 1,
        matrix.p_answer,
        params.confidence,
        "right from the options alone",
    )
