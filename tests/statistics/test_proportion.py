import math
import warnings

import pytest

from benchwright.statistics.proportion import two_proportions, wilson_interval


def test_interval_equals_that_of_scipy() -> None:
    from scipy.stats import binomtest

    for k, n in ((0, 10), (1, 10), (93, 100), (97, 100), (10, 10), (29, 395)):
        wanted = binomtest(k, n).proportion_ci(0.95, method="wilson")
        got = wilson_interval(k, n)
        assert (got.low, got.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
        assert got.reason == ""
        assert (got.high == 1) == (k == n)


def test_no_cases_give_no_interval_but_a_reason() -> None:
    low, high, reason = wilson_interval(0, 0)
    assert math.isnan(low)
    assert math.isnan(high)
    assert reason == "nothing was counted"


def test_difference_equals_newcombes_example() -> None:
    # Newcombe 1998, Table II, comparison a: 56/70 and 48/80, method 10.
    result = two_proportions(56, 70, 48, 80)
    assert result.difference == pytest.approx(0.2)
    assert (result.low, result.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_p_value_equals_that_of_fishers_exact_test() -> None:
    # 3 of 3 against 0 of 3: the two extreme tables out of C(6, 3) = 20.
    assert two_proportions(3, 3, 0, 3).p_value == pytest.approx(2 / 20)
    assert two_proportions(5, 10, 5, 10).p_value == pytest.approx(1)


@pytest.mark.parametrize(
    ("k1", "n1", "k2", "n2", "which"),
    [
        (0, 0, 1, 2, "first group"),
        (1, 2, 0, 0, "second group"),
        (0, 0, 0, 0, "first group"),
    ],
)
def test_empty_group_gives_no_difference_and_no_warning(
    k1: int, n1: int, k2: int, n2: int, which: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = two_proportions(k1, n1, k2, n2)
    assert all(math.isnan(value) for value in result[:4])
    assert result.reason == f"nothing was counted in the {which}"
