"""Items that tell models apart best."""

import numpy as np
from numpy.typing import NDArray

from benchwright.methods.dele.samplers.answers import (
    filled_answers,
    required_answers,
    two_parameter_fit,
)
from benchwright.methods.dele.samplers.once_per_pool import OncePerPool
from benchwright.methods.dele.samplers.pool import Draw, Sampler, SamplingPool
from benchwright.methods.dele.samplers.ranking import order_by, prefixes
from benchwright.params.anchors import AnchorParams

Float = NDArray[np.float64]

_DECIMALS = 9  # finer differences are rounding, and would break ties


def discrimination_sampler(params: AnchorParams) -> Sampler:
    """The most discriminating items first; items without answers last.

    By default the correlation of an item with the score on the others. It favours items of middling
    difficulty, and orders models better than the slope of the two-parameter model, which is high
    also for items that almost every model, or none, gets right (docs/sampling.md). Either way the
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

    Args:
        correct: (m, n) in [0, 1], NaN where there is no answer.
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
