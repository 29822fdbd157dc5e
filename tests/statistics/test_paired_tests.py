"""Exact McNemar, Tango's interval and the paired difference."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from benchwright.statistics.paired_tests import (
    mcnemar_mid_p,
    paired_difference,
    paired_score_interval,
)


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (3, 3), (1, 8), (12, 5)])
def test_mid_p_is_that_of_all_outcomes(better: int, worse: int) -> None:
    n = better + worse
    outcomes = [sum(signs) for signs in product((0, 1), repeat=n)]
    gap = abs(2 * better - n)
    beyond = np.mean([abs(2 * k - n) > gap for k in outcomes])
    equal = np.mean([abs(2 * k - n) == gap for k in outcomes])
    # On both sides, the outcome and its mirror image count half; a tie is the whole centre.
    assert mcnemar_mid_p(better, worse) == pytest.approx(beyond + equal / (2 if gap else 1))


def restricted_score(better: int, worse: int, n: int, difference: float) -> float:
    """The score statistic with the share of worse items found by numerical maximisation."""

    def loss(share: float) -> float:
        cells = np.array([share + difference, share, 1 - 2 * share - difference])
        counts = np.array([better, worse, n - better - worse])
        return -float((counts * np.log(np.maximum(cells, 1e-300))).sum())

    low, high = max(0, -difference), (1 - difference) / 2
    share = minimize_scalar(loss, bounds=(low, high), options={"xatol": 1e-12}, method="bounded").x
    variance = 2 * share + difference - difference**2
    return float((better - worse - n * difference) / np.sqrt(n * variance))


@pytest.mark.parametrize(("better", "worse", "n"), [(9, 2, 30), (3, 14, 80), (1, 1, 12)])
def test_bounds_are_where_the_score_statistic_is_at_its_quantile(
    better: int, worse: int, n: int
) -> None:
    low, high = paired_score_interval(better, worse, n, 0.9)
    z = norm.ppf(0.95)
    assert restricted_score(better, worse, n, low) == pytest.approx(z, abs=1e-4)
    assert restricted_score(better, worse, n, high) == pytest.approx(-z, abs=1e-4)


def test_interval_without_discordant_items_has_a_width() -> None:
    low, high = paired_score_interval(0, 0, 100)
    z = norm.ppf(0.975)
    assert high == -low == pytest.approx(z**2 / (100 + z**2))
    assert paired_score_interval(0, 40, 40)[0] == -1


def test_difference_of_doubled_items_has_the_interval_of_the_items() -> None:
    d = np.random.default_rng(0).choice([-1, 0, 1], 60, p=[0.1, 0.6, 0.3]).astype(float)
    once = paired_difference(d, np.arange(60))
    twice = paired_difference(np.repeat(d, 2), np.repeat(np.arange(60), 2))
    assert once.se == pytest.approx(d.std(ddof=1) / np.sqrt(60))
    assert twice.difference == once.difference
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high), abs=2e-3)


def test_equal_fractions_get_an_interval_with_a_width() -> None:
    found = paired_difference(np.full(50, 0.0), np.arange(50) // 5)
    assert found.high == -found.low == pytest.approx(paired_score_interval(0, 0, 10)[1])
    noisy = np.full(40, 0.1) + np.random.default_rng(0).normal(scale=1e-8, size=40)
    found = paired_difference(noisy, np.arange(40))  # as in single precision
    assert (found.low, found.high) == pytest.approx(paired_score_interval(4, 0, 40), abs=1e-6)
    fractional = paired_difference(np.array([0.5, -0.25, 0.5, 0.0, 0.25]), np.arange(5))
    assert fractional.low < fractional.difference < fractional.high
    two = paired_difference(np.array([0.9, -0.9]), np.arange(2))  # a t interval of ±11.4
    assert (two.low, two.high) == (-1, 1)
