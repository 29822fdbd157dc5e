"""Items that can be solved from the options alone (SMART, section 3.3).

The paper calls them contaminated. Solving an item without its question does not prove that it was
memorised, so this package names them after what was observed.
"""

import pandas as pd

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.smart.filter_models import flag_unanimous
from benchwright.methods.smart.finding import Finding
from benchwright.params.filtering import FilteringParams


def flag_answer_only_items(
    items: pd.DataFrame,
    choices_only_matrix: ResponseMatrix,
    response_matrix: ResponseMatrix,
    chosen_filter_models: list[str],
    filtering: FilteringParams,
) -> Finding:
    """Flag items that every filter model solves from the options alone, with more than 0.8.

    Without such answers from every filter model the rule does not run.

    Raises:
        InputError: a filter model is in neither matrix, while others are in `choices_only_matrix`.
    """
    return flag_unanimous(
        "answer_only",
        items,
        choices_only_matrix,
        chosen_filter_models,
        filtering.answer_only,
        "right from the options alone",
        known=response_matrix.models,
    )
