"""Evidence whether an unequal draw is safe for models stronger than those it is fitted to.

Items that training models answer alike are drawn seldom, so that a stronger model's other responses
to them weigh much. The strongest training models are therefore estimated from the weaker ones, by
both kinds of draws.
"""

from typing import NamedTuple

import numpy as np

from benchwright.core.array_types import Floats, Places
from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.estimation.item_predictions import difference_estimate, same_order
from benchwright.methods.dele.estimation.training import Training
from benchwright.statistics.unequal_draws import (
    UNIFORM_SHARE,
    inclusion_probabilities,
    response_spread,
    systematic_draw,
)

# Shares of the models, by score: the weaker ones that are learnt from, and those left below the
# stronger ones that judge.
_CUTS = ((0.5, 0.75), (0.7, 0.7))
_RATES = (0.05, 0.2)  # of the items
_DRAWS = 50
_JUDGES = 80
FEWEST_MODELS = 10
FEWEST_ITEMS = 10
"""Fewer items are drawn with equal probabilities."""
_WORTH = 1.05  # least variance of random draws ÷ that of unequal ones, on any cut
_COVERED = 0.93  # least coverage of 95% intervals, on any cut
_LEVEL = 0.95


class ForwardEvidence(NamedTuple):
    """How unequal draws did on the strongest training models, at their worst cut and rate."""

    worth: float  # variance of random draws ÷ that of unequal ones; NaN without a test
    coverage: float  # of their 95% intervals

    @property
    def passed(self) -> bool:
        """Whether unequal draws are worth their risk."""
        return self.worth >= _WORTH and self.coverage >= _COVERED

    @property
    def reason(self) -> str:
        """Why items are drawn so, in words."""
        if np.isnan(self.worth):
            return "random: too few models or items to judge unequal draws"
        kind = "unequal" if self.passed else "random"
        return (
            f"{kind}: on the strongest of these models an item drawn unequally is worth "
            f"{self.worth:.2f} random ones, coverage {self.coverage:.1%}"
        )


def judge_unequal(training: Training, seed: int) -> ForwardEvidence:
    """Judge unequal draws by training models that are stronger than those they learn from."""
    m = len(training.scores)
    values = training.filled
    nothing = ForwardEvidence(np.nan, np.nan)
    if m < FEWEST_MODELS or training.items <= FEWEST_ITEMS:
        return nothing
    # Orders that do not depend on those of rows and columns.
    ranked = np.lexsort((np.round(values @ training.item_means, 6), np.round(training.scores, 9)))
    items = same_order(values)
    found = []
    for weaker, below in _CUTS:
        judges = ranked[round(below * m) :]
        judges = judges[training.nearly_complete[judges]]
        if not len(judges):
            continue
        truth = values[judges[:: -(-len(judges) // _JUDGES)]].astype(np.float64)
        learnt = Training(training.correct[np.sort(ranked[: round(weaker * m)])])
        found += [_compare(learnt, truth, items, rate, seed) for rate in _RATES]
    if not found:
        return nothing
    worth, coverage = np.min(found, axis=0).tolist()
    return ForwardEvidence(worth, coverage)


def _compare(
    training: Training, truth: Floats, items: Places, rate: float, seed: int
) -> ForwardEvidence:
    """Compare both draws on the responses `truth` (r, n) of the models that judge.

    The caution of estimates is a margin that unequal draws must not need.
    """
    n = truth.shape[1]
    k = max(FEWEST_ITEMS, round(rate * n))
    generator = stage_generator(seed, f"estimation.forward/{k}")
    by_spread = inclusion_probabilities(response_spread(training.filled), k, UNIFORM_SHARE)
    variances = []
    for inclusion in (np.full(n, k / n), by_spread):
        predictor = training.predictor(k, inclusion is by_spread, seed)
        squared = []
        inside = []
        for _ in range(_DRAWS):
            order = items[generator.permutation(n)]
            places = systematic_draw(inclusion, order, generator.random())
            found = difference_estimate(
                predictor, places, inclusion[places], truth[:, places], cautious=False
            )
            squared.append(found.se**2)
            inside.append(np.abs(found.score - truth.mean(axis=1)) <= found.reach(_LEVEL) + 1e-9)
        variances.append(float(np.mean(squared)))
    # `inside` is that of the unequal draws.
    return ForwardEvidence(variances[0] / max(variances[1], 1e-12), float(np.mean(inside)))
