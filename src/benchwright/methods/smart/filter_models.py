"""The filter models: their answers, what they agree on, and what they are like."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.smart.finding import Bools, Finding
from benchwright.params.evaluation import EvaluationParams

_LISTED = 8


class FilterAnswers(NamedTuple):
    """The filter models' rows of a response matrix, or the reason why there are none to use."""

    matrix: ResponseMatrix | None
    reason: str


def filter_answers(
    matrix: ResponseMatrix,
    filter_models: Sequence[str],
    item_ids: Sequence[str],
    what: str = "answers",
    known: Collection[str] = (),
) -> FilterAnswers:
    """The rows of `filter_models` and columns of `item_ids`, where every model answered something.

    A matrix with none of the filter models, or with one that answered nothing, gives a reason
    instead: the rest is never used silently in place of all. `known` are names that are right
    even if this matrix lacks them; `what` says in messages what the matrix holds.

    Raises:
        InputError: a filter model is neither in the matrix, which has others of them, nor known.
    """
    names = tuple(dict.fromkeys(filter_models))
    if not names:
        return FilterAnswers(None, "no filter models are named")
    absent = [name for name in names if name not in matrix.models]
    if len(absent) == len(names):
        return FilterAnswers(None, f"no {what} for {some_of(names, names)}")
    for name in absent:
        if name not in known:
            raise InputError(
                f"filter_models: no {what} of {name!r}; there are {what} of {listed(matrix.models)}"
            )
    present = tuple(name for name in names if name not in absent)
    there = matrix.select_models(present).select_items(tuple(item_ids))
    answered = np.any(there.answered(), axis=1)
    speaking = {name for name, some in zip(present, answered, strict=True) if some}
    silent = [name for name in names if name not in speaking]
    if silent:
        return FilterAnswers(None, f"no {what} for {some_of(names, silent)}")
    return FilterAnswers(there, "")


def listed(names: Sequence[str]) -> str:
    """Names in a row, the first eight of many."""
    shown = ", ".join(names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} more"


def some_of(names: Sequence[str], some: Sequence[str]) -> str:
    """How many filter models, and which unless it is all of them."""
    count = f"{len(some)} of {len(names)} filter models"
    return count if len(some) == len(names) else f"{count}: {listed(some)}"


Probabilities = NDArray[np.float32]


def flag_unanimous(
    rule: str,
    matrix: ResponseMatrix,
    agree: Bools,
    probability: Probabilities,
    confidence: float | None,
    doing: str,
) -> Finding:
    """Flags the items of `matrix` on which all its models agree, each above `confidence`.

    An item is judged where every model answered. One model that disagrees or is not surer than
    `confidence` clears an item; where none does, an unknown probability leaves it unjudged.
    Without confidence (None) agreement is enough.

    `agree` and `probability` (in [0, 1], NaN where unknown) are (m, n). The comparison with
    `confidence` is strict, in the 32 bits of the answers: a stored 0.8 is not above 0.8. `doing`
    says what all models do, in words (`right`).
    """
    n = len(matrix.item_ids)
    answered = matrix.answered()
    complete = np.all(answered, axis=0)
    if confidence is None:
        judged, flagged = complete, complete & np.all(agree, axis=0)
    else:
        # A probability is needed of these models, and none is known.
        lacking = np.any(agree, axis=1) & np.all(np.isnan(probability), axis=1)
        without = [matrix.models[row] for row in np.flatnonzero(lacking)]
        if without:
            reason = f"no probabilities where {doing}, from {some_of(matrix.models, without)}"
            return Finding.idle(rule, n, "not_run", reason)
        sure = agree & (probability.astype(np.float32) > np.float32(confidence))
        unknown = agree & np.isnan(probability)
        cleared = ~np.all(sure | unknown, axis=0)
        judged = complete & (cleared | ~np.any(unknown, axis=0))
        flagged = judged & np.all(sure, axis=0)
    known = np.where(np.isnan(probability), np.inf, probability)
    lowest = known.min(axis=0).astype(np.float64)
    lowest[np.isinf(lowest)] = np.nan
    detail = [""] * n
    for column in np.flatnonzero(flagged):
        low = lowest[column]
        sure_of_it = "" if np.isnan(low) else f", lowest probability {low:.3f}"
        detail[column] = f"all {len(matrix.models)} filter models {doing}{sure_of_it}"
    for column in np.flatnonzero(~judged):
        silent = [matrix.models[row] for row in np.flatnonzero(~answered[:, column])]
        silence = f"no answer from {some_of(matrix.models, silent)}"
        detail[column] = silence if silent else "unknown probability"
    return Finding(rule, "ran", "", judged, flagged, flagged, lowest, tuple(detail))


def profile_filter_models(
    response_matrix: ResponseMatrix,
    choices_only_matrix: ResponseMatrix,
    calibration: pd.DataFrame,
    filter_models: list[str],
    evaluation: EvaluationParams,
) -> pd.DataFrame:
    """Describe each filter model by all its answers.

    `share_confident` is the share of answers that are right with a probability above
    `confidence`: no model can call more items easy than that; it is empty where answers came
    without probabilities. `accuracy_choices_only` is the accuracy when only the options were
    shown.
    """
    temperature = dict(zip(calibration["configuration"], calibration["temperature"], strict=True))
    rows = []
    for model in filter_models:
        n, accuracy, confident = _answers(response_matrix, model, evaluation.confidence)
        n_options, accuracy_options, _ = _answers(choices_only_matrix, model, 1)
        scale = float(temperature.get(model, np.nan))
        rows.append((model, n, accuracy, confident, n_options, accuracy_options, scale))
    by_question = ["n", "accuracy", "share_confident"]
    by_options = ["n_choices_only", "accuracy_choices_only"]
    return pd.DataFrame(rows, columns=["model", *by_question, *by_options, "temperature"])


def _answers(matrix: ResponseMatrix, model: str, confidence: float) -> tuple[int, float, float]:
    """Items answered, accuracy, share answered right with more than `confidence`."""
    if model not in matrix.models:
        return 0, np.nan, np.nan
    row = matrix.models.index(model)
    answered = ~np.isnan(matrix.correct[row])
    n = int(answered.sum())
    if not n:
        return 0, np.nan, np.nan
    accuracy = float(matrix.correct[row][answered].astype(np.float64).mean())
    p_answer = matrix.p_answer[row][answered]
    if np.isnan(p_answer).all():
        return n, accuracy, np.nan
    # A missing probability counts as not confident: logs often leave it out where wrong.
    return n, accuracy, float((p_answer > confidence).mean())
