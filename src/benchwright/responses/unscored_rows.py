"""Recorded answers that come as rows but tell no log-likelihoods: they are kept as matrices."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.responses.calibration import configurations
from benchwright.responses.item_index import AnswerIndex

Float = NDArray[np.float64]


class Split(NamedTuple):
    """Rows of models with log-likelihoods, and the answers of the others by condition."""

    rows: pd.DataFrame
    matrices: list[ResponseMatrix]


def unscored_matrices(rows: pd.DataFrame, index: AnswerIndex) -> Split:
    """Put the answers of models without any log-likelihood into one matrix per condition.

    A row of a table takes two hundred bytes, a cell of a matrix fourteen, and without
    log-likelihoods there is nothing to calibrate. A model that has some stays with all its rows,
    since other styles may be derived from them. Where several rows have one configuration's name
    (shots unknown), the first in order of style and shots counts. Answers to calibration items
    are left out: they have done their work.

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
    left = rows if not unscored.any() else rows[~unscored]
    return Split(left, [matrix for matrix in matrices if matrix.models])


def _matrix(
    condition: str, rows: pd.DataFrame, at: NDArray[np.intp], index: AnswerIndex
) -> ResponseMatrix:
    """The answers of rows `at`, taken column by column: the rows are many."""
    items, start = index.of(condition) or index.items, index.start(condition)
    position = rows["position"].to_numpy(dtype=np.intp)
    at = at[position[at] - start < items.n_items]
    asked = rows[["model", "style", "shots"]].iloc[at]
    order = _by_key(asked)
    at = at[order]
    model, models = pd.factorize(configurations(asked)[order], sort=True)
    position = position[at]
    present, column = np.unique(position - start, return_inverse=True)
    shape = (len(models), len(present))
    _, first = np.unique(model * max(len(present), 1) + column, return_index=True)
    cells = model[first], column[first]
    correct = rows["correct"].to_numpy(dtype=np.float64)[at]
    prediction = rows["prediction"].to_numpy(dtype=np.int64)[at]
    correct = np.where(np.isnan(correct), index.is_right(position, prediction), correct)
    chosen = None
    if (prediction >= 0).any():
        chosen = np.full(shape, -1, dtype=np.int16)
        chosen[cells] = prediction[first]
    return ResponseMatrix.of(
        tuple(str(name) for name in models),
        tuple(items.ids[present]),
        correct=_filled(correct, first, cells, shape),
        p_answer=_filled(rows["p_answer"].to_numpy()[at], first, cells, shape),
        p_prediction=_filled(rows["p_prediction"].to_numpy()[at], first, cells, shape),
        prediction=chosen,
        condition=condition,
    )


def _by_key(rows: pd.DataFrame) -> NDArray[np.intp]:
    """The order of rows by model, style and shots; that of rows with equal ones is kept."""
    keys = [rows["shots"].to_numpy()]
    keys += [pd.Categorical(rows[name]).codes for name in ("style", "model")]
    return np.asarray(np.lexsort(keys), dtype=np.intp)


def _filled(
    values: Float,
    first: NDArray[np.intp],
    cells: tuple[NDArray[np.intp], NDArray[np.intp]],
    shape: tuple[int, int],
) -> NDArray[np.float32] | None:
    """(m, n) the values at their cells, or None where none is known."""
    if np.isnan(values).all():
        return None
    out = np.full(shape, np.nan, dtype=np.float32)
    out[cells] = values[first]
    return out
