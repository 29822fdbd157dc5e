"""Augmented inverse propensity weighting (AIPW): predicted responses with a bias correction.

The method is that of "How Benchmark Prediction from Fewer Data Misses the Mark" (Zhang et al. 2025,
2506.07673). A ridge regression of the new model's responses on the training models' responses to
the same items predicts its responses to the other items. The mean residual on the subset corrects
the mean prediction. Residuals are those of items left out of the regression, since in-sample
residuals are too small. The score is then exactly unbiased, however bad the predictions are: its
mean over all subsets of a size is the score on all items. This holds for the score itself, for
subsets of equal weights that were all equally likely, and for a model that answered all of their
items. It does not hold for `Estimates.shown`, for anchor points, or for responses that are missing
otherwise than at random.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.methods.dele.estimation.calibration import Predict
from benchwright.methods.dele.estimation.fitted import Estimates, FromComplete, Task
from benchwright.methods.dele.estimation.training import PreparedTraining, Rows
from benchwright.methods.dele.estimation.weighted import learn_mean, unlike_random, with_past_errors

Float = NDArray[np.float64]

# A regression that leaves one item out needs two others.
_FEWEST_ITEMS = 3


class Smoother(NamedTuple):
    """A ridge regression with intercept over items, as linear weights of the responses."""

    inside: Float  # (k, k) weights of the responses in the predictions for the subset's items
    outside: Float  # (k,) weights of the responses in the mean prediction for the other items
    rest: float  # share of the items outside the subset

    def estimate(self, responses: Float, weights: Float) -> tuple[Float, Float]:
        """Estimate scores (r,) and standard errors from responses (r, k) and residual weights (k,).

        The weights are 1/k for random subsets. The score is k/n · mean response + (1 − k/n) · (mean
        prediction outside + mean residual). Predictions and residuals are means over regressions
        that each leave out one item of the subset.
        """
        k = responses.shape[1]
        residual = (responses - responses @ self.inside.T) / (1 - np.diag(self.inside))
        # Leaving item i out subtracts its weight times its left-out residual from predictions.
        predicted = responses @ self.outside - residual @ self.outside / k
        mean = residual @ weights
        score = (1 - self.rest) * responses.mean(axis=1) + self.rest * (predicted + mean)
        se = np.sqrt(residual.var(axis=1, ddof=1) * self.rest / k)
        return score, se


def learn_aipw(task: Task) -> FromComplete:
    """Fit AIPW; the interval of a random subset (equal weights) needs no training models.

    Unequal weights (anchor points) weight the residuals, and the interval comes from errors on
    training models.
    """
    places, n = task.places, task.prepared.items
    by_mean = learn_mean(task)
    if len(places) < _FEWEST_ITEMS or len(places) == n:
        return by_mean
    if not task.equal:

        def rule(
            prepared: PreparedTraining, rows: Rows | None, places: NDArray[np.intp]
        ) -> Predict:
            chosen = prepared.filled if rows is None else prepared.filled[rows]
            learnt = smoother(chosen.T, places, task.params.penalty)
            return lambda responses: learnt.estimate(responses, task.subset.weights)[0]

        return with_past_errors(task, rule)
    learnt = smoother(task.prepared.filled.T, places, task.params.penalty)
    note = unlike_random(task)

    def estimate(responses: Float, level: float) -> Estimates:
        from scipy.special import stdtrit

        k = responses.shape[1]
        score, se = learnt.estimate(responses, task.subset.weights)
        reach = float(stdtrit(k - 1, (1 + level) / 2)) * se
        estimates = Estimates(score, score - reach, score + reach, se, [note] * len(score))
        # Equal responses have no residuals: the score is their mean, the interval that of `mean`.
        constant = responses.max(axis=1) == responses.min(axis=1)
        if not constant.any():
            return estimates
        plain = by_mean(responses, level)
        low, high, se = (
            np.where(constant, mean, other)
            for mean, other in zip(plain[1:4], estimates[1:4], strict=True)
        )
        return Estimates(score, low, high, se, estimates.reason)

    return estimate


def smoother(features: NDArray[np.floating], places: NDArray[np.intp], penalty: float) -> Smoother:
    """Fit the ridge to item features (n, m), with penalty `penalty` · m and a free intercept."""
    n, m = features.shape
    k = len(places)
    rows = features[places].astype(np.float64)
    centre = rows.mean(axis=0)
    rows = rows - centre
    outside = np.ones(n, dtype=np.bool_)
    outside[places] = False
    other = features[outside].mean(axis=0, dtype=np.float64) - centre
    kernel = rows @ rows.T
    solved = np.linalg.inv(kernel + penalty * max(m, 1) * np.eye(k))
    return Smoother(
        _with_intercept(kernel @ solved), _with_intercept((other @ rows.T) @ solved), 1 - k / n
    )


def _with_intercept(weights: Float) -> Float:
    """Convert weights of centred responses to weights of responses, with the intercept."""
    k = weights.shape[-1]
    return np.asarray(weights - weights.mean(axis=-1, keepdims=True) + 1 / k)
