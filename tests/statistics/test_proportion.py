import math

import pytest

from benchwright.statistics.proportion import wilson_interval


def test_interval_equals_that_of_scipy() -> None:
    from scipy.stats import binomtest

    for k, n in ((0, 10), (1, 10), (93, 100), (97, 100), (10, 10), (29, 395)):
        wanted = binomtest(k, n).proportion_ci(0.95, method="wilson")
        got = wilson_interval(k, n)
        assert (got.low, got.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
        assert got.reason == ""
        assert (got.high == 1) == (k == n)


def test_no_cases_give_no_interval_but_a_reason() -> None:
    missing = wilson_interval(0, 0)
    assert math.isnan(missing.value)
    assert math.isnan(missing.low)
    assert math.isnan(missing.high)
    assert missing.reason == "nothing was counted"
