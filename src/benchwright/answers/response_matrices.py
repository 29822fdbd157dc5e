"""Build response matrices from live and recorded responses."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.answers.answer_rows import answers
from benchwright.answers.calibration import best_of_rows, live_first, log_softmax, scores_of
from benchwright.answers.item_index import ResponseIndex
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.responses import ResponsesParams
from benchwright.tables.responses import AnswerCoverage, Responses

_KEY = ["configuration", "condition", "position"]
_MEASURES = ("p_answer", "p_prediction", "correct")
_BLANK = dict.fromkeys(_MEASURES, np.float32(np.nan)) | {"prediction": np.int16(-1)}


class Matrices(NamedTuple):
    """The response matrices, and the rows and coverage behind them."""

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
    parameters: ResponsesParams = ResponsesParams(),  # noqa: B008 - immutable
) -> Matrices:
    """Build one matrix per condition; live responses take precedence over recorded ones.

    Rows with log-likelihoods get a prediction (the first of tied options), its correctness and
    calibrated probabilities; other rows keep the values of their file. Models are sorted by name,
    items in the order of the `items` table. Answers to perturbed copies are left out.

    Args:
        live_responses: a `Responses` table, possibly empty.
        imported_responses: the same.
        wide_matrices: responses without log-likelihoods, each for some of the items; later ones
            take precedence.
        calibration: the temperature of each configuration; 1 by default.
        items: an `Items` table.
        parameters: with `repeats` "mean", several answers to an item are averaged; else the first
            counts.

    Returns:
        The matrix of the condition `question`, that of `choices_only`, the rows behind them as a
        `Responses` table (one per configuration, item and condition), and an `AnswerCoverage`
        table.
    """
    index = ResponseIndex(items)
    answers = live_responses, imported_responses, wide_matrices
    rows, matrices, coverage = _build(*answers, calibration, index, parameters)
    item_ids = tuple(index.ids)
    return Matrices(
        matrices.get("question", ResponseMatrix.empty(item_ids)),
        matrices.get("choices_only", ResponseMatrix.empty(item_ids, "choices_only")),
        Responses.validate(rows) if len(rows) else Responses.empty(),
        AnswerCoverage.from_rows(coverage),
    )


def _build(
    live_responses: pd.DataFrame,
    imported_responses: pd.DataFrame,
    wide_matrices: list[ResponseMatrix],
    calibration: pd.DataFrame,
    index: ResponseIndex,
    parameters: ResponsesParams,
) -> tuple[pd.DataFrame, dict[str, ResponseMatrix], list[tuple[Any, ...]]]:
    """Return the rows that count, and matrices and coverage of the conditions of the index."""
    live, recorded = (_placed(rows, index) for rows in (live_responses, imported_responses))
    wide_matrices = [matrix for matrix in wide_matrices if index.of(matrix.condition)]
    # A prompt too long for the model has no response and replaces none.
    answered = live["logprobs"].notna() | live["correct"].notna() | (live["prediction"] >= 0)
    rows = live_first(live[answered], pd.concat([recorded, live[~answered]]))
    rows = _with_probabilities(rows, calibration, index)
    rows = one_of_repeats(rows, parameters.repeats)
    kept = rows.drop_duplicates(_KEY).sort_values(["configuration", "condition", "position"])

    conditions = sorted({*kept["condition"], *(m.condition for m in wide_matrices)})
    matrices: dict[str, ResponseMatrix] = {}
    coverage = []
    for condition in conditions:
        wide = [matrix for matrix in wide_matrices if matrix.condition == condition]
        rows_of_condition = kept[kept["condition"] == condition]
        of_rows = matrix_of_rows(rows_of_condition, condition, index)
        matrices[condition] = _merged([*wide, of_rows], index.items.ids)
        coverage += _coverage(matrices[condition], rows_of_condition, wide)
    return kept[Responses.columns()].reset_index(drop=True), matrices, coverage


def _placed(rows: pd.DataFrame, index: ResponseIndex) -> pd.DataFrame:
    """Return the rows whose items the index has, with their positions."""
    item_ids = rows["item_id"].to_numpy(dtype=object)
    positions = index.join(item_ids, None, rows["condition"]).positions
    return rows.assign(position=positions)[positions >= 0]


def _with_probabilities(
    rows: pd.DataFrame, calibration: pd.DataFrame, index: ResponseIndex
) -> pd.DataFrame:
    """Add predictions and probabilities from log-likelihoods, and `tied` for equal best options."""
    temperatures = dict(zip(calibration["configuration"], calibration["temperature"], strict=True))
    position = rows["position"].to_numpy(dtype=np.intp)
    best, tied = best_of_rows(rows)
    scored = best >= 0
    values = {name: rows[name].to_numpy(np.float64, copy=True) for name in _MEASURES}
    values["correct"], options = answers(rows, index)
    names = rows["configuration"].to_numpy(dtype=object)
    for name in sorted(set(names[scored])):
        at = np.flatnonzero(scored & (names == name))
        scores = scores_of(rows.iloc[at])
        probability = np.exp(log_softmax(scores, float(temperatures.get(name, 1.0))))
        values["p_prediction"][at] = _of_option(probability, best[at])
        values["p_answer"][at] = _of_option(probability, index.answer[position[at]])
    return rows.assign(tied=tied, prediction=options, **values)


def one_of_repeats(rows: pd.DataFrame, how: str) -> pd.DataFrame:
    """Return one row per key: the first repeat, or the mean of all with the usual option."""
    if not (rows["repeat"] > 1).any():
        return rows
    rows = rows.sort_values("repeat", kind="stable")
    key = [*_KEY, "source"]
    if how == "mean":
        of_key = rows.groupby(key, observed=True)
        options = rows.assign(prediction=rows["prediction"].where(rows["prediction"] >= 0))
        chosen = options.groupby(key, observed=True)["prediction"]
        usual = chosen.transform(lambda of_item: of_item.mode().get(0, -1)).astype(np.int64)
        means = {name: of_key[name].transform("mean") for name in _MEASURES}
        single = of_key["repeat"].transform("size") == 1  # a mean has no log-likelihoods
        logprobs = rows["logprobs"].where(single, None)
        rows = rows.assign(prediction=usual, logprobs=logprobs, **means)
    return rows.drop_duplicates(key).sort_index()


def _of_option(probability: NDArray[np.float64], option: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the (n,) probability of one option per row; NaN for an invalid option."""
    width = probability.shape[1]
    if width == 0:
        return np.full(len(option), np.nan)
    inside = (option >= 0) & (option < width)
    taken = probability[np.arange(len(option)), np.where(inside, option, 0)]
    return np.where(inside, taken, np.nan)


def matrix_of_rows(
    rows: pd.DataFrame, condition: str, index: ResponseIndex, mask: pd.Series | None = None
) -> ResponseMatrix:
    """Return the answers to the items of a condition, without log-likelihoods, as a matrix.

    Of several joined rows for a cell the first counts, by style and shots if these are not in the
    `configuration`; `mask` has those that count at all. The items are those that any model
    answered, without calibration items.
    """
    items, start = index.of(condition) or index.items, index.start(condition)
    end = index.n_items if items is index.items else start + len(items.ids)
    counts = (rows["condition"] == condition) & (rows["position"] < end)
    counts = counts if mask is None else counts & mask
    # Column by column: there may be tens of millions of rows.
    columns = ["configuration", "position", "style", "shots", *_BLANK]
    rows = rows[columns][counts.to_numpy(dtype=bool)]
    if len(rows[["style", "shots"]].drop_duplicates()) > 1:
        rows = rows.sort_values(["style", "shots"], kind="stable")
    row, models = pd.factorize(rows["configuration"], sort=True)
    present, column = np.unique(rows["position"].to_numpy(np.intp) - start, return_inverse=True)
    # Backwards, since the last one put in a cell stays.
    answered = np.flatnonzero(rows["correct"].notna() | (rows["prediction"] >= 0))[::-1]
    fields = _blank_fields(len(models), len(present))
    for name, field in fields.items():
        field[row[answered], column[answered]] = rows[name].to_numpy()[answered]
    item_ids = tuple(items.ids[present])
    return ResponseMatrix.of(tuple(map(str, models)), item_ids, condition=condition, **fields)


def _merged(parts: Sequence[ResponseMatrix], item_ids: pd.Index) -> ResponseMatrix:
    """Return one matrix of several over these items, in which later answers take precedence."""
    models = pd.Index(sorted({model for part in parts for model in part.models}))
    fields = _blank_fields(len(models), len(item_ids))
    for part in parts:
        row, column = np.nonzero(part.answered() | (part.prediction >= 0))
        at = models.get_indexer(pd.Index(part.models))[row]
        where = at, item_ids.get_indexer(pd.Index(part.item_ids))[column]
        for name, field in fields.items():
            field[where] = getattr(part, name)[row, column]
    condition = parts[-1].condition
    return ResponseMatrix.of(tuple(models), tuple(item_ids), condition=condition, **fields)


def _blank_fields(models: int, items: int) -> dict[str, NDArray[Any]]:
    return {name: np.full((models, items), blank) for name, blank in _BLANK.items()}


def _coverage(
    matrix: ResponseMatrix, rows: pd.DataFrame, others: list[ResponseMatrix]
) -> list[tuple[Any, ...]]:
    is_live = rows["source"] == "live"
    # A live prompt without a response does not replace recorded responses.
    replaces = is_live & (rows["correct"].notna() | (rows["prediction"] >= 0))
    answering, recorded = (set(rows["configuration"][mask]) for mask in (replaces, ~is_live))
    recorded |= {model for other in others for model in other.models}
    marks = (rows["tied"], rows["extraction"] == "failed", rows["extraction"] == "too_long")
    counts = [Counter(rows["configuration"][mask.astype(bool)]) for mask in marks]
    out = []
    for name, count in zip(matrix.models, matrix.answered().sum(axis=1), strict=True):
        source = "both" if name in answering else "recorded"
        source = source if name in recorded else "live"
        out.append((name, matrix.condition, source, int(count), *(each[name] for each in counts)))
    return out


def build_perturbed_matrices(
    live_responses: pd.DataFrame,
    imported_responses: pd.DataFrame,
    wide_matrices: list[ResponseMatrix],
    calibration: pd.DataFrame,
    items: pd.DataFrame,
    perturbed_items: pd.DataFrame,
) -> dict[str, ResponseMatrix]:
    """Build one matrix over all items per perturbed copy, scored with the gold of the copy.

    Temperatures are those of the configurations, fitted on unaltered items. Arguments are those of
    `build_response_matrices`; answers to other conditions are ignored. Items that a copy does not
    have are unanswered.
    """
    index = ResponseIndex(items, None, perturbed_items)
    rows = (live_responses, imported_responses)
    live, recorded = (each[each["condition"].isin(list(index.perturbed))] for each in rows)
    wide = [matrix for matrix in wide_matrices if matrix.condition in index.perturbed]
    _, matrices, _ = _build(live, recorded, wide, calibration, index, ResponsesParams())
    none = tuple(index.items.ids)
    return {name: matrices.get(name, ResponseMatrix.empty(none, name)) for name in index.perturbed}
