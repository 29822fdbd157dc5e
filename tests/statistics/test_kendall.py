"""Tau-b of many rows: against SciPy row by row, with ties, gaps and blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchwright.statistics import rank_agreement as kendall
from benchwright.statistics.rank_agreement import kendall_tau_b_rows


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
def test_every_row_is_scipys(case: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = case
    expected = [by_scipy(x[i if len(x) > 1 else 0], row) for i, row in enumerate(y)]
    np.testing.assert_allclose(kendall_tau_b_rows(x, y), expected, atol=1e-12)


@pytest.mark.parametrize("models", [1_023, 1_024, 1_025])
def test_sizes_around_a_power_of_two_are_scipys(models: int) -> None:
    rng = np.random.default_rng(models)
    x = rng.integers(0, 300, models) / 300
    y = (x + rng.normal(0, 0.3, (2, models))).round(2)
    expected = [by_scipy(x, row) for row in y]
    np.testing.assert_allclose(kendall_tau_b_rows(x, y), expected, atol=1e-12)


def test_more_models_than_a_16_bit_number_counts() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=70_000)
    y = x + rng.normal(size=70_000)
    assert kendall_tau_b_rows(x, y[None])[0] == pytest.approx(by_scipy(x, y), abs=1e-12)


def test_blocks_do_not_change_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random((7, 40)), rng.random((7, 40))
    whole = kendall_tau_b_rows(x, y), kendall_tau_b_rows(x[0], y)
    monkeypatch.setattr(kendall, "_BLOCK_BYTES", 2 * 40 * kendall._BYTES_PER_CELL)
    np.testing.assert_array_equal(kendall_tau_b_rows(x, y), whole[0])
    np.testing.assert_array_equal(kendall_tau_b_rows(x[0], y), whole[1])


def test_infinite_scores_have_a_place_in_the_order() -> None:
    assert kendall_tau_b_rows([-np.inf, 0, 1, np.inf], [[1, 2, 3, 4]])[0] == 1


@pytest.mark.parametrize(
    "row", [[0.5, 0.5, 0.5, 0.5], [0.1, np.nan, np.nan, 0.2], [np.nan] * 4], ids=str
)
def test_a_row_without_an_order_is_missing(row: list[float]) -> None:
    seen = kendall_tau_b_rows([1, 2, 3, 4], [row, [1, 2, 3, 4]])
    assert np.isnan(seen[0])
    assert seen[1] == 1


def test_no_rows_and_two_models_give_nothing() -> None:
    assert kendall_tau_b_rows([1, 2, 3], np.empty((0, 3))).shape == (0,)
    assert np.isnan(kendall_tau_b_rows([1, 2], [[1, 2]])).all()


def test_rows_of_other_models_are_a_programming_error() -> None:
    with pytest.raises(ValueError, match="one length"):
        kendall_tau_b_rows([1, 2, 3], [[1, 2]])
