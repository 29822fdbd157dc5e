"""Augmented inverse propensity weighting (AIPW): predicted responses with a bias correction.

After "How Benchmark Prediction from Fewer Data Misses the Mark" (Zhang et al. 2025, 2506.07673);
here items fall back to their own difficulty instead of one constant, the penalty is chosen on
left-out training models, and items may be drawn with unequal known probabilities.
"""

import numpy as np
from numpy.typing import NDArray

from benchwright.methods.dele.estimation.fitted import (
    Estimates,
    EstimatorKind,
    FromComplete,
    Task,
)
from benchwright.methods.dele.estimation.item_predictions import (
    ItemPredictor,
    tuned_predictor,
)
from benchwright.methods.dele.estimation.p_irt import undefined
from benchwright.methods.dele.estimation.training import Training
from benchwright.methods.dele.estimation.weighted import (
    by_design,
    learn_mean,
    unlike_random,
)


def learn_aipw(task: Task) -> FromComplete:
    """Fit AIPW to items that were drawn with known probabilities."""
    if not len(task.training.scores) or task.rest <= 0:
        return learn_mean(task)
    if task.inclusion is None:
        return undefined("aipw needs items that were drawn with known probabilities")
    predictor = predictor_of(task.training, len(task.places), task.unequal, task.seed)
    if task.paired:
        predictor = predictor._replace(offset=np.full(task.training.items, 0.5))
    estimate = by_design(predictor, task.places, task.inclusion, unlike_random(task))
    return estimate if task.paired else _mean_where_alike(estimate, learn_mean(task))


def aipw_with(predictor: ItemPredictor) -> EstimatorKind:
    """Return AIPW whose predictor of the n items is fitted already; it needs no training models."""

    def learn(task: Task) -> FromComplete:
        if task.inclusion is None or task.rest <= 0:
            return learn_mean(task)
        estimate = by_design(predictor, task.places, task.inclusion, "")
        return _mean_where_alike(estimate, learn_mean(task))

    return EstimatorKind(learn, "nothing")


def _mean_where_alike(estimate: FromComplete, mean: FromComplete) -> FromComplete:
    """Return the estimate, but the mean's where a model's responses are all equal.

    Their residuals can place both bounds outside the possible scores.
    """

    def chosen(responses: NDArray[np.float64], level: float) -> Estimates:
        found = estimate(responses, level)
        alike = np.ptp(responses, axis=1) == 0
        if not alike.any():
            return found
        both = zip(mean(responses, level)[:4], found[:4], strict=True)
        score, low, high, se = (np.where(alike, *values) for values in both)
        return Estimates(score, low, high, se, found.reason)

    return chosen


def predictor_of(training: Training, k: int, unequal: bool, seed: int) -> ItemPredictor:
    """Return the predictor for k items, tuned once per number and kind of draw."""
    known = training.predictors
    key = (k, unequal, seed)
    if key not in known:
        fold = training.folds(seed)
        groups = [fold == part for part in np.unique(fold[fold >= 0])]
        known[key] = tuned_predictor(
            training.filled,
            training.nearly_complete,
            [*groups, training.best],
            max(k, 2),
            unequal,
            seed,
        )
    return known[key]
