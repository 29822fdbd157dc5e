"""Which items to ask a model, and when to stop: a policy that knows nothing of models or files.

The draw depends on the seed, the ids and the training models only, so that every model is asked the
same items in the same order. Items of its own for each model would cost agreement of ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.core.seeding import item_uniforms
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import Training
from benchwright.statistics.fixed_width import Looks, looks_at_widths

Float = NDArray[np.float64]

_STAGE = "ask"


class Goal(NamedTuple):
    """When to stop: after `budget` items, or at an interval of `width`, whichever comes first."""

    budget: int | None
    width: float | None
    level: float = 0.95


class Look(NamedTuple):
    """The estimate after some items: share of right answers, bounds, standard error, caveat."""

    asked: int
    score: float
    low: float
    high: float
    se: float
    reason: str


class Asked(NamedTuple):
    """Positions (k,) in the order of asking, responses (k,) in [0, 1] or NaN, and past looks."""

    places: NDArray[np.intp]
    responses: Float
    looks: tuple[Look, ...] = ()

    @classmethod
    def nothing(cls) -> "Asked":
        """Return the state before the first item."""
        return cls(np.empty(0, dtype=np.intp), np.empty(0))


@dataclass(frozen=True)
class AskingPolicy:
    """Proposes items and judges the responses; see `asking_policy`."""

    training: Training
    order: NDArray[np.intp]
    looks: Looks
    width: float | None
    seed: int

    @property
    def estimator(self) -> str:
        """The name of the estimator in the registry."""
        return "aipw" if len(self.training.scores) else "mean"

    def propose(self, state: Asked) -> NDArray[np.intp] | None:
        """Return the positions (b,) of the items to ask next, None where the goal is reached."""
        done = len(state.looks)
        if done == len(self.looks.sizes):
            return None
        if self.width is not None and done:
            last = state.looks[-1]
            if last.high - last.low <= self.width:
                return None
        return self.order[len(state.places) : self.looks.sizes[done]]

    def observe(self, state: Asked, asked: NDArray[np.intp], responses: ArrayLike) -> Asked:
        """Return the state with responses (b,) to items and the estimate from all so far."""
        places = np.concatenate([state.places, asked])
        known = np.concatenate([state.responses, np.asarray(responses, dtype=np.float64)])
        subset = WeightedSubset.equal(places)
        fitted = ESTIMATORS[self.estimator].fit(self.training, subset, self.seed)
        found = fitted(known[None, :], self.looks.level)
        score, low, high, se = (
            float(value[0]) for value in (found.shown, found.low, found.high, found.se)
        )
        look = Look(len(places), score, low, high, se, found.reason[0])
        return Asked(places, known, (*state.looks, look))


def asking_policy(
    item_ids: Sequence[str], training: Training, goal: Goal, seed: int
) -> AskingPolicy:
    """Return the policy for a benchmark of n items, in any order.

    With a width one looks several times, at a level that holds where one stops
    (`statistics.fixed_width`); with a budget alone, once. `training` may have no models; `seed` is
    of the order of the items, and of the estimator.
    """
    n = len(item_ids)
    uniforms = item_uniforms(seed, _STAGE, item_ids)
    order = np.lexsort((np.array(item_ids, dtype=object).astype(str), uniforms))
    budget = n if goal.budget is None else min(goal.budget, n)
    looks = Looks((budget,), goal.level)
    if goal.width is not None:
        looks = looks_at_widths(goal.width, n, goal.level, budget)
    return AskingPolicy(training, order, looks, goal.width, seed)
