"""Distances between score distributions, and the spread of models."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from benchwright.statistics.subset_scores import (
    signal_to_noise_rows,
    signed_shift_rows,
    spread_top_rows,
    wasserstein_rows,
)


def row(values: ArrayLike) -> np.ndarray:
    return np.asarray(values, dtype=float).reshape(1, -1)


def wasserstein(a: ArrayLike, b: ArrayLike) -> float:
    return float(wasserstein_rows(row(a), row(b))[0])


def signed_shift(a: ArrayLike, b: ArrayLike) -> float:
    return float(signed_shift_rows(row(a), row(b))[0])


def spread_top(scores: ArrayLike, top: int) -> float:
    return float(spread_top_rows(row(scores), top)[0])


def signal_to_noise(scores: ArrayLike, errors: ArrayLike) -> float:
    return float(signal_to_noise_rows(row(scores), row(errors))[0])


vectors = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20)


@given(vectors)
def test_wasserstein_agrees_with_scipy_and_is_at_least_the_shift(
    pairs: list[tuple[float, float]],
) -> None:
    a, b = np.array(pairs).T
    assert wasserstein(a, b) == pytest.approx(stats.wasserstein_distance(a, b), abs=1e-12)
    assert wasserstein(a, b) >= abs(signed_shift(a, b)) - 1e-12


def test_harder_subset_has_a_negative_shift() -> None:
    assert signed_shift([0.9, 0.7, np.nan], [0.6, 0.6, 0.1]) == pytest.approx(-0.2)
    assert wasserstein([0.9, 0.7, np.nan], [0.6, 0.6, 0.1]) == pytest.approx(0.2)


def test_spread_is_that_of_the_best_models() -> None:
    scores = [0.2, 0.9, 0.5, np.nan, 0.8]
    assert spread_top(scores, 2) == pytest.approx(0.1)
    assert spread_top(scores, 3) == pytest.approx(0.4)
    assert spread_top(scores, 20) == pytest.approx(0.7)
    with pytest.raises(ValueError, match="at least two"):
        spread_top(scores, 1)


def test_signal_to_noise_equals_that_by_hand() -> None:
    # Standard deviation of the scores 0.2; root mean square of the errors sqrt((9 + 16 + 25)/3)%.
    assert signal_to_noise([0.3, 0.5, 0.7], [0.03, 0.04, 0.05]) == pytest.approx(
        0.2 / np.sqrt(0.0050 / 3)
    )


def test_degenerate_scores_have_no_spread() -> None:
    assert np.isnan(wasserstein([], []))
    assert np.isnan(signed_shift([np.nan], [1]))
    assert np.isnan(spread_top([0.4], 20))
    assert np.isnan(signal_to_noise([0.4], [0.1]))
    assert np.isnan(signal_to_noise([0.4, 0.4], [0, 0]))
    assert signal_to_noise([0.4, 0.5], [0, 0]) == np.inf
    assert spread_top([0.4, 0.4, 0.4], 2) == 0
