"""The answers of the filter models: all of them, or a reason why there are none to use."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix

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
