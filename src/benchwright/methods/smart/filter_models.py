"""The filter models: items on which all of them agree."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.array_types import Bools
from benchwright.core.configuration import parse_configuration
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.smart.finding import Finding
from benchwright.params.filtering import AnswerOnlyParams, EasyParams, SuspectLabelParams

_LISTED = 8
_FEWEST_TO_CHOOSE_FROM = 8
_FEWEST_FILTER_MODELS = 4


def flag_unanimous(
    rule: str,
    items: pd.DataFrame,
    matrix: ResponseMatrix,
    *,
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
    ids = tuple(items["item_id"])
    n = len(ids)
    if not params.enabled:
        return Finding.idle(rule, n, "off")
    if not filter_models:
        return Finding.idle(rule, n, "not_run", "no filter models are configured")
    models = tuple(dict.fromkeys(filter_models))
    known = [name for name in models if name in matrix.models]
    matrix = matrix.select_models(known).select_items(ids)
    with_responses = _marked(known, np.any(matrix.answered(), axis=1))
    silent = [name for name in models if name not in with_responses]
    if silent:
        return Finding.idle(rule, n, "not_run", f"no {what} for {_some_of(models, silent)}")
    agree, probability = _agreement(matrix, doing)
    lacking = np.any(agree, axis=1) & np.all(np.isnan(probability), axis=1)
    if params.confidence is not None and lacking.any():
        without = _some_of(models, _marked(models, lacking))
        reason = f"no probabilities where {doing}, from {without}"
        return Finding.idle(rule, n, "not_run", reason)
    answered = matrix.answered()
    judged = np.all(answered, axis=0)
    sure = agree
    if params.confidence is not None:
        sure = agree & (probability.astype(np.float32) > np.float32(params.confidence))
        unknown = agree & np.isnan(probability)
        judged &= ~np.all(sure | unknown, axis=0) | ~np.any(unknown, axis=0)
    flagged = judged & np.all(sure, axis=0)
    lowest = np.fmin.reduce(probability, axis=0).astype(np.float64)
    detail = [""] * n
    for column in np.flatnonzero(flagged):
        detail[column] = f"all {len(models)} filter models {doing}"
        if not np.isnan(lowest[column]):
            detail[column] += f", lowest probability {lowest[column]:.3f}"
    for column in np.flatnonzero(~judged):
        silent = _marked(models, ~answered[:, column])
        detail[column] = "unknown probability"
        if silent:
            detail[column] = f"no response from {_some_of(models, silent)}"
    return Finding(
        rule,
        "ran",
        reason="",
        judged=judged,
        flagged=flagged,
        removed=flagged,
        value=lowest,
        detail=tuple(detail),
    )


def _marked(models: Sequence[str], marks: Bools) -> list[str]:
    return [name for name, marked in zip(models, marks, strict=True) if marked]


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


def listed(names: Sequence[str]) -> str:
    """Return the names separated by commas, the first eight of many."""
    shown = ", ".join(names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} more"


def _some_of(names: Sequence[str], some: Sequence[str]) -> str:
    """Return the number of filter models, and their names unless it is all of them."""
    count = f"{len(some)} of {len(names)} filter models"
    return count if len(some) == len(names) else f"{count}: {listed(some)}"
