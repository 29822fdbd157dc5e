"""Performance-IRT: the answers seen, and what a two-parameter model expects of the others.

tinyBenchmarks (Polo et al. 2024, 2402.14992, section 4.2) with one ability per model, fitted by
`benchwright.statistics.item_response`, and the ability's whole posterior in place of its maximum.
"""

import numpy as np
from numpy.typing import NDArray

from benchwright.methods.dele.estimation.calibration import Predict, Rule
from benchwright.methods.dele.estimation.fitted import FromComplete, Task, Unbounded
from benchwright.methods.dele.estimation.training import PreparedTraining, Rows
from benchwright.methods.dele.estimation.weighted import with_past_errors

Float = NDArray[np.float64]


def p_irt_rule(prepared: PreparedTraining, rows: Rows | None, places: NDArray[np.intp]) -> Predict:
    """k/n · mean of the answers + (1 − k/n) · mean expected answer to the other items."""
    curves = prepared.curves(rows)
    share = len(places) / prepared.items

    def predict(answers: Float) -> Float:
        return share * answers.mean(axis=1) + (1 - share) * curves.expected(places, answers).mean

    return predict


def learn_p_irt(task: Task) -> FromComplete:
    """The interval comes from errors on training models, or from the model itself."""
    curves = task.prepared.curves()
    if curves.reason:
        return impossible(f"no two-parameter model of the training answers: {curves.reason}")
    rule: Rule = p_irt_rule
    if task.params.interval == "model":
        return _with_own_interval(task)
    return with_past_errors(task, rule)


def _with_own_interval(task: Task) -> FromComplete:
    from scipy.special import ndtri

    curves = task.prepared.curves()

    def estimate(answers: Float, level: float) -> Unbounded:
        expected = curves.expected(task.places, answers)
        score = (1 - task.rest) * answers.mean(axis=1) + task.rest * expected.mean
        se = task.rest * expected.se
        reach = float(ndtri((1 + level) / 2)) * se
        return Unbounded(score, score - reach, score + reach, se, [""] * len(score))

    return estimate


def impossible(reason: str) -> FromComplete:
    """An estimator that has nothing to say but why."""

    def estimate(answers: Float, level: float) -> Unbounded:
        blank = np.full(len(answers), np.nan)
        return Unbounded(blank, blank, blank, blank, [reason] * len(answers))

    return estimate
