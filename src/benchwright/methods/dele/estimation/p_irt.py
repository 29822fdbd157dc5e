"""p-IRT and gp-IRT of tinyBenchmarks (Polo et al. 2024, 2402.14992, section 4.2).

p-IRT combines the observed responses with the expected responses to the other items under a
two-parameter model; here with one ability per model, and the posterior of the ability instead of
its maximum. gp-IRT mixes the weighted mean, unbiased with variance v, and p-IRT with its mean
squared error b². The weight of the mean is λ = b² / (v + b²), optimal if errors are independent.
"""

import numpy as np

from benchwright.core.array_types import Bools, Floats, Places
from benchwright.methods.dele.estimation.calibration import Predict, past_errors
from benchwright.methods.dele.estimation.fitted import FromComplete, Task, undefined
from benchwright.methods.dele.estimation.training import Training
from benchwright.methods.dele.estimation.weighted import with_past_errors


def p_irt_rule(training: Training, rows: Bools | None, places: Places) -> Predict:
    """Predict k/n · mean response + (1 − k/n) · mean expected response to the other items."""
    curves = training.curves(rows)
    share = len(places) / training.items

    def predict(responses: Floats) -> Floats:
        expected = curves.expected(places, responses)
        return share * responses.mean(axis=1) + (1 - share) * expected

    return predict


def learn_p_irt(task: Task) -> FromComplete:
    """Fit p-IRT, with an interval from errors on training models."""
    if reason := task.training.curves().reason:
        return undefined(f"no two-parameter model of the training responses: {reason}")
    return with_past_errors(task, p_irt_rule)


def learn_gp_irt(task: Task) -> FromComplete:
    """Fit gp-IRT, with λ from the errors on left-out training models."""
    if reason := task.training.curves().reason:
        return undefined(f"no two-parameter model of the training responses: {reason}")
    share = mixture(task)

    def rule(training: Training, rows: Bools | None, places: Places) -> Predict:
        expected = p_irt_rule(training, rows, places)
        return lambda responses: (
            share * (responses @ task.subset.weights) + (1 - share) * expected(responses)
        )

    return with_past_errors(task, rule)


def mixture(task: Task) -> float:
    """Compute λ in [0, 1], the weight of the mean, for a subset.

    b² is the mean squared error of p-IRT on left-out training models with this subset, v the
    variance of random draws, (1 − k/n)·S²/k, a mean over training models, or for anchor points the
    mean squared error of the weighted mean. The paper takes b from other items, and a quarter of
    S²/k for anchors. Without errors λ is ½.
    """
    past = past_errors(task.training, task.places, task.seed, p_irt_rule).across.error
    if not len(past):
        return 0.5
    squared = np.mean(past**2)
    values = task.training.filled[task.training.nearly_complete].astype(np.float64)
    if task.equal:
        variance = values.var(axis=1, ddof=1).mean() * task.rest / len(task.places)
    else:
        error = values[:, task.places] @ task.subset.weights - values.mean(axis=1)
        variance = np.mean(error**2)
    total = variance + squared
    return squared / total if total > 0 else 0.5
