"""Ridge regression over models, from responses to a subset to the mean of the other items.

It shrinks towards the weighted mean of the subset instead of the mean of the training models, so
that models better than all of these are not biased.
"""

import numpy as np

from benchwright.core.array_types import Bools, Floats, Places
from benchwright.methods.dele.estimation.calibration import Predict, Rule, past_errors
from benchwright.methods.dele.estimation.fitted import FromComplete, Task, undefined
from benchwright.methods.dele.estimation.training import Training
from benchwright.methods.dele.estimation.weighted import with_past_errors

# Penalties per training model; responses have a variance of at most ¼.
_PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


def learn_ridge(task: Task) -> FromComplete:
    """Fit the ridge with the penalty of the least squared error on left-out training models.

    Folds (typical new models) and the best models (better new models) have equal weight.
    """
    if task.training.nearly_complete.sum() < 2:
        return undefined("fewer than two training models answered nearly all items")
    from threadpoolctl import threadpool_limits

    rules = [ridge_rule(task.subset.weights, penalty) for penalty in _PENALTIES]
    with threadpool_limits(limits=1):  # several threads are slower
        losses = [_loss(task, rule) for rule in rules]
        return with_past_errors(task, rules[np.argmin(losses)])


def ridge_rule(weights: Floats, penalty: float) -> Rule:
    """Return the rule: mean outside = responses · (weights + w) + intercept, w penalised."""

    def rule(training: Training, rows: Bools | None, places: Places) -> Predict:
        known = training.nearly_complete if rows is None else training.nearly_complete & rows
        share = len(places) / training.items
        if not known.any() or share == 1:
            return lambda responses: responses @ weights
        seen = training.filled[np.ix_(known, places)].astype(np.float64)
        others = (training.scores[known] - share * seen.mean(axis=1)) / (1 - share)
        extra = others - seen @ weights
        centre = seen.mean(axis=0)
        level = extra.mean()
        centred = seen - centre
        gram = centred.T @ centred + penalty * len(seen) * np.eye(len(places))
        slope = weights + np.linalg.solve(gram, centred.T @ (extra - level))
        start = level - centre @ (slope - weights)
        return lambda responses: (
            share * responses.mean(axis=1) + (1 - share) * (responses @ slope + start)
        )

    return rule


def _loss(task: Task, rule: Rule) -> float:
    past = past_errors(task.training, task.places, task.seed, rule)
    parts = [past.across.error, past.forward.error]
    return float(sum(np.mean(part**2) for part in parts if len(part)))
