import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.statistics.proportion import two_proportions, wilson_interval


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 5_000))
    return draw(st.integers(0, n)), n


def test_interval_equals_that_of_scipy() -> None:
    from scipy.stats import binomtest

    for k, n in ((0, 10), (1, 10), (93, 100), (97, 100), (10, 10), (29, 395)):
        wanted = binomtest(k, n).proportion_ci(0.95, method="wilson")
        got = wilson_interval(k, n)
        assert (got.low, got.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
        assert got.reason == ""


def test_interval_width_depends_on_the_level() -> None:
    from scipy.stats import binomtest

    wanted = binomtest(7, 20).proportion_ci(0.8, method="wilson")
    assert wilson_interval(7, 20, 0.8)[:2] == pytest.approx((wanted.low, wanted.high), abs=1e-12)


@given(counts())
def test_interval_contains_the_share_and_stays_within_0_and_1(
    given_counts: tuple[int, int],
) -> None:
    k, n = given_counts
    low, high, _ = wilson_interval(k, n)
    assert 0 <= low <= k / n <= high <= 1
    mirrored = wilson_interval(n - k, n)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((low, high), abs=1e-9)


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


def test_difference_of_extreme_shares_equals_newcombes_example() -> None:
    # The same, comparison h: 10/10 and 0/10.
    result = two_proportions(10, 10, 0, 10)
    assert (result.low, result.high) == pytest.approx((0.6075, 1.0), abs=5e-5)


def test_p_value_equals_that_of_fishers_exact_test() -> None:
    # 3 of 3 against 0 of 3: the two extreme tables out of C(6, 3) = 20.
    assert two_proportions(3, 3, 0, 3).p_value == pytest.approx(2 / 20)
    assert two_proportions(5, 10, 5, 10).p_value == pytest.approx(1)


@given(counts(), counts())
def test_swapping_groups_reverses_the_sign(a: tuple[int, int], b: tuple[int, int]) -> None:
    there, back = two_proportions(*a, *b), two_proportions(*b, *a)
    assert there.low <= there.difference <= there.high
    assert (back.difference, back.low, back.high) == pytest.approx(
        (-there.difference, -there.high, -there.low)
    )
    assert back.p_value == pytest.approx(there.p_value, abs=1e-9)


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
