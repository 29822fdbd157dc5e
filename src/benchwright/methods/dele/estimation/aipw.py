"""Augmented inverse propensity weighting (AIPW): predicted responses with a bias correction.

After "How Benchmark Prediction from Fewer Data Misses the Mark" (Zhang et al. 2025, 2506.07673);
here items fall back to their own difficulty instead of one constant, the penalty is chosen on
left-out training models, and items may be drawn with unequal known probabilities.
"""

import numpy as np

from benchwright.core.array_types import Floats
from benchwright.methods.dele.estimation.fitted import (
    Estimates,
    EstimatorKind,
    FromComplete,
    Task,
    undefined,
)
from benchwright.methods.dele.estimation.item_predictions import ItemPredictor
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
    predictor = task.training.predictor(len(task.places), task.unequal, task.seed)
    estimate = by_design(predictor, task.places, task.inclusion, unlike_random(task))
    return _mean_where_alike(estimate, learn_mean(task))


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

    def chosen(responses: Floats, level: float) -> Estimates:
        found = estimate(responses, level)
        alike = np.ptp(responses, axis=1) == 0
        if not alike.any():
            return found
        plain = mean(responses, level)
        return found._replace(
            score=np.where(alike, plain.score, found.score),
            low=np.where(alike, plain.low, found.low),
            high=np.where(alike, plain.high, found.high),
            se=np.where(alike, plain.se, found.se),
        )

    return chosen
