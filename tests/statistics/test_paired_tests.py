"""Exact McNemar, and the paired difference with its interval."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import t

from benchwright.statistics.paired_intervals import INFINITE, exact_interval, score_interval
from benchwright.statistics.paired_tests import mcnemar_mid_p, paired_difference


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (3, 3), (1, 8), (12, 5)])
def test_mid_p_is_that_of_all_outcomes(better: int, worse: int) -> None:
    n = better + worse
    outcomes = [sum(signs) for signs in product((0, 1), repeat=n)]
    gap = abs(2 * better - n)
    beyond = np.mean([abs(2 * k - n) > gap for k in outcomes])
    equal = np.mean([abs(2 * k - n) == gap for k in outcomes])
    # On both sides, the outcome and its mirror image count half; a tie is the whole centre.
    assert mcnemar_mid_p(better, worse) == pytest.approx(beyond + equal / (2 if gap else 1))


def test_difference_of_doubled_items_has_the_interval_of_the_items() -> None:
    d = np.random.default_rng(0).choice([-1, 0, 1], 60, p=[0.1, 0.6, 0.3]).astype(float)
    once = paired_difference(d, np.arange(60))
    better, worse = int((d > 0).sum()), int((d < 0).sum())
    assert once.se == pytest.approx(d.std(ddof=1) / np.sqrt(60))
    assert once[2:] == exact_interval(better, worse, 60, INFINITE, 0.95)
    twice = paired_difference(np.repeat(d, 2), np.repeat(np.arange(60), 2))
    assert twice.difference == once.difference
    by_t = score_interval(better, worse, 60, t.ppf(0.975, 59))
    assert twice[2:] == pytest.approx(by_t, abs=2e-3)


def test_many_changed_items_get_the_score_interval() -> None:
    d = np.repeat([1.0, -1.0, 0.0], [100, 101, 300])
    found = paired_difference(d, np.arange(501))
    assert found[2:] == score_interval(100, 101, 501, t.ppf(0.975, 500))
    assert paired_difference(d[1:], np.arange(500))[2:] == exact_interval(
        99, 101, 500, INFINITE, 0.95
    )
    # Of 601 items few are unseen, so that those of them that changed count.
    assert paired_difference(d, np.arange(501), total=601)[2:] == exact_interval(
        100, 101, 501, 601, 0.95
    )


def test_interval_for_a_finite_number_of_items_shrinks_with_those_unseen() -> None:
    graded = np.tile([0.5, -0.25, 0.0, 0.25], 25)
    of_kind = paired_difference(graded, np.arange(100))
    of_these = paired_difference(graded, np.arange(100), total=400)
    assert of_these.high - of_these.low == pytest.approx(
        (of_kind.high - of_kind.low) * np.sqrt(0.75)
    )
    whole = np.repeat([1.0, -1.0, 0.0], [10, 20, 70])
    assert paired_difference(whole, np.arange(100), total=400)[2:] == exact_interval(
        10, 20, 100, 400, 0.95
    )
    clustered = np.arange(100) // 2
    wide = paired_difference(whole, clustered)
    narrow = paired_difference(whole, clustered, total=400)
    assert narrow.high - narrow.low == pytest.approx((wide.high - wide.low) * 0.87, rel=0.02)
    for d in (graded, whole):
        everything = paired_difference(d, np.arange(100), total=100)
        assert everything.low == everything.high == d.mean()


def test_equal_fractions_get_an_interval_with_a_width() -> None:
    found = paired_difference(np.full(50, 0.0), np.arange(50) // 5)
    by_cluster = score_interval(0, 0, 10, t.ppf(0.975, 9))
    assert found.high == -found.low == pytest.approx(by_cluster[1])
    noisy = np.full(40, 0.1) + np.random.default_rng(0).normal(scale=1e-8, size=40)
    found = paired_difference(noisy, np.arange(40))  # as in single precision
    by_item = score_interval(4, 0, 40, t.ppf(0.975, 39))
    assert (found.low, found.high) == pytest.approx(by_item, abs=1e-6)
    fractional = paired_difference(np.array([0.5, -0.25, 0.5, 0.0, 0.25]), np.arange(5))
    assert fractional.low < fractional.difference < fractional.high
    two = paired_difference(np.array([0.9, -0.9]), np.arange(2))  # a t interval of ±11.4
    assert (two.low, two.high) == (-1, 1)
