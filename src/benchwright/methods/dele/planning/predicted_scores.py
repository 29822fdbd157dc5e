"""Standard errors of scores that AIPW estimates from few items and the responses of other models.

Half of the models train the estimator and the other half are asked, both ways, so the errors are
those of models that it has not seen.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import Training
from benchwright.statistics.unequal_draws import (
    UNIFORM_SHARE,
    inclusion_probabilities,
    response_spread,
    systematic_draw,
)

ESTIMATOR = "aipw"
FEWEST_MODELS = 10
_MOST_MODELS = 400
_DRAWS = 10
_STEP = 1.05
# With a true coverage of .95, and draws that are common to all models.
_LEAST_COVERAGE = 0.93


class Predicted(NamedTuple):
    """The number of items for a standard error, with the sampler that draws them."""

    items: int
    sampler: str  # random or unequal
    standard_error: float  # of the median model
    coverage: float  # of its 95% intervals


class PredictedScores:
    """Errors of AIPW on draws of any number of items."""

    def __init__(
        self, correct: NDArray[np.floating], clusters: NDArray[np.integer], seed: int
    ) -> None:
        chosen = stage_generator(seed, "plan/halves").permutation(len(correct))[:_MOST_MODELS]
        first, second = correct[chosen[::2]], correct[chosen[1::2]]
        self._seed = seed
        self._halves = [
            (Training(training, clusters), asked)
            for training, asked in ((first, second), (second, first))
        ]
        self.at = lru_cache(maxsize=None)(self._at)

    def fewest(self, wanted: float, most: int) -> Predicted | None:
        """Find the draw with the fewest items, below `most`, for a standard error.

        None if no draw needs fewer items or holds the coverage of its intervals.
        """
        found = [self._fewest(sampler, wanted, most) for sampler in ("random", "unequal")]
        return min(filter(None, found), key=lambda each: each.items, default=None)

    def _fewest(self, sampler: str, wanted: float, most: int) -> Predicted | None:
        low, high = 2, most - 1
        if high < low or self.at(sampler, high)[0] > wanted:
            return None
        while high > max(low + 1, low * _STEP):
            middle = round((low * high) ** 0.5)
            low, high = (low, middle) if self.at(sampler, middle)[0] <= wanted else (middle, high)
        error, coverage = self.at(sampler, high)
        return Predicted(high, sampler, error, coverage) if coverage >= _LEAST_COVERAGE else None

    def _at(self, sampler: str, k: int) -> tuple[float, float]:
        """Return the median model's standard error and the coverage at k items."""
        errors, inside = [], []
        for number, (training, asked) in enumerate(self._halves):
            generator = stage_generator(self._seed, f"plan/draws/{number}")
            truth, n = np.nanmean(asked, axis=1, dtype=np.float64), asked.shape[1]
            spread = response_spread(training.filled.mean(axis=0), len(training.filled))
            inclusion = inclusion_probabilities(spread, k, UNIFORM_SHARE)
            se = []
            for _ in range(_DRAWS):
                order, start = generator.permutation(n), float(generator.random())
                if sampler == "random":
                    subset = WeightedSubset.equal(order[:k])
                else:
                    places = systematic_draw(inclusion, order, start)
                    subset = WeightedSubset.drawn(places, inclusion[places])
                fitted = ESTIMATORS[ESTIMATOR].fit(training, subset, self._seed)
                found = fitted(asked[:, subset.positions])
                se.append(found.se)
                inside.append((found.low <= truth + 1e-9) & (truth <= found.high + 1e-9))
            errors.append(np.mean(se, axis=0))
        return float(np.median(np.concatenate(errors))), float(np.concatenate(inside).mean())
