"""Samplers that read answers: by discrimination, and by difficulty (DELE, 3.2 and 4.2)."""

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.methods.dele.samplers.pool import (
    Draw,
    OncePerPool,
    Sampler,
    SamplingPool,
    order_by,
    prefixes,
)
from benchwright.params.sampling import AnchorParams
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
            "none; import answers (docs/how_to/bring_responses.md) or leave the sampler out"
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


_DECIMALS = 9  # finer differences are rounding, and would break ties


def discrimination_sampler(params: AnchorParams) -> Sampler:
    """The most discriminating items first; items without answers last.

    By default the correlation of an item with the score on the others. It favours items of middling
    difficulty, and orders models better than the slope of the two-parameter model, which is high
    also for items that almost every model, or none, gets right. Either way the
    mean of the chosen items is not that of all: the sampler ranks models, it does not estimate
    scores.
    """

    def fit(pool: SamplingPool) -> Float:
        if params.discrimination == "2pl":
            return np.round(two_parameter_fit(pool).discrimination, _DECIMALS)
        return rest_score_correlations(pool.correct)

    values_of = OncePerPool(fit, "answers")

    def sample(pool: SamplingPool, seed: int) -> Draw:
        required_answers(pool, "discrimination")
        values = values_of(pool)
        return prefixes(order_by(values.tolist(), pool, seed, "discrimination", highest_first=True))

    return sample


def rest_score_correlations(correct: NDArray[np.float32]) -> Float:
    """(n,) Pearson's correlation of each item with the mean over the model's other items.

    Without the item itself in the score, which would correlate with any noise in it. What is
    missing is put at the item's mean for the scores, and left out of the item's correlation. NaN
    where fewer than three models answered or all answered alike.

    `correct` is (m, n) in [0, 1], NaN where there is no answer.
    """
    known = ~np.isnan(correct)
    answers = filled_answers(correct)
    n = answers.shape[1]
    rest = (answers.sum(axis=1, keepdims=True) - answers) / max(n - 1, 1)
    count = known.sum(axis=0)
    x, y = (_centred(values, known, count) for values in (answers, rest))
    spread = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    defined = (count >= 3) & (spread > 1e-12)
    out: Float = np.where(defined, (x * y).sum(axis=0) / np.where(defined, spread, 1), np.nan)
    return np.round(out, _DECIMALS)


def _centred(values: Float, known: NDArray[np.bool_], count: NDArray[np.intp]) -> Float:
    """Values less the mean of those that are known in a column, 0 where not known."""
    means = np.where(known, values, 0).sum(axis=0) / np.maximum(count, 1)
    out: Float = np.where(known, values - means, 0)
    return out


def share_wrong_sampler(params: AnchorParams) -> Sampler:
    """Each next item is drawn with a chance in proportion to its share of wrong answers.

    Without replacement: items in order of log(u)/w, u a hash of seed and id in (0, 1), w the share
    to the power `hardness` (Efraimidis & Spirakis 2006). Items count alike, so scores fall: the
    sampler is to set models apart, not to estimate what they score on all items.
    """

    def sample(pool: SamplingPool, seed: int) -> Draw:
        weights = share_wrong(required_answers(pool, "share_wrong")) ** params.hardness
        uniforms = 1 - item_uniforms(seed, "sampling.share_wrong", pool.item_ids)  # never 0
        ids = np.array(pool.item_ids, dtype=object)
        return prefixes(np.lexsort((ids, -np.log(uniforms) / weights)))

    return sample
