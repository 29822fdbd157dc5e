"""The share of pairs of models in the right order by their gap."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from benchwright.statistics.order_curve import gap_told_apart, order_curve, right_order
from benchwright.statistics.paired_differences import paired_se
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.statistics.subset_scores import subset_scores


def answers(m: int, n: int, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1, (m, 1)) - rng.normal(0, 1, (1, n))
    return (rng.random((m, n)) < 1 / (1 + np.exp(-1.5 * logits))).astype(np.float64)


def test_shares_are_those_of_a_count_by_hand() -> None:
    whole = np.array([0.2, 0.5, 0.5, 0.9])
    parts = np.array([[0.3, 0.3, 0.6, 0.5], [0.0, 0.5, 0.2, 1.0], [np.nan, 0.5, 0.5, 1.0]])
    found = order_curve(whole, parts)
    by_gap: dict[float, list[float]] = {}
    for i, j in combinations(range(4), 2):
        gap = round(whole[j] - whole[i], 6)
        if gap:
            kept = [(1 + np.nan_to_num(np.sign(row[j] - row[i]))) / 2 for row in parts]
            by_gap.setdefault(gap, []).append(float(np.mean(kept)))
    np.testing.assert_allclose(found.gap, sorted(by_gap))
    np.testing.assert_array_equal(found.pairs, [len(by_gap[gap]) for gap in sorted(by_gap)])
    plain = [np.mean(by_gap[gap]) for gap in sorted(by_gap)]
    assert all(a <= b for a, b in pairwise(plain))  # isotonic changes nothing
    np.testing.assert_allclose(found.right, plain)


def test_order_of_models_and_names_of_families_do_not_matter() -> None:
    correct = answers(20, 80)
    parts = subset_scores(correct, draw_subsets(80, 20, 30, np.random.default_rng(1)))
    order = np.random.default_rng(2).permutation(20)
    ones, two = correct.mean(axis=1), correct.mean(axis=1)[order]
    first, second = order_curve(ones, parts), order_curve(two, parts[:, order])
    np.testing.assert_allclose(first.right, second.right)
    assert first.least == pytest.approx(second.least)


def test_curve_of_random_subsets_is_that_of_the_formula() -> None:
    n, k = 300, 60
    correct = answers(60, n)
    whole = correct.mean(axis=1)
    parts = subset_scores(correct, draw_subsets(n, k, 400, np.random.default_rng(3)))
    found = order_curve(whole, parts)
    first, second = np.triu_indices(len(whole), 1)
    variance = paired_se(correct, np.arange(n))[first, second].astype(float) ** 2 * n
    gaps = np.abs(whole[first] - whole[second])
    for gap in (0.02, 0.05, 0.1):
        near = np.abs(gaps - gap) < 0.02
        expected = right_order(gap, np.sqrt(variance[near] * (1 / k - 1 / n))).mean()
        assert found.at(gap) == pytest.approx(expected, abs=0.02)
    assert gap_told_apart(correct[:, :k], n) == pytest.approx(found.least, rel=0.25)


def test_items_outside_the_subset_agree_less_than_all_items() -> None:
    correct, masks = answers(40, 60), draw_subsets(60, 30, 100, np.random.default_rng(4))
    parts, outside = subset_scores(correct, masks), subset_scores(correct, ~masks)
    inflated, honest = order_curve(correct.mean(axis=1), parts), order_curve(outside, parts)
    assert honest.at(0.05) < inflated.at(0.05) - 0.05
    assert np.isnan(honest.low).all()


def test_families_widen_the_interval() -> None:
    base = answers(8, 100)
    flips = np.random.default_rng(5).random((40, 100)) < 0.05
    correct = np.abs(np.repeat(base, 5, axis=0) - flips)
    parts = subset_scores(correct, draw_subsets(100, 20, 100, np.random.default_rng(6)))
    widths = []
    for families in (None, np.repeat(np.arange(8), 5)):
        found = order_curve(correct.mean(axis=1), parts, families, 200, np.random.default_rng(7))
        assert (found.low <= found.high).all()
        widths.append(found.least_high - found.least_low)
    assert widths[1] > widths[0]


def test_without_a_gap_nothing_is_measured() -> None:
    found = order_curve(np.array([0.5, 0.5, np.nan]), np.array([[0.1, 0.2, 0.3]]))
    assert len(found.gap) == 0
    assert found.least == np.inf
    assert np.isnan(gap_told_apart(answers(1, 20), 40))
    assert gap_told_apart(answers(5, 20), 20) == 0
