"""Percentiles and p-values of a value among draws."""

import numpy as np
import pytest

from benchwright.statistics.percentile import holm, percentile_among, two_sided_p


def test_draws_equal_to_the_value_count_half() -> None:
    assert percentile_among(0.5, [0.1, 0.5, 0.5, 0.9]) == 50
    assert percentile_among(0.9, [0.1, 0.5, 0.5, 0.9]) == 87.5
    assert percentile_among(2, [0.1, 0.5]) == 100


def test_values_equal_up_to_rounding_tie() -> None:
    assert percentile_among(0.3, [0.1 + 0.2]) == 50


def test_p_values_count_the_value_itself_as_a_draw() -> None:
    draws = np.arange(99) / 100
    assert two_sided_p(5, draws) == pytest.approx(2 / 100)
    assert two_sided_p(0.1, draws) == pytest.approx(2 * 12 / 100)  # 0 … 0.1 are 11 draws
    assert two_sided_p(0.49, draws) == 1


@pytest.mark.parametrize(("value", "draws"), [(np.nan, [1.0]), (1, []), (1, [np.nan])])
def test_without_draws_results_are_missing(value: float, draws: list[float]) -> None:
    assert np.isnan(percentile_among(value, draws))
    assert np.isnan(two_sided_p(value, draws))


def test_holm_equals_that_by_hand_with_a_missing_value() -> None:
    # Sorted .01 .02 .03 .04: times 4, 3, 2, 1 = .04 .06 .06 .04, never falling: .04 .06 .06 .06
    np.testing.assert_allclose(
        holm([0.04, np.nan, 0.01, 0.03, 0.02]), [0.06, np.nan, 0.04, 0.06, 0.06]
    )
