"""Prepared training data: cached fits, folds by family, filled gaps."""

from typing import Any

import numpy as np
import pytest

from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.training import Training


def test_folds_mix_weak_and_strong_models_and_keep_equal_models_together(simulated: Any) -> None:
    twice = np.concatenate([simulated.training, simulated.training[:50]])
    training = Training(twice)
    masks = training.folds(3)
    folds = np.argmax(masks, axis=0)
    assert (folds[:50] == folds[200:]).all()
    assert np.bincount(folds).min() > 35
    means = [training.scores[folds == part].mean() for part in range(5)]
    assert max(means) - min(means) < 0.05
    assert np.array_equal(training.folds(3), masks)
    assert not np.array_equal(training.folds(4), masks)


def test_one_family_has_no_past_errors(simulated: Any, run: Any) -> None:
    training = Training(simulated.training, families=np.zeros(200, dtype=int))
    subset = WeightedSubset.equal(np.arange(10))
    estimates = run("p_irt", training, subset, simulated.new[:2])
    assert np.isfinite(estimates.score).all()
    assert np.isnan(estimates.low).all()
    assert "too few training models" in estimates.reason[0]


def test_best_models_are_never_all_models() -> None:
    training = Training(np.tri(10, 10, -1, dtype=np.float32))
    assert training.best.tolist() == [False] * 7 + [True] * 3
    assert not Training(np.ones((4, 5), np.float32)).best.any()
    assert not Training(np.ones((1, 5), np.float32)).best.any()


def test_missing_responses_are_filled_by_item_and_model() -> None:
    # Both responses to the second item are right; the first model is below the items' means.
    values = np.array([[0, np.nan, 1], [1, 1, 1], [0, 1, 1]], dtype=np.float32)
    filled = Training(values).filled
    lead = ((0 - 1 / 3) + (1 - 1)) / 2
    assert filled[0, 1] == pytest.approx(1 + lead)
    assert (filled[~np.isnan(values)] == values[~np.isnan(values)]).all()


def test_models_with_many_missing_responses_are_not_nearly_complete() -> None:
    values = np.ones((3, 100), dtype=np.float32)
    values[0, :5] = np.nan
    values[1, :6] = np.nan
    assert Training(values).nearly_complete.tolist() == [True, False, True]
