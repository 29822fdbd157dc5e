"""The weighted mean of the subset: anchor points count as much as the items they stand for."""

import numpy as np
from numpy.typing import NDArray

from benchwright.methods.dele.estimation.calibration import (
    Predict,
    Rule,
    calibrated_reach,
    past_errors,
    possible,
)
from benchwright.methods.dele.estimation.fitted import FromComplete, Task, Unbounded
from benchwright.methods.dele.estimation.plain_mean import learn_mean
from benchwright.methods.dele.estimation.training import PreparedTraining, Rows

Float = NDArray[np.float64]

# Of like models 91–99% lie in the 95% intervals with 133 training models, 64–93% with 16.
_MANY_MODELS = 200


def weighted_rule(weights: Float) -> Rule:
    """The weighted mean; there is nothing to learn."""

    def rule(prepared: PreparedTraining, rows: Rows | None, places: NDArray[np.intp]) -> Predict:
        return lambda answers: np.asarray(answers @ weights)

    return rule


def learn_weighted(task: Task) -> FromComplete:
    """Equal weights are the plain mean; for others the interval comes from training models."""
    if task.equal:
        return learn_mean(task)
    return with_past_errors(task, weighted_rule(task.subset.weights))


def with_past_errors(task: Task, rule: Rule) -> FromComplete:
    """A rule fitted to all training models, with an interval from its errors on left-out ones."""
    predict = rule(task.prepared, None, task.places)
    past = past_errors(task.prepared, task.places, task.seed, rule)
    note = _chosen_by_few(task)

    def estimate(answers: Float, level: float) -> Unbounded:
        score = np.clip(predict(answers), *possible(answers, task.prepared.items))
        reach = calibrated_reach(past, score, task.prepared.items, level, task.params.neighbours)
        notes = ["; ".join(text for text in (each, note) if text) for each in reach.note]
        return Unbounded(score, score - reach.half, score + reach.half, reach.se, notes)

    return estimate


def _chosen_by_few(task: Task) -> str:
    """A warning: few models fit the anchors that they chose much better than new models do."""
    models = int(task.prepared.judges.sum())
    if task.equal or models >= _MANY_MODELS:
        return ""
    return f"if these {models} training models chose the anchors, the interval is too narrow"
