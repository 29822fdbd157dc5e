"""Ranks and correlations by row: each row is what SciPy says of it."""

import numpy as np
import pytest
from scipy import stats

from benchwright.statistics.rank_agreement import (
    mean_rank_shift_rows,
    pearson_rows,
    ranks_rows,
    spearman_rows,
)


@pytest.fixture
def scorings() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 9, (5, 30)) / 9, rng.integers(0, 9, (5, 30)) / 9
    x[0, 3] = y[1, 4] = y[1, 9] = np.nan
    return x, y


def complete(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = ~(np.isnan(x) | np.isnan(y))
    return x[known], y[known]


def test_correlations_are_scipys_over_the_models_a_row_has(
    scorings: tuple[np.ndarray, np.ndarray],
) -> None:
    pairs = [complete(*row) for row in zip(*scorings, strict=True)]
    np.testing.assert_allclose(
        spearman_rows(*scorings), [stats.spearmanr(*pair).statistic for pair in pairs]
    )
    np.testing.assert_allclose(
        pearson_rows(*scorings), [stats.pearsonr(*pair).statistic for pair in pairs]
    )


def test_ranks_are_among_the_models_a_row_has(scorings: tuple[np.ndarray, np.ndarray]) -> None:
    for row, ranks in zip(scorings[1], ranks_rows(scorings[1]), strict=True):
        expected = stats.rankdata(-row, method="average", nan_policy="omit")
        np.testing.assert_array_equal(ranks, expected)


def test_the_shift_counts_places_by_row() -> None:
    # First row: a moves 2 places, b and c one each, d none. Second: only a, c, d are compared.
    shift = mean_rank_shift_rows([4, 3, 2, 1], [[2, 4, 3, 1], [1, np.nan, 3, 2]])
    np.testing.assert_allclose(shift, [1, 4 / 3])


def test_rows_without_an_order_are_missing() -> None:
    y = [[0.5, 0.5, 0.5], [0.1, 0.2, np.nan], [np.nan, np.nan, np.nan]]
    for figure in (pearson_rows, spearman_rows):
        assert np.isnan(figure([1, 2, 3], y)).all()
    assert np.isnan(mean_rank_shift_rows([1, 2, 3], y)).tolist() == [False, False, True]
    assert pearson_rows(np.empty((2, 0)), np.empty((2, 0))).shape == (2,)
