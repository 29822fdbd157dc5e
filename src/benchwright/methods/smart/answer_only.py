"""Items that can be solved from the options alone (SMART, section 3.3).

The paper calls them contaminated. An item that is solved without its question was not necessarily
memorised, so the rule is named after the observation.
"""

import pandas as pd

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.smart.filter_models import flag_unanimous
from benchwright.methods.smart.finding import Finding
from benchwright.params.filtering import FilteringParams

DOING = "right from the options alone"


def flag_answer_only_items(
    items: pd.DataFrame,
    choices_only_matrix: ResponseMatrix,
    chosen_filter_models: list[str],
    filtering: FilteringParams,
) -> Finding:
    """Flag items that all filter models solve from the options alone, above 0.8 probability.

    The rule runs only if all filter models have such responses.
    """
    return flag_unanimous(
        "answer_only",
        items,
        choices_only_matrix,
        chosen_filter_models,
        filtering.answer_only,
        DOING,
        "choices-only responses",
    )
