"""The exact interval of right and wrong answers, and Tango's."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_hypergeom, norm

from benchwright.statistics.paired_intervals import INFINITE, exact_interval, score_interval


def share_of_worse(better: int, worse: int, n: int, difference: float) -> float:
    """The share of worse items that is most likely, by numerical maximisation."""

    def loss(share: float) -> float:
        cells = np.array([share + difference, share, 1 - 2 * share - difference])
        counts = np.array([better, worse, n - better - worse])
        return -float((counts * np.log(np.maximum(cells, 1e-300))).sum())

    low, high = max(0, -difference), (1 - difference) / 2
    found = minimize_scalar(loss, bounds=(low, high), options={"xatol": 1e-12}, method="bounded")
    return float(found.x)


def statistic(better: int, worse: int, n: int, difference: float) -> float:
    variance = 2 * share_of_worse(better, worse, n, difference) + difference - difference**2
    return float((better - worse - n * difference) / np.sqrt(n * variance))


@pytest.mark.parametrize(("better", "worse", "n"), [(9, 2, 30), (3, 14, 80), (1, 1, 12)])
def test_bounds_of_tango_are_where_the_score_statistic_is_at_its_quantile(
    better: int, worse: int, n: int
) -> None:
    z = norm.ppf(0.95)
    low, high = score_interval(better, worse, n, z)
    assert statistic(better, worse, n, low) == pytest.approx(z, abs=1e-4)
    assert statistic(better, worse, n, high) == pytest.approx(-z, abs=1e-4)


def test_interval_of_tango_without_changed_items_has_a_width() -> None:
    z = norm.ppf(0.975)
    low, high = score_interval(0, 0, 100, z)
    assert high == -low == pytest.approx(z**2 / (100 + z**2))
    assert score_interval(0, 40, 40, z)[0] == -1


@pytest.mark.parametrize(("better", "worse"), [(4, 1), (0, 2), (3, 3)])
def test_bound_is_the_smallest_difference_that_is_not_rejected(better: int, worse: int) -> None:
    n, total = 12, 40
    low, _ = exact_interval(better, worse, n, total, 0.9)

    def p_value(gap: int) -> float:
        difference = gap / total
        share = share_of_worse(better, worse, n, difference)
        most = (total - n + better + worse - gap) // 2
        all_worse = min(max(round(share * total), worse, better - gap), most)
        kinds = [all_worse + gap, all_worse, total - 2 * all_worse - gap]
        observed = statistic(better, worse, n, difference)
        outcomes = [each for each in product(range(n + 1), repeat=2) if sum(each) <= n]
        return sum(
            multivariate_hypergeom.pmf([b, c, n - b - c], kinds, n)
            for b, c in outcomes
            if statistic(b, c, n, difference) > observed - 1e-6
        )

    gap = round(low * total)
    assert p_value(gap - 1) <= 0.05 < p_value(gap)


def test_no_changed_item_leaves_what_chance_may_have_hidden() -> None:
    low, high = exact_interval(0, 0, 300, INFINITE, 0.9)
    assert high == -low == pytest.approx(1 - 0.05 ** (1 / 300), abs=2e-5)
    low, high = exact_interval(0, 0, 300, 400, 0.9)
    assert high == -low < 0.006
    # An item of each kind was seen, so these cannot be all.
    assert exact_interval(0, 12, 12, 40, 0.9)[1] < 0
    assert exact_interval(0, 12, 12, 40, 0.9)[0] == -1


@pytest.mark.parametrize(
    ("n", "total", "gap", "changed"),
    [(300, 14_042, 281, 281), (300, 14_042, 281, 301), (100, 1_172, 59, 59), (200, 232, 12, 20)],
)
def test_false_decisions_at_the_margin_are_at_most_as_many_as_allowed(
    n: int, total: int, gap: int, changed: int
) -> None:
    worse = (changed + gap) // 2
    kinds = [changed - worse, worse, total - changed]
    margin = gap / total
    false = {"not worse": 0.0, "worse": 0.0}
    for b, c in product(range(kinds[0] + 1), range(kinds[1] + 1)):
        if b + c > n:
            continue
        chance = float(multivariate_hypergeom.pmf([b, c, n - b - c], kinds, n))
        if chance < 1e-5:
            continue
        low, high = exact_interval(b, c, n, total, 0.9)
        false["not worse"] += chance * (low > -margin)
        false["worse"] += chance * (high < -margin)
    assert 0.005 < false["not worse"] < 0.055
    assert 0.005 < false["worse"] < 0.055
