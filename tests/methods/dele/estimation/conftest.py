"""Responses simulated from a two-parameter model with known truth."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.fitted import Estimates
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import Training
from benchwright.statistics.item_response import probability

Float = NDArray[np.float64]
Run = Callable[..., Estimates]


class Simulated(NamedTuple):
    """Responses of training models (m, n) and of new ones (r, n) from one population."""

    training: NDArray[np.float32]
    new: Float


def simulate(models: int, new: int, items: int, seed: int, shift: float = 0.0) -> Simulated:
    """New models are better by `shift` standard deviations of ability."""
    rng = np.random.default_rng(seed)
    ability = np.concatenate([rng.normal(size=models), rng.normal(shift, 1, new)])
    slope = np.exp(rng.normal(0.2, 0.4, items))
    p = probability(ability, slope, rng.normal(-0.5, 1.2, items))
    answers = (rng.random(p.shape) < p).astype(np.float32)
    return Simulated(answers[:models], answers[models:].astype(np.float64))


@pytest.fixture(scope="session")
def simulated() -> Simulated:
    return simulate(200, 300, 120, seed=1)


@pytest.fixture(scope="session")
def prepared(simulated: Simulated) -> Training:
    return Training(simulated.training)


def estimate(
    name: str,
    training: Training,
    subset: WeightedSubset,
    answers: Float,
    level: float = 0.95,
) -> Estimates:
    """Return estimates from the responses to the subset among those to all items."""
    fitted = ESTIMATORS[name].fit(training, subset, 0)
    return fitted(answers[:, subset.positions], level)


@pytest.fixture(scope="session")
def run() -> Run:
    return estimate


@pytest.fixture(scope="session")
def simulation() -> Callable[..., Simulated]:
    return simulate
