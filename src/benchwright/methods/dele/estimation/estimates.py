"""What an estimator gives back, and what one is."""

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.training import PreparedTraining, Training
from benchwright.params.estimation import EstimationParams

Float = NDArray[np.float64]


class Estimates(NamedTuple):
    """Scores on the full benchmark of r models, in [0, 1].

    Attributes:
        score: (r,)
        low: (r,) lower bound of the interval.
        high: (r,) upper bound.
        se: (r,) standard error.
        reason: r texts: why figures are NaN, or what to bear in mind; "" otherwise.
    """

    score: Float
    low: Float
    high: Float
    se: Float
    reason: tuple[str, ...]


class FittedEstimator(Protocol):
    """An estimator that knows its training models and its subset."""

    def __call__(self, answers: NDArray[np.floating], level: float = 0.95) -> Estimates:
        """From answers (r, k) in [0, 1] to the subset's items in its order, NaN where missing.

        What a model did not answer is taken to be missing at random.

        Raises:
            InputError: the answers do not have k columns or leave [0, 1]; `level` is not in (0, 1).
        """
        ...


class Estimator(Protocol):
    """A way to estimate scores; pass a prepared training where there are several subsets."""

    def __call__(
        self, training: Training | PreparedTraining, subset: WeightedSubset, seed: int
    ) -> FittedEstimator:
        """Do once what all new models share; `seed` deals the training models into folds.

        Raises:
            InputError: the training or the subset makes no sense (positions outside, twice, none).
        """
        ...


class EstimatorKind(NamedTuple):
    """An estimator by its name in the registry.

    Attributes:
        make: the estimator with a run's settings.
        uses: what it takes from training models: "nothing", "item_response" or "answers".
        interval: what its interval rests on: the "design" (the subset was drawn at random), or
            errors on "training" models (that new models are like).
    """

    make: Callable[[EstimationParams], Estimator]
    uses: Literal["nothing", "item_response", "answers"]
    interval: Literal["design", "training"]
