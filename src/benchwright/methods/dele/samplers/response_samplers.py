"""Samplers that read responses: by discrimination, share of wrong ones, or disagreement."""

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms, stage_generator
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.forward_evidence import FEWEST_ITEMS, judge_unequal
from benchwright.methods.dele.estimation.training import Training
from benchwright.methods.dele.samplers.pool import (
    Draw,
    SamplingPool,
    once_per_pool,
    order_by,
    prefixes,
    random_order,
)
from benchwright.statistics.item_response import fit_2pl
from benchwright.statistics.unequal_draws import (
    UNIFORM_SHARE,
    inclusion_probabilities,
    response_spread,
    systematic_draw,
)

Float = NDArray[np.float64]


def require_responses(pool: SamplingPool, sampler: str) -> None:
    """Raise InputError if the pool has no responses."""
    if pool.correct.shape != (len(pool.correct), len(pool)) or np.isnan(pool.correct).all():
        raise InputError(
            f"sampler {sampler} reads responses, but the pool of {len(pool):,} items has none; "
            "import responses (docs/how_to/bring_responses.md) or remove the sampler"
        )


def filled_responses(correct: NDArray[np.float32]) -> Float:
    """Fill missing responses (m, n) with the item's mean, or the overall mean without responses."""
    known = ~np.isnan(correct)
    right = np.where(known, correct, 0).astype(np.float64)
    asked = known.sum(axis=0)
    overall = right.sum() / known.sum()
    means = np.where(asked > 0, right.sum(axis=0) / np.maximum(asked, 1), overall)
    return np.asarray(np.where(known, right, means))


def share_wrong(correct: NDArray[np.float32]) -> Float:
    """Return the share (n,) of wrong responses to each item, with 1/2 added to wrong and right.

    No share is 0 or 1; an item without responses has 1/2.
    """
    known = ~np.isnan(correct)
    wrong = np.where(known, 1 - correct, 0).sum(axis=0, dtype=np.float64)
    return np.asarray((wrong + 0.5) / (known.sum(axis=0) + 1))


two_parameter_fit = once_per_pool(lambda pool: fit_2pl(pool.correct))
"""The two-parameter model of a pool's responses, fitted once for all samplers."""


_DECIMALS = 9  # smaller differences are rounding errors, which would break ties


def discrimination_sampler(pool: SamplingPool, seed: int) -> Draw:
    """Draw the items with the highest `rest_score_correlations` first; items without any come last.

    This favours items of medium difficulty and ranks models better than the slope of the
    two-parameter model. The mean of the chosen items does not estimate scores.
    """
    require_responses(pool, "discrimination")
    values = _discrimination_of(pool).tolist()
    return prefixes(order_by(values, pool, seed, "discrimination", highest_first=True))


def rest_score_correlations(correct: NDArray[np.float32]) -> Float:
    """Correlate each item (n,) with the mean over the other items (Pearson).

    Missing responses are the item's mean in the scores, and are left out of the item's correlation.
    NaN if fewer than three models answered or all responses are equal.

    `correct` is (m, n) in [0, 1], NaN if missing.
    """
    known = ~np.isnan(correct)
    responses = filled_responses(correct)
    n = responses.shape[1]
    rest = (responses.sum(axis=1, keepdims=True) - responses) / max(n - 1, 1)
    count = known.sum(axis=0)
    x, y = (_centred(values, known, count) for values in (responses, rest))
    spread = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    defined = (count >= 3) & (spread > 1e-12)
    out: Float = np.where(defined, (x * y).sum(axis=0) / np.where(defined, spread, 1), np.nan)
    return np.round(out, _DECIMALS)


def _centred(values: Float, known: NDArray[np.bool_], count: NDArray[np.intp]) -> Float:
    """Centre the known values of each column; unknown values are 0."""
    means = np.where(known, values, 0).sum(axis=0) / np.maximum(count, 1)
    return np.asarray(np.where(known, values - means, 0))


_discrimination_of = once_per_pool(lambda pool: rest_score_correlations(pool.correct))
_wrong_of = once_per_pool(lambda pool: share_wrong(pool.correct))


def share_wrong_sampler(pool: SamplingPool, seed: int) -> Draw:
    """Draw items without replacement, with weights w that are their shares of wrong responses.

    They are sorted by log(u)/w, where u is a hash of seed and id in (0, 1) (Efraimidis & Spirakis
    2006). Items have equal weights in the score, so scores on the subset are lower than on all.
    """
    require_responses(pool, "share_wrong")
    weights = _wrong_of(pool)
    uniforms = 1 - item_uniforms(seed, "sampling.share_wrong", pool.item_ids)  # never 0
    ids = np.array(pool.item_ids, dtype=object)
    return prefixes(np.lexsort((ids, -np.log(uniforms) / weights)))


forward_evidence_of = once_per_pool(lambda pool: judge_unequal(Training(pool.correct), 0))
"""The test of unequal draws on the strongest models of a pool."""
_spread_of = once_per_pool(lambda pool: response_spread(filled_responses(pool.correct)))


def unequal_sampler(pool: SamplingPool, seed: int) -> Draw:
    """Draw items with known probabilities, larger where models disagree about an item.

    The part that is not uniform is proportional to `response_spread`. If the strongest models of
    the pool, estimated from the weaker, show that this is not worth its risk, all probabilities are
    equal. Subsets do not nest.
    """
    require_responses(pool, "unequal")
    order = random_order(pool, seed, "unequal")
    start = float(stage_generator(seed, "sampling.unequal").random())
    passed = forward_evidence_of(pool).passed

    def draw(size: int) -> WeightedSubset:
        share = UNIFORM_SHARE if passed and size >= FEWEST_ITEMS else 1.0
        inclusion = inclusion_probabilities(_spread_of(pool), size, share)
        positions = systematic_draw(inclusion, order, start)
        return WeightedSubset.drawn(positions, inclusion[positions])

    return draw
