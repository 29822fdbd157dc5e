"""Accuracy and rank of each model before and after (SMART, Tables 2 and 10–12)."""

import numpy as np
import pandas as pd

from benchwright.pipelines.evaluation.panel import Panel
from benchwright.response_matrix import ResponseMatrix
from benchwright.statistics.accuracy import accuracy
from benchwright.statistics.rank_agreement import ranks
from benchwright.tables import Scores


def score_models(
    response_matrix: ResponseMatrix, kept_items: pd.DataFrame, panel: Panel
) -> pd.DataFrame:
    """Score every panel model on the panel's items and on those of them that were kept.

    Both scores rest on items that every panel model answered, so ranks compare like with like.
    Standard errors are over items. Best model first.
    """
    kept = set(kept_items["item_id"])
    chosen = response_matrix.select_models(panel.models)
    full = accuracy(chosen.select_items(panel.item_ids).correct)
    part = accuracy(chosen.select_items([i for i in panel.item_ids if i in kept]).correct)
    table = pd.DataFrame(
        {
            "model": panel.models,
            "role": panel.roles,
            "n_full": full.n,
            "accuracy_full": full.mean,
            "se_full": full.se,
            "rank_full": ranks(full.mean),
            "n_kept": part.n,
            "accuracy_kept": part.mean,
            "se_kept": part.se,
            "rank_kept": ranks(part.mean),
        }
    )
    if table.empty:
        return Scores.empty()
    order = np.lexsort((table["model"].to_numpy(dtype=object), table["rank_full"].to_numpy()))
    return pd.DataFrame(Scores.validate(table.iloc[order].reset_index(drop=True)))
