"""All answers as matrices: probabilities from scores, live answers before recorded ones."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.pipelines.responses.configurations import live_first
from benchwright.pipelines.responses.item_index import ItemIndex
from benchwright.pipelines.responses.option_scores import best_options, log_softmax, style_scores
from benchwright.response_matrix import ResponseMatrix
from benchwright.tables import AnswerCoverage, Responses

_KEY = ["configuration", "condition", "position"]


class Matrices(NamedTuple):
    """What the filters and the evaluation take."""

    response_matrix: ResponseMatrix
    choices_only_matrix: ResponseMatrix
    responses: pd.DataFrame
    answer_coverage: pd.DataFrame


def build_response_matrices(
    live_responses: pd.DataFrame,
    imported_responses: pd.DataFrame,
    wide_matrices: list[ResponseMatrix],
    calibration: pd.DataFrame,
    items: pd.DataFrame,
    draws: pd.DataFrame | None = None,
) -> Matrices:
    """Put all answers into one matrix per condition, live ones before recorded ones.

    Answers with log-likelihoods get their prediction (the first of several equally good options),
    whether it is right, and the calibrated probabilities; other rows keep what their file says.
    Models come in the order of their names, items in that of the `items` table.

    Args:
        live_responses: a `Responses` table, perhaps empty.
        imported_responses: the same.
        wide_matrices: one matrix per condition over some of the items, perhaps none.
        calibration: the temperature of each configuration; 1 where it is not listed.
        items: an `Items` table.
        draws: a `Draws` table: answers to its conditions are left out, since they have options
            and a gold of their own (`build_draw_matrices`).

    Returns:
        The matrix of the condition `question`, that of `choices_only`, all rows as a `Responses`
        table (one per configuration, item and condition; answers that came as matrices stay
        there), and an `AnswerCoverage` table.
    """
    index = ItemIndex(items)
    if draws is not None:
        drawn = set(draws["condition"])
        live_responses = live_responses[~live_responses["condition"].isin(drawn)]
        imported_responses = imported_responses[~imported_responses["condition"].isin(drawn)]
        wide_matrices = [matrix for matrix in wide_matrices if matrix.condition not in drawn]
    live = _evaluated(live_responses, index)
    recorded = _evaluated(imported_responses, index)
    # A prompt that did not fit the model has no answer, and replaces none.
    answered = live["logprobs"].notna() | live["correct"].notna() | (live["prediction"] >= 0)
    rows = live_first(live[answered], pd.concat([recorded, live[~answered]]))
    rows = rows.assign(position=index.find(rows["item_id"]))
    rows = _with_probabilities(rows, calibration, index)
    is_live = (rows["source"] == "live").to_numpy(dtype=bool)
    again = rows.duplicated(_KEY, keep="first").to_numpy()
    kept = rows[~again].sort_values(["configuration", "condition", "position"])
    superseded = _superseded(rows[is_live & ~again], rows[again & ~is_live])

    conditions = sorted({*kept["condition"], *(m.condition for m in wide_matrices)})
    matrices: dict[str, ResponseMatrix] = {}
    coverage = []
    for condition in conditions:
        wide = [matrix for matrix in wide_matrices if matrix.condition == condition]
        own = kept[kept["condition"] == condition]
        matrices[condition] = _matrix(condition, own, wide, index)
        coverage += _coverage(matrices[condition], own, wide, superseded)
    item_ids = tuple(index.ids)
    return Matrices(
        matrices.get("question", ResponseMatrix.empty(item_ids)),
        matrices.get("choices_only", ResponseMatrix.empty(item_ids, "choices_only")),
        _as_responses(kept),
        AnswerCoverage.from_rows(coverage),
    )


def _evaluated(rows: pd.DataFrame, index: ItemIndex) -> pd.DataFrame:
    """The rows of evaluation items; those of the calibration split have done their work."""
    return rows[index.find(rows["item_id"]) >= 0]


def _with_probabilities(
    rows: pd.DataFrame, calibration: pd.DataFrame, index: ItemIndex
) -> pd.DataFrame:
    """`rows` with answers computed from log-likelihoods, and `tied` where several were best."""
    temperatures = dict(zip(calibration["configuration"], calibration["temperature"], strict=True))
    values = {
        name: rows[name].to_numpy(dtype=kind, copy=True)
        for name, kind in (
            ("prediction", np.int64),
            ("p_answer", np.float64),
            ("p_prediction", np.float64),
            ("correct", np.float64),
        )
    }
    tied = np.zeros(len(rows), dtype=bool)
    position = rows["position"].to_numpy(dtype=np.intp)
    scored = rows["logprobs"].notna().to_numpy(dtype=bool)
    names = rows["configuration"].to_numpy(dtype=object)
    for name in sorted(set(names[scored])):
        at = np.flatnonzero(scored & (names == name))
        own = rows.iloc[at]
        lists = (own[column].tolist() for column in ("logprobs", "option_bytes", "option_tokens"))
        scores = style_scores(str(own["style"].iloc[0]), *lists)
        probability = np.exp(log_softmax(scores, float(temperatures.get(name, 1.0))))
        best, tied[at] = best_options(scores)
        gold = index.answer[position[at]]
        values["prediction"][at] = best
        values["p_prediction"][at] = _of_option(probability, best)
        values["p_answer"][at] = _of_option(probability, gold)
        values["correct"][at] = index.is_right(position[at], best)
    told = np.flatnonzero(~scored & np.isnan(values["correct"]) & (values["prediction"] >= 0))
    values["correct"][told] = index.is_right(position[told], values["prediction"][told])
    return rows.assign(tied=tied, **values)


def _of_option(probability: NDArray[np.float64], option: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n,) the probability of one option per row; NaN for option −1 or beyond the last."""
    width = probability.shape[1]
    if width == 0:
        return np.full(len(option), np.nan)
    inside = (option >= 0) & (option < width)
    taken = probability[np.arange(len(option)), np.where(inside, option, 0)]
    return np.where(inside, taken, np.nan)


def _superseded(live: pd.DataFrame, replaced: pd.DataFrame) -> dict[tuple[str, str], list[float]]:
    """|p_answer live − recorded| (NaN where one is unknown) by configuration and condition."""
    both = replaced.merge(live[[*_KEY, "p_answer"]], on=_KEY, suffixes=("", "_live"))
    both = both.drop_duplicates(_KEY, keep="first").sort_values(_KEY)
    out: dict[tuple[str, str], list[float]] = {}
    difference = (both["p_answer"] - both["p_answer_live"]).abs()
    keys = zip(both["configuration"], both["condition"], difference, strict=True)
    for configuration, condition, gap in keys:
        out.setdefault((str(configuration), str(condition)), []).append(float(gap))
    return out


def _matrix(
    condition: str, rows: pd.DataFrame, wide: list[ResponseMatrix], index: ItemIndex
) -> ResponseMatrix:
    models = sorted({*rows["configuration"], *(m for matrix in wide for m in matrix.models)})
    row_of = {model: row for row, model in enumerate(models)}
    shape = (len(models), index.n_items)
    correct = np.full(shape, np.nan, dtype=np.float32)
    chosen = len(rows) > 0 or any((matrix.prediction >= 0).any() for matrix in wide)
    prediction = np.full(shape, -1, dtype=np.int16) if chosen else None
    for matrix in wide:
        at = np.ix_(
            np.array([row_of[m] for m in matrix.models], dtype=np.intp), index.find(matrix.item_ids)
        )
        correct[at] = matrix.correct
        if prediction is not None:
            prediction[at] = matrix.prediction
    if rows.empty or prediction is None:
        return ResponseMatrix.of(
            tuple(models),
            tuple(index.ids),
            correct=correct,
            prediction=prediction,
            condition=condition,
        )
    cells = (
        np.array([row_of[name] for name in rows["configuration"]], dtype=np.intp),
        rows["position"].to_numpy(dtype=np.intp),
    )
    correct[cells], prediction[cells] = _overlaid(rows, correct[cells], prediction[cells], index)
    return ResponseMatrix.of(
        tuple(models),
        tuple(index.ids),
        correct=correct,
        p_answer=_field(rows["p_answer"], cells, shape),
        p_prediction=_field(rows["p_prediction"], cells, shape),
        prediction=prediction,
        condition=condition,
    )


def _overlaid(
    rows: pd.DataFrame,
    correct: NDArray[np.float32],
    prediction: NDArray[np.int16],
    index: ItemIndex,
) -> tuple[NDArray[np.float32], NDArray[np.int16]]:
    """Each row's own answer, completed by a wide file's for the same cell where they agree.

    Args:
        rows: n rows.
        correct: (n,) what wide files say of the same cells.
        prediction: (n,) the same.
        index: the gold.
    """
    own_correct = rows["correct"].to_numpy(dtype=np.float32)
    own_prediction = rows["prediction"].to_numpy(dtype=np.int16)
    position = rows["position"].to_numpy(dtype=np.intp)
    right = index.is_right(position, prediction.astype(np.int64))
    unlike = index.single[position] & np.isin(own_correct, (0, 1)) & (right != own_correct)
    # A live answer stands alone; a recorded one may have its other half in a wide file.
    complete = (rows["source"] == "live").to_numpy(dtype=bool) & ~np.isnan(own_correct)
    lacking = (own_prediction < 0) & ~complete & ~unlike
    return (
        np.where(np.isnan(own_correct) & ~complete, correct, own_correct),
        np.where(lacking, prediction, own_prediction),
    )


def _field(
    values: pd.Series, cells: tuple[NDArray[np.intp], NDArray[np.intp]], shape: tuple[int, int]
) -> NDArray[np.float32] | None:
    """(m, n) the values at their cells, or None where none is known."""
    if values.isna().all():
        return None
    out = np.full(shape, np.nan, dtype=np.float32)
    out[cells] = values.to_numpy(dtype=np.float32)
    return out


def _coverage(
    matrix: ResponseMatrix,
    rows: pd.DataFrame,
    wide: list[ResponseMatrix],
    superseded: dict[tuple[str, str], list[float]],
) -> list[tuple[str, str, str, int, int, int, int, int, int, float]]:
    """One row per configuration of the matrix."""
    answered = matrix.answered().sum(axis=1)
    live = rows[rows["source"] == "live"]
    replaced = _replaced_cells(live[live["correct"].notna()], wide)
    ties = rows.groupby("configuration")["tied"].sum().to_dict()
    lost = {
        state: rows[rows["extraction"] == state].groupby("configuration").size().to_dict()
        for state in ("failed", "too_long")
    }
    is_live = set(live["configuration"])
    recorded = set(rows.loc[rows["source"] != "live", "configuration"])
    recorded |= {model for source in wide for model in source.models}
    out = []
    for name, count in zip(matrix.models, answered, strict=True):
        gaps = np.array(superseded.get((name, matrix.condition), []))
        known = gaps[~np.isnan(gaps)]
        source = "both" if name in is_live & recorded else "live" if name in is_live else "recorded"
        out.append(
            (
                name,
                matrix.condition,
                source,
                int(count),
                int(ties.get(name, 0)),
                int(lost["failed"].get(name, 0)),
                int(lost["too_long"].get(name, 0)),
                len(gaps) + replaced.get(name, 0),
                len(known),
                float(known.mean()) if len(known) else np.nan,
            )
        )
    return out


def _replaced_cells(live: pd.DataFrame, wide: list[ResponseMatrix]) -> dict[str, int]:
    """Cells of wide files that a live answer replaces, by configuration."""
    out: dict[str, int] = {}
    if live.empty:
        return out
    for matrix in wide:
        answered = matrix.answered()
        for row, name in enumerate(matrix.models):
            items = set(live.loc[live["configuration"] == name, "item_id"])
            if items:
                seen = np.array([item in items for item in matrix.item_ids])
                out[name] = out.get(name, 0) + int((answered[row] & seen).sum())
    return out


def _as_responses(rows: pd.DataFrame) -> pd.DataFrame:
    if rows.empty:
        return Responses.empty()
    table = rows[Responses.columns()].reset_index(drop=True)
    return pd.DataFrame(Responses.validate(table))
