"""Predicted responses, the estimate that asked items correct, and unequal draws."""

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from benchwright.methods.dele.estimation.item_predictions import (
    ItemPredictor,
    difference_estimate,
    variance_parts,
)

Float = NDArray[np.float64]


def binary(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    return rng.integers(0, 2, shape).astype(np.float32)


@pytest.mark.parametrize("predictor", ["ridge", "constant"])
def test_the_score_is_exactly_unbiased_under_independent_draws(predictor: str) -> None:
    """All 128 subsets of 7 items, each with its probability; the empty one scores Σ offset."""
    rng = np.random.default_rng(1)
    training = binary(rng, 5, 7)
    truth = np.vstack([rng.integers(0, 2, (3, 7)), np.ones(7)]).astype(float)
    inclusion = rng.uniform(0.2, 0.9, 7)
    made = ItemPredictor.of(training, 0.1) if predictor == "ridge" else ItemPredictor.constant(7)
    mean = np.zeros(len(truth))
    for size in range(8):
        for chosen in combinations(range(7), size):
            places = np.array(chosen, dtype=np.intp)
            asked = np.isin(np.arange(7), places)
            chance = np.where(asked, inclusion, 1 - inclusion).prod()
            if size:
                found = difference_estimate(made, places, inclusion[places], truth[:, places])
                mean += chance * found.score
            else:
                mean += chance * np.clip(made.offset, 0, 1).mean()
    np.testing.assert_allclose(mean, truth.mean(axis=1), atol=1e-12)


@pytest.mark.parametrize(("models", "asked"), [(4, 10), (30, 10)])
def test_predictions_are_those_of_regressions_without_the_item(models: int, asked: int) -> None:
    rng = np.random.default_rng(3)
    training, truth = rng.random((models, 16)), rng.random(16)
    places, others = np.arange(asked), np.arange(asked, 16)
    made = ItemPredictor.of(training, 0.4)
    inside, outside = made.left_out(places, truth[None, :asked])
    features, gap = made.features.T, truth - made.offset

    def predicted(kept: NDArray[np.intp], wanted: NDArray[np.intp]) -> Float:
        ridge = Ridge(alpha=0.4, fit_intercept=False).fit(features[kept], gap[kept])
        return np.clip(made.offset[wanted] + ridge.predict(features[wanted]), 0, 1)

    expected = [predicted(np.delete(places, i), np.array([i]))[0] for i in range(asked)]
    np.testing.assert_allclose(inside[0], expected, atol=1e-9)
    np.testing.assert_allclose(outside[0], predicted(places, others).sum(), atol=1e-9)


def test_variance_of_equal_probabilities_is_that_of_the_mean() -> None:
    residual = np.random.default_rng(4).normal(size=(3, 20))
    found = variance_parts(residual, np.full(20, 0.25)).sum(axis=1) / 80**2
    np.testing.assert_allclose(found, residual.var(axis=1, ddof=1) / 20 * 0.75)


@pytest.mark.parametrize("right", [10, 18])
def test_training_models_widen_the_interval_but_never_narrow_it(right: int) -> None:
    """20 of 80 items, each predicted by the mean of the other 19 responses."""
    truth = np.repeat([1.0, 0.0], [right, 20 - right])[None]
    places, inclusion = np.arange(20), np.full(20, 0.25)
    residual = truth[0] - (right - truth[0]) / 19
    own = residual.var(ddof=1) / 20 * 0.75
    kurtosis = ((residual - residual.mean()) ** 4).mean() / residual.var() ** 2
    known = min(20 - right, np.clip(2 / max((kurtosis - 1) / 20, 2 / 19), 1, 19))
    centre = (right + 2) / 24
    for ratio in (0.1, 4.0):
        made = ItemPredictor.constant(80)._replace(ratio=ratio)
        expected = ratio * centre * (1 - centre) / 20 * 0.75
        mixed = (known * own + 4 * expected) / (known + 4)
        found = difference_estimate(made, places, inclusion, truth)
        np.testing.assert_allclose(found.se[0] ** 2, max(own, mixed), rtol=1e-5)
