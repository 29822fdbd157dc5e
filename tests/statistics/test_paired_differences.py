"""Clustered and paired standard errors: by hand, by loops, and their coverage in simulation."""

import numpy as np
import pytest

from benchwright.statistics import paired_differences as module
from benchwright.statistics.paired_differences import (
    clearly_better,
    clustered_se,
    median_mdd,
    minimum_detectable_difference,
    order_kept,
    paired_se,
)
from benchwright.statistics.subset_scores import subset_scores


def plain_se(correct: np.ndarray) -> np.ndarray:
    """Standard errors of means over independent items."""
    return np.nanstd(correct, axis=1, ddof=1) / np.sqrt((~np.isnan(correct)).sum(axis=1))


def significant_pairs(correct: np.ndarray, clusters: np.ndarray) -> int:
    return np.count_nonzero(clearly_better(correct, clusters))


def answers(m: int, n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((m, n)) < np.linspace(0.3, 0.8, m)[:, None]).astype(np.float32)


def test_clustered_error_equals_that_by_hand() -> None:
    # Mean 1/2; deviations +½ +½ | −½ −½ | +½ −½, sums 1, −1, 0. G/(G−1) · (1 + 1 + 0) / 6² = 1/12.
    seen = clustered_se(np.array([[1, 1, 0, 0, 1, 0]]), np.array([5, 5, 2, 2, 9, 9]))
    assert seen[0] == pytest.approx(np.sqrt(1 / 12))


def test_repeated_items_in_one_cluster_do_not_change_errors() -> None:
    correct = answers(4, 30)
    twice = np.concatenate([correct, correct], axis=1)
    clusters = np.tile(np.arange(30), 2)
    np.testing.assert_allclose(clustered_se(twice, clusters), plain_se(correct))
    np.testing.assert_allclose(
        paired_se(twice, clusters), paired_se(correct, np.arange(30)), rtol=1e-6
    )


def test_paired_errors_are_clustered_errors_of_differences(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_BLOCK_BYTES", 24 * 9 * 2)
    correct = answers(9, 50)
    clusters = np.arange(50) // 3
    seen = paired_se(correct, clusters)
    for a in range(9):
        for b in range(9):
            # A difference lies in −1 … 1; the standard error takes any values.
            expected = clustered_se((correct[a] - correct[b])[None, :], clusters)[0]
            assert seen[a, b] == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_models_with_the_same_answers_have_no_error_of_difference() -> None:
    correct = np.repeat(np.random.default_rng(1).random((1, 333)), 2, axis=0)
    assert (paired_se(correct, np.arange(333)) == 0).all()
    assert not significant_pairs(correct, np.arange(333))


def test_equal_models_differ_in_5_percent_of_cases() -> None:
    rng = np.random.default_rng(4)
    passage = np.repeat(rng.normal(size=(150, 50)), 4, axis=1)
    correct = (passage + rng.normal(size=(150, 200)) > 0).astype(float)
    pairs = 150 * 149 / 2
    clustered = significant_pairs(correct, np.repeat(np.arange(50), 4)) / pairs
    plain = significant_pairs(correct, np.arange(200)) / pairs
    assert 0.035 < clustered < 0.065
    assert plain > 0.12


def test_agreement_counts_significant_pairs_and_ties_as_half() -> None:
    # Right on 90, 60 and 30 of the first 100 items; the last four items decide what is kept.
    correct = np.zeros((3, 104))
    for model, right in enumerate((90, 60, 30)):
        correct[model, :right] = 1
    kept = np.arange(104) >= 100
    correct[:, 100:] = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    better = clearly_better(correct, np.arange(104))
    assert np.argwhere(better).tolist() == [[0, 1], [0, 2], [1, 2]]
    # 0–1 tied (½), 0–2 and 1–2 reversed (0) on the last items; all kept on the others.
    shares = order_kept(subset_scores(correct, np.array([kept, ~kept])), better)
    assert shares.tolist() == [pytest.approx(0.5 / 3), 1]


@pytest.mark.parametrize(
    "correct",
    [answers(1, 9), np.full((4, 9), np.nan), np.empty((0, 9)), np.ones((4, 9)), answers(4, 1)],
    ids=["one model", "no answers", "no models", "all tied", "one item"],
)
def test_without_pairs_the_share_is_missing(correct: np.ndarray) -> None:
    n = correct.shape[1]
    better = clearly_better(correct, np.arange(n))
    assert not better.any()
    assert np.isnan(order_kept(subset_scores(correct, np.ones((1, n))), better)).all()


def test_models_without_answers_are_in_no_pair() -> None:
    correct = answers(4, 300)
    joined = np.concatenate([correct, np.full((1, 300), np.nan)])
    better = clearly_better(joined, np.arange(300))
    assert (better[:4, :4] == clearly_better(correct, np.arange(300))).all()
    assert not better[4].any()
    assert not better[:, 4].any()
    # Nor are models without answers to the kept items.
    scores = subset_scores(correct, np.ones((1, 300)))
    assert order_kept(np.where([True, True, True, False], scores, np.nan), better[:4, :4]) == 1
    assert np.isnan(clustered_se(joined, np.arange(300))[4])
    assert np.isnan(paired_se(joined, np.arange(300))[4]).all()


def test_one_cluster_has_no_standard_error() -> None:
    correct = answers(3, 12)
    assert np.isnan(clustered_se(correct, np.zeros(12, dtype=int))).all()
    assert np.isnan(median_mdd(correct, np.zeros(12, dtype=int)))
    assert np.isnan(clustered_se(np.empty((2, 0)), np.empty(0, dtype=int))).all()


def test_minimum_detectable_difference_has_the_stated_power() -> None:
    rng = np.random.default_rng(5)
    difference = float(minimum_detectable_difference(0.02))
    assert difference == pytest.approx(0.02 * (1.959964 + 0.841621))
    significant = np.abs(rng.normal(difference, 0.02, 20_000)) > 1.959964 * 0.02
    assert significant.mean() == pytest.approx(0.8, abs=0.01)


def test_median_is_over_pairs() -> None:
    correct, clusters = answers(7, 80), np.arange(80) // 2
    errors = paired_se(correct, clusters)[np.triu_indices(7, 1)]
    expected = minimum_detectable_difference(np.median(errors))
    assert median_mdd(correct, clusters) == pytest.approx(float(expected), rel=1e-6)
