"""Recorded answers that come as rows without log-likelihoods are kept as matrices."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.responses.calibration import configurations
from benchwright.responses.item_index import AnswerIndex


def unscored_matrices(
    rows: pd.DataFrame, index: AnswerIndex
) -> tuple[pd.DataFrame, list[ResponseMatrix]]:
    """Put the answers of models without any log-likelihood into one matrix per condition.

    A row of a table takes two hundred bytes, a cell of a matrix fourteen, and without
    log-likelihoods there is nothing to calibrate. A model with some log-likelihoods keeps all its
    rows, since other styles may be derived from them. If several rows have one configuration name
    (shots unknown), the first by style and shots counts. Answers to calibration items are left out.

    Args:
        rows: joined rows, one per key (`tidy_files.ROWS`).
        index: what their positions mean.

    Returns:
        The other rows, and matrices in order of their conditions, over the items that any of
        their models answered.
    """
    scored = rows["model"][rows["logprobs"].notna()].unique()
    unscored = ~rows["model"].isin(scored).to_numpy(dtype=bool)
    matrices = [
        _matrix(
            str(condition), rows, np.flatnonzero(unscored & (rows["condition"] == condition)), index
        )
        for condition in sorted(rows["condition"][unscored].unique())
    ]
    rest = rows[~unscored] if unscored.any() else rows
    return rest, [matrix for matrix in matrices if matrix.models]


def _matrix(
    condition: str, rows: pd.DataFrame, at: NDArray[np.intp], index: AnswerIndex
) -> ResponseMatrix:
    # Column by column: there may be tens of millions of rows.
    items, start = index.of(condition) or index.items, index.start(condition)
    position = rows["position"].to_numpy(dtype=np.intp)
    at = at[position[at] - start < items.n_items]
    asked = rows[["model", "style", "shots"]].iloc[at]
    keys = [asked["shots"].to_numpy()]
    order = np.lexsort(keys + [pd.Categorical(asked[name]).codes for name in ("style", "model")])
    at = at[order]
    model, models = pd.factorize(configurations(asked)[order], sort=True)
    position = position[at]
    present, column = np.unique(position - start, return_inverse=True)
    shape = (len(models), len(present))
    _, first = np.unique(model * max(len(present), 1) + column, return_index=True)
    cells = model[first], column[first]

    def filled(values: NDArray[np.float64]) -> NDArray[np.float32] | None:
        if np.isnan(values).all():
            return None
        out = np.full(shape, np.nan, dtype=np.float32)
        out[cells] = values[first]
        return out

    correct = rows["correct"].to_numpy(dtype=np.float64)[at]
    prediction = rows["prediction"].to_numpy(dtype=np.int64)[at]
    chosen = None
    if (prediction >= 0).any():
        chosen = np.full(shape, -1, dtype=np.int16)
        chosen[cells] = prediction[first]
    return ResponseMatrix.of(
        tuple(str(name) for name in models),
        tuple(items.ids[present]),
        correct=filled(np.where(np.isnan(correct), index.is_right(position, prediction), correct)),
        p_answer=filled(rows["p_answer"].to_numpy()[at]),
        p_prediction=filled(rows["p_prediction"].to_numpy()[at]),
        prediction=chosen,
        condition=condition,
    )
