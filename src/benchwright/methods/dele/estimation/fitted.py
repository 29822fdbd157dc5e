"""The interface of estimators, with missing responses and the bounds of scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from benchwright.core.array_types import AnyFloats, Bools, Floats, Places
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.calibration import join_notes, possible
from benchwright.methods.dele.estimation.training import Training

_ROUNDING = 1e-9


class Estimates(NamedTuple):
    """Scores on the full benchmark of r models, as shares."""

    score: Floats  # (r,) in [0, 1], except those of AIPW, which `shown` limits
    low: Floats  # (r,) lower bound of the interval
    high: Floats  # (r,) upper bound
    se: Floats  # (r,) standard error
    reason: Sequence[str]  # r texts: why metrics are NaN, or a caveat; "" otherwise

    @property
    def shown(self) -> Floats:
        """The scores (r,), limited to the interval, whose bounds are possible scores.

        This makes AIPW nearer to the truth, but no longer unbiased.
        """
        return np.fmax(np.fmin(self.score, self.high), self.low)


FromComplete = Callable[[Floats, float], Estimates]
"""Estimates from complete responses (r, k), at a level."""


@dataclass(frozen=True)
class Task:
    """A subset of items and the training models from which to estimate scores."""

    training: Training
    subset: WeightedSubset
    seed: int  # assigns training models to folds

    @property
    def places(self) -> Places:
        return self.subset.positions

    @property
    def equal(self) -> bool:
        """Whether all items have equal weights."""
        weights = self.subset.weights
        return bool(np.allclose(weights, 1 / len(weights)))

    @property
    def inclusion(self) -> Floats | None:
        """Probabilities (k,) that the items were drawn; None for weights of another origin."""
        if self.subset.inclusion is not None:
            return self.subset.inclusion
        k = len(self.places)
        return np.full(k, k / self.training.items) if self.equal else None

    @property
    def unequal(self) -> bool:
        """Whether the items were drawn with unequal known probabilities."""
        inclusion = self.subset.inclusion
        return inclusion is not None and bool(np.ptp(inclusion) > _ROUNDING)

    @property
    def rest(self) -> float:
        """Share of the benchmark's items that are not in the subset."""
        return 1 - len(self.places) / self.training.items

    def without(self, gaps: Bools) -> "Task":
        """Return the task of the items without gaps (k,)."""
        places = self.places[~gaps]
        if self.subset.inclusion is not None:
            # A response is missing with the same probability for every item.
            answered = self.subset.inclusion[~gaps] * np.mean(~gaps)
            return replace(self, subset=WeightedSubset.drawn(places, answered))
        weights = self.subset.weights[~gaps]
        total = weights.sum()
        if total > 0:
            return replace(self, subset=WeightedSubset(places, weights / total))
        return replace(self, subset=WeightedSubset.equal(places))


Learn = Callable[[Task], FromComplete]


class EstimatorKind(NamedTuple):
    """An estimator, and the training data that it uses."""

    learn: Learn
    uses: Literal["nothing", "item_response", "responses"]

    def fit(self, training: Training, subset: WeightedSubset, seed: int) -> "FittedSubset":
        """Fit to a subset; one `Training` serves several subsets and estimators."""
        task = Task(training, subset, seed)
        return FittedSubset(self.learn, task, self.learn(task))


@dataclass(frozen=True)
class FittedSubset:
    """An estimator fitted to its training models and its subset."""

    learn: Learn
    task: Task
    complete: FromComplete

    def __call__(self, responses: AnyFloats, level: float = 0.95) -> Estimates:
        """Estimate scores from responses (r, k) in [0, 1] to the subset's items, NaN if missing.

        Responses are assumed to be missing at random.
        """
        values = np.asarray(responses, dtype=np.float64)
        numbers = np.empty((4, len(values)))
        reason = np.empty(len(values), dtype=object)
        patterns, pattern = np.unique(np.isnan(values), axis=0, return_inverse=True)
        for number, gaps in enumerate(patterns):
            rows = pattern.ravel() == number
            found = self._alike(values[np.ix_(rows, ~gaps)], gaps, level)
            numbers[:, rows] = found[:4]
            reason[rows] = found.reason
        score, low, high, se = numbers
        return Estimates(score, low, high, se=se, reason=tuple(reason))

    def _alike(self, responses: Floats, gaps: Bools, level: float) -> Estimates:
        """Estimate scores of models that miss the same responses."""
        if gaps.all():
            return undefined("no responses")(responses, level)
        n = self.task.training.items
        learnt = self.complete
        gap_note = ""
        if gaps.any():
            learnt = self.learn(self.task.without(gaps))
            gap_note = f"{gaps.sum()} of {len(gaps)} responses are missing (assumed at random)"
        if responses.shape[1] == n:
            mean = responses.mean(axis=1)
            reason = [gap_note] * len(mean)
            return Estimates(mean, mean, mean, se=np.zeros(len(mean)), reason=reason)
        found = learnt(responses, level)
        limits = possible(responses, n)
        return found._replace(
            low=np.clip(found.low, *limits),
            high=np.clip(found.high, *limits),
            reason=[join_notes(gap_note, note) for note in found.reason],
        )


def undefined(reason: str) -> FromComplete:
    """Return an estimator that returns NaN with a reason."""

    def estimate(responses: Floats, level: float) -> Estimates:
        blank = np.full(len(responses), np.nan)
        return Estimates(blank, blank, blank, se=blank, reason=[reason] * len(responses))

    return estimate
