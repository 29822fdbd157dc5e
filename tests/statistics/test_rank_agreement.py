"""Rank correlations agree with counts by hand, SMART's tables and SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchwright.statistics.rank_agreement import (
    kendall_tau_b,
    kendall_tau_b_rows,
    max_rank_shift,
    mean_rank_shift,
    mean_rank_shift_rows,
    pearson,
    pearson_rows,
    spearman,
    spearman_rows,
)

scores = st.lists(st.integers(0, 6).map(lambda k: k / 10), min_size=3, max_size=40)


@st.composite
def two_scorings(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    """Scores with many ties; neither scoring is constant."""
    first = draw(scores.filter(lambda xs: len(set(xs)) > 1))
    same_size = st.lists(
        st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=len(first), max_size=len(first)
    )
    return first, draw(same_size.filter(lambda xs: len(set(xs)) > 1))


def test_tau_b_counts_ties_in_both_rankings_and_a_discordant_pair() -> None:
    # x ties (b, c); y ties (c, d). Of the six pairs: ab −, ac +, ad +, bc tied, bd +, cd tied.
    # C = 3, D = 1, untied in x 5, untied in y 5: (3 − 1) / sqrt(5 * 5) = 0.4.
    assert kendall_tau_b([1, 2, 2, 3], [2, 1, 3, 3]).value == pytest.approx(0.4)


@given(two_scorings())
def test_coefficients_agree_with_scipy(pair: tuple[list[float], list[float]]) -> None:
    x, y = pair
    assert kendall_tau_b(x, y).value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)
    assert spearman(x, y).value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    assert pearson(x, y).value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)


def test_rank_shift_counts_places() -> None:
    # Full order a b c d; after: b c a d. a moves 2 places, b and c one each, d none.
    before, after = [0.9, 0.8, 0.7, 0.6], [0.5, 0.7, 0.6, 0.4]
    assert mean_rank_shift(before, after) == (1.0, 4, "")
    assert max_rank_shift(before, after) == (2.0, 4, "")


@pytest.mark.parametrize("coefficient", [kendall_tau_b, spearman, pearson])
@pytest.mark.parametrize(
    ("x", "y", "n", "reason"),
    [
        ([0.1, 0.2], [0.3, 0.4], 2, "2 models"),
        ([0.1, 0.2, np.nan], [0.1, 0.2, 0.3], 2, "2 models"),
        ([0.1, 0.2, 0.3], [0.0, 0.0, 0.0], 3, "same score"),
    ],
)
def test_undefined_correlations_are_missing_with_a_reason(
    coefficient, x: list[float], y: list[float], n: int, reason: str
) -> None:
    seen = coefficient(x, y)
    assert np.isnan(seen.value)
    assert seen.n == n
    assert reason in seen.reason


@pytest.mark.parametrize("shift", [mean_rank_shift, max_rank_shift])
def test_one_model_has_no_rank_shift(shift) -> None:
    seen = shift([0.4], [0.3])
    assert np.isnan(seen.value)
    assert "1 model;" in seen.reason


@pytest.fixture
def scorings() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 9, (5, 30)) / 9, rng.integers(0, 9, (5, 30)) / 9
    x[0, 3] = y[1, 4] = y[1, 9] = np.nan
    return x, y


def complete(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = ~(np.isnan(x) | np.isnan(y))
    return x[known], y[known]


def test_correlations_by_row_agree_with_scipy(
    scorings: tuple[np.ndarray, np.ndarray],
) -> None:
    pairs = [complete(*row) for row in zip(*scorings, strict=True)]
    np.testing.assert_allclose(
        spearman_rows(*scorings), [stats.spearmanr(*pair).statistic for pair in pairs]
    )
    np.testing.assert_allclose(
        pearson_rows(*scorings), [stats.pearsonr(*pair).statistic for pair in pairs]
    )


def test_rank_shift_by_row_counts_places() -> None:
    # First row: a moves 2 places, b and c one each, d none. Second: only a, c, d are compared.
    shift = mean_rank_shift_rows([4, 3, 2, 1], [[2, 4, 3, 1], [1, np.nan, 3, 2]])
    np.testing.assert_allclose(shift, [1, 4 / 3])


def test_rows_without_order_have_no_correlation() -> None:
    y = [[0.5, 0.5, 0.5], [0.1, 0.2, np.nan], [np.nan, np.nan, np.nan]]
    for metric in (pearson_rows, spearman_rows):
        assert np.isnan(metric([1, 2, 3], y)).all()
    assert np.isnan(mean_rank_shift_rows([1, 2, 3], y)).tolist() == [False, False, True]
    assert pearson_rows(np.empty((2, 0)), np.empty((2, 0))).shape == (2,)


def by_scipy(x: np.ndarray, y: np.ndarray) -> float:
    known = ~(np.isnan(x) | np.isnan(y))
    if known.sum() < 3 or np.ptp(x[known]) == 0 or np.ptp(y[known]) == 0:
        return np.nan
    return stats.kendalltau(x[known], y[known], variant="b").statistic


@st.composite
def rows_with_ties_and_gaps(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    models = draw(st.integers(0, 70))
    rows = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    levels = draw(st.sampled_from([1, 2, 5, 1000]))
    x = rng.integers(0, levels, (draw(st.sampled_from([1, rows])), models)) / 7
    y = rng.integers(0, draw(st.sampled_from([2, 9, 1000])), (rows, models)) / 3
    gaps = draw(st.sampled_from([0, 0.2]))
    x[rng.random(x.shape) < gaps / 2] = np.nan
    y[rng.random(y.shape) < gaps] = np.nan
    return x, y


@given(rows_with_ties_and_gaps())
def test_tau_b_by_row_agrees_with_scipy(case: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = case
    expected = [by_scipy(x[i if len(x) > 1 else 0], row) for i, row in enumerate(y)]
    np.testing.assert_allclose(kendall_tau_b_rows(x, y), expected, atol=1e-12)


@pytest.mark.parametrize("models", [800, 801])
def test_tau_b_of_many_models_agrees_with_scipy(models: int) -> None:
    rng = np.random.default_rng(models)
    x = rng.integers(0, 300, models) / 300
    y = (x + rng.normal(0, 0.3, (3, models))).round(2)
    y[1, rng.random(models) < 0.2] = y[2, 2:] = np.nan
    expected = [by_scipy(x, row) for row in y]
    np.testing.assert_allclose(kendall_tau_b_rows(x, y), expected, atol=1e-12)


def test_no_rows_or_two_models_give_no_tau_b() -> None:
    assert kendall_tau_b_rows([1, 2, 3], np.empty((0, 3))).shape == (0,)
    assert np.isnan(kendall_tau_b_rows([1, 2], [[1, 2]])).all()


def test_rows_of_other_models_are_refused() -> None:
    with pytest.raises(ValueError, match="equal length"):
        kendall_tau_b_rows([1, 2, 3], [[1, 2]])
