"""The share of pairs of models in the right order by their gap."""

import numpy as np
import pytest
from numpy.typing import NDArray

from benchwright.statistics.paired_differences import paired_se
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.statistics.right_order import WANTED, gap_told_apart, right_order
from benchwright.statistics.subset_scores import subset_scores


def answers(m: int, n: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 1, (m, 1)) - rng.normal(0, 1, (1, n))
    return (rng.random((m, n)) < 1 / (1 + np.exp(-1.5 * logits))).astype(np.float64)


def test_formula_is_the_share_of_random_subsets_that_keep_the_order() -> None:
    n, k = 300, 60
    correct = answers(60, n)
    whole = correct.mean(axis=1)
    parts = subset_scores(correct, draw_subsets(n, k, 400, np.random.default_rng(3)))
    first, second = np.triu_indices(60, 1)
    ordered = np.sign(whole[first] - whole[second]) * np.sign(parts[:, first] - parts[:, second])
    errors = paired_se(correct, np.arange(n))[first, second] * np.sqrt(n * (1 / k - 1 / n))
    gaps = np.abs(whole[first] - whole[second])
    for gap in (0.02, 0.05, 0.1):
        near = np.abs(gaps - gap) < 0.02
        replayed = (1 + ordered[:, near].mean()) / 2
        assert right_order(gap, errors[near]).mean() == pytest.approx(replayed, abs=0.02)
    told = np.abs(gaps - gap_told_apart(correct[:, :k], n)) < 0.01
    assert (1 + ordered[:, told].mean()) / 2 == pytest.approx(WANTED, abs=0.06)


def test_equal_scores_and_exact_differences() -> None:
    assert right_order([0, 0.1], [0.2, 0]).tolist() == [0.5, 1]
    assert np.isnan(gap_told_apart(answers(1, 20), 40))
    assert gap_told_apart(answers(5, 20), 20) == 0
