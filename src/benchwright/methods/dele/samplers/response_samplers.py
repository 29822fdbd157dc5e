"""Samplers that read responses: by pass rate, share of wrong responses, or disagreement."""

import numpy as np
from numpy.typing import NDArray

from benchwright.core.array_types import Floats
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
from benchwright.statistics.unequal_draws import (
    UNIFORM_SHARE,
    inclusion_probabilities,
    response_spread,
    systematic_draw,
)


def require_responses(pool: SamplingPool, sampler: str) -> None:
    """Raise InputError if the pool has no responses."""
    if pool.correct.shape != (len(pool.correct), len(pool)) or np.isnan(pool.correct).all():
        raise InputError(
            f"sampler {sampler} reads responses, but the pool of {len(pool):,} items has none; "
            "import responses (docs/how_to/bring_responses.md) or remove the sampler"
        )


def share_wrong(correct: NDArray[np.float32]) -> Floats:
    """Return the share (n,) of wrong responses to each item, with 1/2 added to wrong and right.

    No share is 0 or 1; an item without responses has 1/2.
    """
    known = ~np.isnan(correct)
    wrong = np.where(known, 1 - correct, 0).sum(axis=0, dtype=np.float64)
    return (wrong + 0.5) / (known.sum(axis=0) + 1)


_wrong_of = once_per_pool(lambda pool: share_wrong(pool.correct))
_MIDDLE = 0.2  # reach of medium pass rates around 0.5


def pass_rate_sampler(pool: SamplingPool, seed: int) -> Draw:
    """Draw items that 30–70% of the models solve at random, then the others nearest to this.

    They tell models apart that are like those that choose (2603.23749), but not stronger ones. The
    mean of the chosen items does not estimate scores.
    """
    require_responses(pool, "pass_rate")
    outside = np.round(np.maximum(np.abs(_wrong_of(pool) - 0.5) - _MIDDLE, 0), 9).tolist()
    return prefixes(order_by(outside, pool, seed, "pass_rate", highest_first=False))


def share_wrong_sampler(pool: SamplingPool, seed: int) -> Draw:
    """Draw items without replacement, with weights w that are their shares of wrong responses.

    They are sorted by log(u)/w, where u is a hash of seed and id in (0, 1) (Efraimidis & Spirakis
    2006). Items have equal weights in the score, so scores on the subset are lower than on all.
    """
    require_responses(pool, "share_wrong")
    weights = _wrong_of(pool)
    uniforms = 1 - item_uniforms(seed, "sampling.share_wrong", pool.item_ids)  # never 0
    return prefixes(np.lexsort((pool.ids, -np.log(uniforms) / weights)))


forward_evidence_of = once_per_pool(lambda pool: judge_unequal(Training(pool.correct), 0))
"""The test of unequal draws on the strongest models of a pool."""
_spread_of = once_per_pool(lambda pool: response_spread(Training(pool.correct).filled))


def unequal_sampler(pool: SamplingPool, seed: int) -> Draw:
    """Draw items with known probabilities, larger where models disagree about an item.

    The part that is not uniform is proportional to `response_spread`. If the strongest models of
    the pool, estimated from the weaker, show that this is not worth its risk, all probabilities are
    equal. Subsets do not nest.
    """
    require_responses(pool, "unequal")
    order = random_order(pool, seed, "unequal")
    start = stage_generator(seed, "sampling.unequal").random()
    passed = forward_evidence_of(pool).passed

    def draw(size: int) -> WeightedSubset:
        share = UNIFORM_SHARE if passed and size >= FEWEST_ITEMS else 1.0
        inclusion = inclusion_probabilities(_spread_of(pool), size, share)
        positions = systematic_draw(inclusion, order, start)
        return WeightedSubset.drawn(positions, inclusion[positions])

    return draw
