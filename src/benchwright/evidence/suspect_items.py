"""Items ranked by how likely their label is wrong, from answers alone."""

import numpy as np
import pandas as pd
from scipy.special import betaincinv

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import families_of
from benchwright.statistics.wrong_answers import share_wrong, wrong_option_margin
from benchwright.tables.evidence import SuspectItems

_DIGITS = 12  # finer differences are rounding of sums


def rank_suspect_items(
    response_matrix: ResponseMatrix, items: pd.DataFrame, models_table: pd.DataFrame
) -> pd.DataFrame:
    """Rank items for review of their labels, as a `SuspectItems` table.

    The lower 95% bound (Jeffreys) of the share of wrong answers decides, then the lead of a wrong
    option over the right one. More elaborate statistics were no better (docs/evidence/suspects.md).
    """
    ids = items["item_id"].tolist()
    matrix = response_matrix.select_items(tuple(ids))
    families = families_of(matrix.models, models_table)
    options = [len(choices) for choices in items["choices"]]
    right = np.zeros((len(ids), max(options, default=0)), dtype=bool)
    for row, (correct_set, known) in enumerate(zip(items["correct_set"], options, strict=True)):
        right[row, [option for option in correct_set if 0 <= option < known]] = True
    wrong = share_wrong(matrix.correct, families).round(_DIGITS)
    option, lead = wrong_option_margin(matrix.prediction, right, families)
    lead = lead.round(_DIGITS)
    n_models = matrix.answered().sum(axis=0)
    least = betaincinv(wrong * n_models + 0.5, (1 - wrong) * n_models + 0.5, 0.05)
    order = np.lexsort((-np.nan_to_num(lead, nan=-2), -least))  # NaN shares last
    order = order[~np.isnan(wrong[order])]
    table = pd.DataFrame(
        {
            "item_id": ids,
            "subject": items["subject"].to_numpy(),
            "n_models": n_models,
            "share_wrong": wrong,
            "margin": lead,
            "alternative": option,
        }
    ).iloc[order]
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    return table[SuspectItems.columns()].reset_index(drop=True)
