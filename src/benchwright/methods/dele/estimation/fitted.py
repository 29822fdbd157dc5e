"""The interface of estimators, with checks, missing responses and the bounds of scores."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.calibration import possible
from benchwright.methods.dele.estimation.training import PreparedTraining, Training
from benchwright.params.sampling import EstimationParams

Float = NDArray[np.float64]


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


@dataclass(frozen=True)
class Task:
    """A subset of items and the training models from which to estimate scores."""

    prepared: PreparedTraining
    subset: WeightedSubset
    seed: int
    params: EstimationParams

    @property
    def places(self) -> NDArray[np.intp]:
        return self.subset.positions

    @property
    def equal(self) -> bool:
        """Whether all items have equal weights."""
        weights = self.subset.weights
        return bool(np.allclose(weights, 1 / len(weights)))

    @property
    def drawn_unequal(self) -> bool:
        """Whether items were drawn with known, unequal probabilities."""
        return self.subset.inclusion is not None

    @property
    def inclusion(self) -> Float | None:
        """Probabilities (k,) that the items were drawn; None for weights of another origin."""
        if self.subset.inclusion is not None:
            return self.subset.inclusion
        k = len(self.places)
        return np.full(k, k / self.prepared.items) if self.equal else None

    @property
    def rest(self) -> float:
        """Share of the benchmark's items that are not in the subset."""
        return 1 - len(self.places) / self.prepared.items


Learn = Callable[[Task], FromComplete]


@dataclass(frozen=True)
class SubsetEstimator:
    """An estimator of scores from subsets; one `PreparedTraining` serves several subsets."""

    learn: Learn
    params: EstimationParams

    def __call__(
        self, training: Training | PreparedTraining, subset: WeightedSubset, seed: int
    ) -> "FittedSubset":
        """Fit to a subset; `seed` assigns the training models to folds.

        Raises:
            InputError: the training or the subset is invalid.
        """
        if isinstance(training, Training):
            training = PreparedTraining(training, self.params)
        checked_subset(subset, training.items)
        task = Task(training, subset, seed, self.params)
        return FittedSubset(self.learn, task, self.learn(task))


class EstimatorKind(NamedTuple):
    """An estimator in the registry, and the training data that it uses."""

    learn: Learn
    uses: Literal["nothing", "item_response", "responses"]

    def make(self, params: EstimationParams) -> SubsetEstimator:
        """Return the estimator with a run's settings."""
        return SubsetEstimator(self.learn, params)


@dataclass(frozen=True)
class FittedSubset:
    """An estimator fitted to its training models and its subset."""

    learn: Learn
    task: Task
    complete: FromComplete

    def __call__(self, responses: NDArray[np.floating], level: float = 0.95) -> Estimates:
        """Estimate scores from responses (r, k) in [0, 1] to the subset's items, NaN if missing.

        Responses are assumed to be missing at random.

        Raises:
            InputError: the responses do not have k columns or are not in [0, 1], or `level` is not
                in (0, 1).
        """
        values = _checked_responses(responses, len(self.task.places), level)
        out = np.full((4, len(values)), np.nan)
        notes = [""] * len(values)
        for gaps, rows in _patterns(np.isnan(values)):
            out[:, rows], texts = self._alike(
                values[np.ix_(rows, np.flatnonzero(~gaps))], gaps, level
            )
            for row, note in zip(rows, texts, strict=True):
                notes[row] = note
        score, low, high, se = out
        return Estimates(score, low, high, se, tuple(notes))

    def _alike(
        self, responses: Float, gaps: NDArray[np.bool_], level: float
    ) -> tuple[Float, list[str]]:
        if gaps.all():
            return np.full((4, len(responses)), np.nan), ["no responses"] * len(responses)
        learnt, gap_note = self.complete, ""
        if gaps.any():
            learnt = self.learn(_without(self.task, gaps))
            gap_note = f"{int(gaps.sum())} of {len(gaps)} responses are missing (assumed at random)"
        estimates = learnt(responses, level)
        n = self.task.prepared.items
        known = responses.shape[1] == n
        limits = possible(responses, n)
        bounds = [np.clip(bound, *limits) for bound in (estimates.low, estimates.high)]
        values = np.stack([estimates.score, *bounds])
        se = np.where(known, 0.0, estimates.se)
        if known:
            values[:] = responses.mean(axis=1)
        notes = [
            "; ".join(filter(None, (gap_note, "" if known else note))) for note in estimates.reason
        ]
        return np.concatenate([values, se[None]]), notes


def _patterns(missing: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.intp]]]:
    """Yield each pattern of missing responses (k,) with its rows."""
    if not missing.any():
        yield np.zeros(missing.shape[1], dtype=np.bool_), np.arange(len(missing))
        return
    patterns, pattern = np.unique(missing, axis=0, return_inverse=True)
    for number, gaps in enumerate(patterns):
        yield gaps, np.flatnonzero(pattern.ravel() == number)


def checked_subset(subset: WeightedSubset, n: int) -> None:
    """Raise InputError unless positions are distinct and in 0…n−1, and weights sum to 1."""
    places, weights, inclusion = subset
    if not len(places):
        raise InputError("the subset has no items; at least one is required")
    if places.min() < 0 or places.max() >= n:
        wrong = places[(places < 0) | (places >= n)][0]
        raise InputError(f"the subset has position {wrong}; positions must be from 0 to {n - 1}")
    if len(np.unique(places)) < len(places):
        raise InputError("the subset contains an item twice")
    if len(weights) != len(places) or (weights < 0).any() or not np.isclose(weights.sum(), 1):
        raise InputError(
            f"the subset of {len(places)} items has {len(weights)} weights with sum "
            f"{weights.sum():.4g}; it must have one non-negative weight per item, with sum 1"
        )
    if inclusion is not None:
        wrong = (inclusion <= 0) | (inclusion > 1) | np.isnan(inclusion)
        if len(inclusion) != len(places) or wrong.any():
            raise InputError(
                f"the subset of {len(places)} items has {len(inclusion)} inclusion probabilities, "
                f"{int(wrong.sum())} of them not in (0, 1]; it must have one per item"
            )


def _without(task: Task, gaps: NDArray[np.bool_]) -> Task:
    places, weights = task.subset.positions[~gaps], task.subset.weights[~gaps]
    inclusion = task.subset.inclusion
    if inclusion is not None:
        # A response is missing with the same probability for every item.
        answered = inclusion[~gaps] * float(np.mean(~gaps))
        left = WeightedSubset.drawn(places, answered)
        return Task(task.prepared, left, task.seed, task.params)
    total = weights.sum()
    left = WeightedSubset(places, weights / total) if total > 0 else WeightedSubset.equal(places)
    return Task(task.prepared, left, task.seed, task.params)


def _checked_responses(responses: NDArray[np.floating], k: int, level: float) -> Float:
    values = np.asarray(responses, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != k:
        raise InputError(f"responses have the shape {values.shape}; it must be (models, {k})")
    outside = (values < 0) | (values > 1)
    if outside.any():
        model, item = np.argwhere(outside)[0]
        raise InputError(
            f"responses: model {model}, item {item} of the subset has {values[model, item]}; "
            "values must be from 0 to 1 or NaN"
        )
    if not 0 < level < 1:
        raise InputError(f"level is {level}; it must be between 0 and 1")
    return values
