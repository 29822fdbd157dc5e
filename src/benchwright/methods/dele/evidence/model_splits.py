"""Which models may choose items or samplers, and which judge the choice."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.core.seeding import item_uniforms


class ModelSplit(NamedTuple):
    """Places of models, sorted: those that choose and those that judge."""

    selection: NDArray[np.intp]  # (a,) places of the models that choose
    held_out: NDArray[np.intp]  # (b,) places of the others


def split_by_family(
    models: Sequence[str], families: Sequence[str], share: float, seed: int
) -> ModelSplit:
    """Whole families at random until `share` of the m models choose; the rest judge.

    Families are taken in a seeded order and one that would pass the share goes to the other side,
    so that a large family does not fill a side by itself. Independent of the order of models.

    `share` (0–1) is that of the models that choose; a model whose family nobody knows is one by
    itself.
    """
    names = np.asarray(families, dtype=object)
    distinct = sorted(set(map(str, families)))
    order = np.argsort(item_uniforms(seed, "model_split", distinct), kind="stable")
    wanted, taken = share * len(models), 0
    chosen: set[str] = set()
    for place in order.tolist():
        size = int((names == distinct[place]).sum())
        if taken + size <= wanted or not taken:
            chosen.add(distinct[place])
            taken += size
    choose = np.array([family in chosen for family in map(str, families)], dtype=bool)
    return ModelSplit(np.flatnonzero(choose), np.flatnonzero(~choose))


def split_forward(models: Sequence[str], scores: ArrayLike, share: float) -> ModelSplit:
    """The weaker `share` of the models choose, the stronger ones judge; ties by name."""
    values = np.asarray(scores, dtype=np.float64)
    order = np.lexsort((np.asarray(models, dtype=object).astype(str), values))
    cut = round(share * len(order))
    return ModelSplit(np.sort(order[:cut]), np.sort(order[cut:]))


def every_nth_of_the_best(
    models: Sequence[str], scores: ArrayLike, best: int = 1_000, step: int = 20
) -> NDArray[np.intp]:
    """Places of the paper's panel: every `step`-th of the `best` models by score (DELE, 3.1.1).

    The first is the best one; ties by name; models without a score are passed over.
    """
    values = np.asarray(scores, dtype=np.float64)
    order = np.lexsort((np.asarray(models, dtype=object).astype(str), -values))
    known = order[~np.isnan(values[order])]
    return known[:best:step]
