"""The answers that choose items, made ready for it."""

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.methods.dele.samplers.once_per_pool import OncePerPool
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.statistics.item_response import ItemResponse, fit_2pl

Float = NDArray[np.float64]


def required_answers(pool: SamplingPool, sampler: str) -> NDArray[np.float32]:
    """(m, n) answers of the selection models, some of them not NaN.

    Raises:
        InputError: there are none.
    """
    if pool.correct.shape != (len(pool.correct), len(pool)) or np.isnan(pool.correct).all():
        raise InputError(
            f"sampler {sampler} reads answers of models, and the pool of {len(pool):,} items has "
            "none; import answers (docs/responses.md) or leave the sampler out"
        )
    return pool.correct


def filled_answers(correct: NDArray[np.float32]) -> Float:
    """(m, n) with what is missing put at the item's mean; without any answer at the overall one."""
    known = ~np.isnan(correct)
    right = np.where(known, correct, 0).astype(np.float64)
    asked = known.sum(axis=0)
    overall = right.sum() / known.sum()
    means = np.where(asked > 0, right.sum(axis=0) / np.maximum(asked, 1), overall)
    out: Float = np.where(known, right, means)
    return out


def share_wrong(correct: NDArray[np.float32]) -> Float:
    """(n,) share of wrong answers to each item, half a right and half a wrong one added.

    So no share is 0 or 1; an item without answers has 1/2.
    """
    known = ~np.isnan(correct)
    wrong = np.where(known, 1 - correct, 0).sum(axis=0, dtype=np.float64)
    out: Float = (wrong + 0.5) / (known.sum(axis=0) + 1)
    return out


two_parameter_fit: OncePerPool[ItemResponse] = OncePerPool(
    lambda pool: fit_2pl(pool.correct), reads="answers"
)
"""The two-parameter model of a pool's answers, fitted once for all samplers that read it."""
