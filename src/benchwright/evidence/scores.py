"""Accuracy and rank of each model before and after (SMART, Tables 2 and 10–12)."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.answers import panel_answers
from benchwright.evidence.panel import Panel
from benchwright.statistics.accuracy import accuracy
from benchwright.statistics.paired_differences import clustered_se
from benchwright.statistics.rank_agreement import ranks
from benchwright.tables.evidence import Scores


def score_models(
    response_matrix: ResponseMatrix,
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    panel: Panel,
) -> pd.DataFrame:
    """Score every panel model on the panel's items and on those of them that were kept.

    Both scores rest on items that every panel model answered, so ranks compare like with like.
    Standard errors are over items, those of one passage or stem taken as one draw. Best model
    first.
    """
    if not panel.models:
        return Scores.empty()
    answers = panel_answers(response_matrix, items, panel, list(panel.models))
    kept = answers.among(set(kept_items["item_id"]))
    table = pd.DataFrame(
        {
            "model": panel.models,
            "role": panel.roles,
            **_columns("full", answers.correct, answers.clusters),
            **_columns("kept", answers.correct[:, kept], answers.clusters[kept]),
        }
    )
    order = np.lexsort((table["model"].to_numpy(dtype=object), table["rank_full"].to_numpy()))
    return pd.DataFrame(Scores.validate(table.iloc[order].reset_index(drop=True)))


def _columns(
    on: str, correct: NDArray[np.float64], clusters: NDArray[np.intp]
) -> dict[str, NDArray[np.generic]]:
    seen = accuracy(correct)
    return {
        f"n_{on}": seen.n,
        f"accuracy_{on}": seen.mean,
        f"se_{on}": clustered_se(correct, clusters),
        f"rank_{on}": ranks(seen.mean),
    }
