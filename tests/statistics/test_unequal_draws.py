"""Draws of a fixed number of items with known probabilities."""

import numpy as np
import pytest

from benchwright.statistics.unequal_draws import (
    inclusion_probabilities,
    response_spread,
    systematic_draw,
)


@pytest.mark.parametrize("count", [1, 7, 40, 60])
@pytest.mark.parametrize("zeros", [0, 30, 60])
def test_probabilities_sum_to_the_number_and_have_a_floor(count: int, zeros: int) -> None:
    spread = np.random.default_rng(0).random(60) ** 4
    spread[:zeros] = 0
    found = inclusion_probabilities(spread, count, 0.2)
    assert found.sum() == pytest.approx(count, abs=1e-9)
    assert found.max() <= 1
    assert found.min() >= 0.2 * count / 60 - 1e-12
    assert (np.diff(found[np.argsort(spread)]) >= -1e-12).all()


def test_items_are_included_with_their_probabilities() -> None:
    rng = np.random.default_rng(1)
    inclusion = inclusion_probabilities(response_spread(rng.random((50, 30))), 8, 0.1)
    draws = 4000
    count = np.zeros(30)
    for _ in range(draws):
        chosen = systematic_draw(inclusion, rng.permutation(30), rng.random())
        assert len(np.unique(chosen)) == 8
        count[chosen] += 1
    sd = np.sqrt(inclusion * (1 - inclusion) / draws)
    assert np.abs(count / draws - inclusion).max() < 4.5 * sd.max()


def test_spread_is_that_of_all_models_and_of_the_best() -> None:
    responses = np.ones((10, 3))
    responses[:7, 0] = 0  # the best three solve it, the others do not
    responses[:5, 1] = 0
    shares = np.array([[3.5, 5.5, 10.5], [3.5, 3.5, 3.5]]) / [[11], [4]]
    expected = np.sqrt((shares * (1 - shares)).mean(axis=0))
    np.testing.assert_allclose(response_spread(responses), expected)
