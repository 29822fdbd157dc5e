"""Standard errors of scores that AIPW estimates from few items and the responses of other models.

Half of the models train the estimator and the other half are asked, both ways, so the errors are
those of models that it has not seen.
"""

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.array_types import AnyFloats
from benchwright.core.seeding import stage_generator
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.errors import (
    RANDOM,
    advise,
    estimator_errors,
)
from benchwright.methods.dele.estimation.forward_evidence import FEWEST_ITEMS, judge_unequal
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
_MOST_COMPARED = 200  # models on which estimators are compared
_COMPARED_DRAWS = 20
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
    reason: str  # why items are drawn so


def fewest_items(responses: Training, seed: int, wanted: float, most: int) -> Predicted | None:
    """Find the draw with the fewest items, below `most`, for a standard error of AIPW.

    None if no draw needs fewer items or holds the coverage of its intervals.
    """
    correct = responses.correct
    clusters = responses.clusters
    chosen = stage_generator(seed, "plan/halves").permutation(len(correct))[:_MOST_MODELS]
    first = correct[chosen[::2]]
    second = correct[chosen[1::2]]
    halves = [(Training(first, clusters), second), (Training(second, clusters), first)]
    forward = judge_unequal(Training(correct[np.sort(chosen)], clusters), seed)
    found = []
    for sampler in ("random", "unequal") if forward.passed else ("random",):
        at = lru_cache(maxsize=None)(partial(_error_and_coverage, halves, seed, sampler))
        low = FEWEST_ITEMS if sampler == "unequal" else 2
        high = most - 1
        if high < low or at(high)[0] > wanted:
            continue
        while high > max(low + 1, low * _STEP):
            middle = round((low * high) ** 0.5)
            if at(middle)[0] <= wanted:
                high = middle
            else:
                low = middle
        error, coverage = at(high)
        if coverage >= _LEAST_COVERAGE:
            found.append(Predicted(high, sampler, error, coverage, reason=forward.reason))
    return min(found, key=lambda each: each.items, default=None)


def _error_and_coverage(
    halves: list[tuple[Training, AnyFloats]], seed: int, sampler: str, k: int
) -> tuple[float, float]:
    """Return the median model's standard error and the coverage at k items."""
    errors = []
    inside = []
    for number, (training, asked) in enumerate(halves):
        generator = stage_generator(seed, f"plan/draws/{number}")
        truth = np.nanmean(asked, axis=1, dtype=np.float64)
        spread = response_spread(training.filled)
        inclusion = inclusion_probabilities(spread, k, UNIFORM_SHARE)
        se = []
        for _ in range(_DRAWS):
            order = generator.permutation(training.items)
            start = generator.random()
            subset = WeightedSubset.equal(order[:k])
            if sampler == "unequal":
                places = systematic_draw(inclusion, order, start)
                subset = WeightedSubset.drawn(places, inclusion[places])
            estimate = ESTIMATORS[ESTIMATOR].fit(training, subset, seed)
            found = estimate(asked[:, subset.positions])
            se.append(found.se)
            inside.append((found.low <= truth + 1e-9) & (truth <= found.high + 1e-9))
        errors.append(np.mean(se, axis=0))
    return np.median(np.concatenate(errors)), np.concatenate(inside).mean()


def which_estimators(correct: AnyFloats, k: int, seed: int) -> str:
    """Say what to use for ranks and for scores from k items, as models left out show.

    A random half of at most 200 models, and the stronger half, are estimated from the others.
    "" with fewer than ten models or four items.
    """
    chosen = stage_generator(seed, "plan/halves").permutation(len(correct))[:_MOST_COMPARED]
    if len(chosen) < FEWEST_MODELS or correct.shape[1] < 4:
        return ""
    values = Training(correct[chosen]).filled
    ranked = values[np.argsort(values.mean(axis=1), kind="stable")]
    middle = len(chosen) // 2
    generator = stage_generator(seed, "plan/estimators")
    orders = [generator.permutation(correct.shape[1]) for _ in range(_COMPARED_DRAWS)]
    subsets = [WeightedSubset.equal(order[:k]) for order in orders]
    rows = []
    plain = np.nan  # the squared error of the mean, which comes first
    for panel, pool in {"other models": values, "stronger models": ranked}.items():
        training = Training(pool[:middle])
        for name in ("mean", ESTIMATOR, "ridge"):
            found, _ = estimator_errors(name, training, subsets, pool[middle:], seed=seed)
            plain = found["squared"] if name == "mean" else plain
            rows.append(
                {
                    "subset": RANDOM,
                    "estimator": name,
                    "panel": panel,
                    "coverage": found["coverage"],
                    "tau_b": found["tau_b"],
                    "effective_by_error": plain / found["squared"] if found["squared"] else np.nan,
                    "reason": "",
                }
            )
    advice = advise(pd.DataFrame(rows))
    return f"With {k:,} items: {advice}" if advice else ""
