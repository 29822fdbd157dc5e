"""What may be told of a model on the closed half: accuracies of groups, never of an item."""

from collections.abc import Callable, Sequence
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.methods.mmlu_cf.sealing.seal import SealedBenchmark, SealedItem
from benchwright.statistics.paired_differences import clustered_se

Scorer = Callable[[Sequence[SealedItem]], Sequence[float | None]]
"""How right a model is on each item, 0–1 in their order; None where it gave no answer."""

OTHER = "other fields"


class GroupScore(NamedTuple):
    """One group: items with an answer, accuracy 0–1, its standard error over clusters."""

    name: str
    n: int
    accuracy: float
    se: float


class SealedScore(NamedTuple):
    """A model on the closed half.

    Attributes:
        whole: all fields.
        fields: those with enough items; the others together.
        unanswered: items without an answer.
        reason: why accuracies are withheld, or "".
    """

    whole: GroupScore
    fields: tuple[GroupScore, ...]
    unanswered: int
    reason: str = ""


def evaluate_sealed(sealed: SealedBenchmark, scorer: Scorer, min_group: int) -> SealedScore:
    """Score a model on the closed half and tell aggregates only.

    A field is told by itself where at least `min_group` of its items were answered. The others are
    told together, with the smallest of the large ones where they are too few even so: otherwise
    the difference to the whole would tell them. With fewer answers in all, nothing is told.

    Raises:
        InputError: the scorer gave another number of answers, or one outside 0–1.
    """
    told = list(scorer(sealed.items))
    if len(told) != len(sealed.items):
        raise InputError(
            f"evaluate-sealed: the scorer gave {len(told)} answers to {len(sealed.items)} items"
        )
    correct = np.array([nan if one is None else float(one) for one in told], dtype=np.float64)
    known = correct[~np.isnan(correct)]
    if ((known < 0) | (known > 1)).any():
        raise InputError("evaluate-sealed: the scorer gave an answer outside 0–1")
    unanswered = len(correct) - len(known)
    if len(known) < min_group:
        reason = f"{len(known)} answers; accuracies of fewer than {min_group} are not told"
        return SealedScore(GroupScore("all", len(known), nan, nan), (), unanswered, reason)
    _, clusters = np.unique([item.cluster for item in sealed.items], return_inverse=True)
    whole = _score("all", correct, clusters, np.ones(len(correct), dtype=np.bool_))
    field = np.array([item.field for item in sealed.items], dtype=object)
    groups = _groups(field, ~np.isnan(correct), min_group)
    fields = tuple(_score(name, correct, clusters, np.isin(field, own)) for name, own in groups)
    return SealedScore(whole, fields, unanswered)


def _groups(
    field: NDArray[np.object_], answered: NDArray[np.bool_], min_group: int
) -> list[tuple[str, list[str]]]:
    """The name and the fields of each group that is told; none where there would be one."""
    sizes = {name: int((answered & (field == name)).sum()) for name in sorted(set(field))}
    small = [name for name, size in sizes.items() if size < min_group]
    large = sorted((name for name in sizes if name not in small), key=lambda one: (sizes[one], one))
    while small and sum(sizes[name] for name in small) < min_group and large:
        small.append(large.pop(0))
    groups = [(name, [name]) for name in sorted(large)]
    return [*groups, (OTHER, small)] if small else groups


def _score(
    name: str,
    correct: NDArray[np.float64],
    clusters: NDArray[np.integer],
    members: NDArray[np.bool_],
) -> GroupScore:
    values = correct[members]
    error = float(clustered_se(values[None, :], clusters[members])[0])
    return GroupScore(name, int((~np.isnan(values)).sum()), float(np.nanmean(values)), error)
