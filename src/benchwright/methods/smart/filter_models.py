"""The filter models: items on which all of them agree."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.configuration import parse_configuration
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.smart.finding import Bools, Finding
from benchwright.params.filtering import AnswerOnlyParams, EasyParams, SuspectLabelParams

_LISTED = 8
_FEWEST_TO_CHOOSE_FROM, _FEWEST_FILTER_MODELS = 8, 4


def flag_unanimous(
    rule: str,
    items: pd.DataFrame,
    matrix: ResponseMatrix,
    filter_models: Sequence[str],
    params: EasyParams | AnswerOnlyParams | SuspectLabelParams,
    doing: str,
    what: str = "responses",
) -> Finding:
    """Flag the items on which all filter models agree, each above `params.confidence`.

    The models agree if all are right or, with `doing` = `wrong`, all are wrong; the probability
    is that of the chosen option. An item is judged if all models answered it. It is clear if one
    model disagrees or is not above the confidence; otherwise an unknown probability leaves it
    unjudged. Without confidence (None) agreement is enough. The comparison is strict, in 32-bit
    floats as in the responses: a stored 0.8 is not above 0.8.

    `doing` describes in words what all models do, `what` the responses.
    """
    ids = items["item_id"].tolist()
    n = len(ids)
    if not params.enabled:
        return Finding.idle(rule, n, "off")
    reason = _why_not(matrix, filter_models, ids, what)
    if reason:
        return Finding.idle(rule, n, "not_run", reason)
    matrix = matrix.select_models(tuple(dict.fromkeys(filter_models))).select_items(tuple(ids))
    agree, probability = _agreement(matrix, doing)
    lacking = np.any(agree, axis=1) & np.all(np.isnan(probability), axis=1)
    if params.confidence is not None and lacking.any():
        without = some_of(matrix.models, [matrix.models[row] for row in np.flatnonzero(lacking)])
        reason = f"no probabilities where {doing}, from {without}"
        return Finding.idle(rule, n, "not_run", reason)
    answered = matrix.answered()
    complete = np.all(answered, axis=0)
    if params.confidence is None:
        judged, flagged = complete, complete & np.all(agree, axis=0)
    else:
        sure = agree & (probability.astype(np.float32) > np.float32(params.confidence))
        unknown = agree & np.isnan(probability)
        judged = complete & (~np.all(sure | unknown, axis=0) | ~np.any(unknown, axis=0))
        flagged = judged & np.all(sure, axis=0)
    lowest = np.where(np.isnan(probability), np.inf, probability).min(axis=0).astype(np.float64)
    lowest[np.isinf(lowest)] = np.nan
    detail = [""] * n
    for column in np.flatnonzero(flagged):
        low = "" if np.isnan(lowest[column]) else f", lowest probability {lowest[column]:.3f}"
        detail[column] = f"all {len(matrix.models)} filter models {doing}{low}"
    for column in np.flatnonzero(~judged):
        silent = [matrix.models[row] for row in np.flatnonzero(~answered[:, column])]
        missing = f"no response from {some_of(matrix.models, silent)}"
        detail[column] = missing if silent else "unknown probability"
    return Finding(rule, "ran", "", judged, flagged, flagged, lowest, tuple(detail))


def doubt_few_models(
    filter_models: Collection[str] | None,
    chosen_filter_models: list[str],
    response_matrix: ResponseMatrix,
) -> str:
    """Return why rules by filter models only report, or "".

    A rule that chooses among fewer than 8 models, or fewer than 4 of them, knows too little about
    other models to remove items. Names, `all` or a `count` in `filter_models` remove all the same.
    """
    named = filter_models is not None and not isinstance(filter_models, str | Mapping)
    counted = isinstance(filter_models, Mapping) and filter_models.get("count") is not None
    if named or counted or filter_models == "all" or not chosen_filter_models:
        return ""
    known = len({parse_configuration(model).model for model in response_matrix.models})
    chosen = len(chosen_filter_models)
    if known >= _FEWEST_TO_CHOOSE_FROM and chosen >= _FEWEST_FILTER_MODELS:
        return ""
    return (
        f"reported, not removed: {chosen} filter models chosen from {known} are too few (at "
        f"least {_FEWEST_FILTER_MODELS} from {_FEWEST_TO_CHOOSE_FROM}); `filter_models` with names "
        "or a `count` removes all the same"
    )


def _agreement(matrix: ResponseMatrix, doing: str) -> tuple[Bools, NDArray[np.float32]]:
    """Return (m, n) whether models do it, and the probability of what they chose."""
    if doing != "wrong":
        return matrix.correct >= 1, matrix.p_answer
    agree = matrix.correct <= 0
    return agree, np.where(agree, matrix.p_prediction, np.float32(np.nan))


def _why_not(
    matrix: ResponseMatrix, filter_models: Sequence[str], item_ids: Sequence[str], what: str
) -> str:
    """Return why a rule cannot use all filter models, or ""."""
    names = tuple(dict.fromkeys(filter_models))
    if not names:
        return "no filter models are configured"
    present = tuple(name for name in names if name in matrix.models)
    answered = matrix.select_models(present).select_items(tuple(item_ids)).answered()
    with_responses = {name for name, row in zip(present, answered, strict=True) if row.any()}
    silent = [name for name in names if name not in with_responses]
    return f"no {what} for {some_of(names, silent)}" if silent else ""


def listed(names: Sequence[str]) -> str:
    """Return the names separated by commas, the first eight of many."""
    shown = ", ".join(names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} more"


def some_of(names: Sequence[str], some: Sequence[str]) -> str:
    """Return the number of filter models, and their names unless it is all of them."""
    count = f"{len(some)} of {len(names)} filter models"
    return count if len(some) == len(names) else f"{count}: {listed(some)}"
