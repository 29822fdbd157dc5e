"""The interface of estimators, with missing responses and the bounds of scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.calibration import possible
from benchwright.methods.dele.estimation.training import Training

Float = NDArray[np.float64]

_ROUNDING = 1e-9


class Estimates(NamedTuple):
    """Scores on the full benchmark of r models, as shares."""

    score: Float  # (r,) in [0, 1], except those of AIPW, which `shown` limits
    low: Float  # (r,) lower bound of the interval
    high: Float  # (r,) upper bound
    se: Float  # (r,) standard error
    reason: Sequence[str]  # r texts: why metrics are NaN, or a caveat; "" otherwise

    @property
    def shown(self) -> Float:
        """The scores (r,), limited to the interval, whose bounds are possible scores.

        This makes AIPW nearer to the truth, but no longer unbiased.
        """
        return np.asarray(np.fmax(np.fmin(self.score, self.high), self.low))


FromComplete = Callable[[Float, float], Estimates]
"""Estimates from complete responses (r, k), at a level."""


@dataclass(frozen=True)
class Task:
    """A subset of items and the training models from which to estimate scores."""

    training: Training
    subset: WeightedSubset
    seed: int  # assigns training models to folds
    paired: bool = False  # responses are (1 + B − A)/2 of two models, for which no item is easy

    @property
    def places(self) -> NDArray[np.intp]:
        return self.subset.positions

    @property
    def equal(self) -> bool:
        """Whether all items have equal weights."""
        weights = self.subset.weights
        return bool(np.allclose(weights, 1 / len(weights)))

    @property
    def inclusion(self) -> Float | None:
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

    def without(self, gaps: NDArray[np.bool_]) -> "Task":
        """Return the task of the items without gaps (k,)."""
        places, weights = self.places[~gaps], self.subset.weights[~gaps]
        if self.subset.inclusion is not None:
            # A response is missing with the same probability for every item.
            answered = self.subset.inclusion[~gaps] * float(np.mean(~gaps))
            return replace(self, subset=WeightedSubset.drawn(places, answered))
        total = weights.sum()
        left = WeightedSubset(places, weights / total) if total > 0 else None
        return replace(self, subset=left or WeightedSubset.equal(places))


Learn = Callable[[Task], FromComplete]


class EstimatorKind(NamedTuple):
    """An estimator, and the training data that it uses."""

    learn: Learn
    uses: Literal["nothing", "item_response", "responses"]

    def fit(
        self, training: Training, subset: WeightedSubset, seed: int, *, paired: bool = False
    ) -> "FittedSubset":
        """Fit to a subset; one `Training` serves several subsets and estimators."""
        task = Task(training, subset, seed, paired)
        return FittedSubset(self.learn, task, self.learn(task))


@dataclass(frozen=True)
class FittedSubset:
    """An estimator fitted to its training models and its subset."""

    learn: Learn
    task: Task
    complete: FromComplete

    def __call__(self, responses: NDArray[np.floating], level: float = 0.95) -> Estimates:
        """Estimate scores from responses (r, k) in [0, 1] to the subset's items, NaN if missing.

        Responses are assumed to be missing at random.
        """
        values = np.asarray(responses, dtype=np.float64)
        out = np.full((4, len(values)), np.nan)
        notes = np.full(len(values), "", dtype=object)
        patterns, pattern = np.unique(np.isnan(values), axis=0, return_inverse=True)
        for number, gaps in enumerate(patterns):
            rows = np.flatnonzero(pattern.ravel() == number)
            own = values[np.ix_(rows, np.flatnonzero(~gaps))]
            out[:, rows], notes[rows] = self._alike(own, gaps, level)
        score, low, high, se = out
        return Estimates(score, low, high, se, tuple(notes))

    def _alike(
        self, responses: Float, gaps: NDArray[np.bool_], level: float
    ) -> tuple[Float, list[str]]:
        """Estimate scores of models that miss the same responses."""
        if gaps.all():
            return np.full((4, len(responses)), np.nan), ["no responses"] * len(responses)
        learnt, gap_note = self.complete, ""
        if gaps.any():
            learnt = self.learn(self.task.without(gaps))
            gap_note = f"{int(gaps.sum())} of {len(gaps)} responses are missing (assumed at random)"
        if responses.shape[1] == self.task.training.items:
            mean = responses.mean(axis=1)
            return np.stack([mean, mean, mean, np.zeros(len(mean))]), [gap_note] * len(mean)
        found = learnt(responses, level)
        limits = possible(responses, self.task.training.items)
        low, high = (np.clip(bound, *limits) for bound in (found.low, found.high))
        notes = ["; ".join(filter(None, (gap_note, note))) for note in found.reason]
        return np.stack([found.score, low, high, found.se]), notes
