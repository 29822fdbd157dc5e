"""Do models give the same answers? (SMART, Figure 4.)"""

import numpy as np
import pandas as pd

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import Panel
from benchwright.params.evaluation import EvaluationParams
from benchwright.statistics.answer_agreement import (
    PairwiseAgreement,
    correctness_agreement,
    prediction_agreement,
)
from benchwright.tables.evidence import Agreement


def compare_answers(
    response_matrix: ResponseMatrix,
    kept_items: pd.DataFrame,
    scores: pd.DataFrame,
    panel: Panel,
    evaluation: EvaluationParams,
) -> pd.DataFrame:
    """Count on how many items two models answer alike, before and after filtering.

    Agreement is of the chosen options where every model compared has them for at least half of
    the items, otherwise of being right or wrong: one kind for the whole table, so that its pairs
    can be compared. Pairs are in order of the ranking; of very many models a spread is taken.
    """
    ranked = [str(model) for model in scores["model"]]
    models = spread(ranked, evaluation.agreement_models)
    if len(models) < 2:
        return Agreement.empty()
    kept = set(kept_items["item_id"])
    matrix = response_matrix.select_models(models)
    full = matrix.select_items(panel.item_ids)
    part = matrix.select_items([item for item in panel.item_ids if item in kept])
    known = (full.prediction >= 0).sum(axis=1)
    kind = "prediction" if (2 * known >= max(len(panel.item_ids), 1)).all() else "correctness"
    before, after = _pairs(full, kind), _pairs(part, kind)
    rows = [
        (
            *(models[a], models[b], kind),
            *(before.n[a, b], before.share[a, b], after.n[a, b], after.share[a, b]),
        )
        for a, b in zip(*np.triu_indices(len(models), k=1), strict=True)
    ]
    return Agreement.from_rows(rows)


def spread(ranked: list[str], most: int) -> list[str]:
    """At most `most` of the ranked names, evenly along the ranking with its first and last."""
    if len(ranked) <= most:
        return ranked
    chosen = np.linspace(0, len(ranked) - 1, most).round().astype(int)
    return [ranked[i] for i in chosen]


def _pairs(matrix: ResponseMatrix, kind: str) -> PairwiseAgreement:
    if kind == "prediction":
        return prediction_agreement(matrix.prediction)
    return correctness_agreement(matrix.correct)
