"""Rank correlations: by hand, against the SMART paper's tables and against SciPy."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchwright.statistics.rank_agreement import (
    kendall_tau_b,
    pearson,
    rank_shift,
    ranks,
    spearman,
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


def test_tau_b_discounts_ties_where_tau_a_does_not() -> None:
    # Pairs: 5 concordant, 0 discordant, one tied in x, none in y, 6 in all.
    # tau-b = 5 / sqrt(5 * 6) = 0.9129; tau-a would be 5 / 6 = 0.8333.
    assert kendall_tau_b([1, 2, 2, 3], [1, 2, 3, 4]).value == pytest.approx(0.912871, abs=1e-6)


def test_tau_b_with_ties_on_both_sides_and_a_discordant_pair() -> None:
    # x ties (b, c); y ties (c, d). Of the six pairs: ab −, ac +, ad +, bc tied, bd +, cd tied.
    # C = 3, D = 1, untied in x 5, untied in y 5: (3 − 1) / sqrt(5 * 5) = 0.4.
    assert kendall_tau_b([1, 2, 2, 3], [2, 1, 3, 3]).value == pytest.approx(0.4)


def test_a_reversed_order_is_minus_one_and_the_same_order_is_one() -> None:
    assert kendall_tau_b([1, 2, 3, 4], [9, 7, 5, 3]).value == -1
    assert spearman([1, 2, 3, 4], [10, 100, 1000, 10000]).value == pytest.approx(1)
    assert pearson([1, 2, 3, 4], [10, 100, 1000, 10000]).value < 0.95


@pytest.mark.parametrize(
    ("dataset", "models", "tau_b"),
    [("arc", 29, 0.962), ("mmlu", 30, 0.976), ("commonsense_qa", 30, 0.973)],
)
def test_tau_b_of_the_papers_tables(
    repository: Path, dataset: str, models: int, tau_b: float
) -> None:
    """Accuracies as printed in SMART, Tables 10–12; its text says .951, .978 and .965."""
    tables = pd.read_csv(repository / "tests" / "data" / "smart_tables_10_11_12.csv")
    printed = tables[tables["benchmark"] == dataset]
    seen = kendall_tau_b(printed["full"], printed["kept"])
    assert seen.n == models
    assert seen.value == pytest.approx(tau_b, abs=5e-4)


@given(two_scorings())
def test_coefficients_are_scipys(pair: tuple[list[float], list[float]]) -> None:
    x, y = pair
    assert kendall_tau_b(x, y).value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)
    assert spearman(x, y).value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    assert pearson(x, y).value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)


@given(scores)
def test_ranks_are_scipys_with_the_best_first(values: list[float]) -> None:
    assert ranks(values) == pytest.approx(stats.rankdata([-v for v in values], method="average"))


def test_many_models_span_several_blocks() -> None:
    rng = np.random.default_rng(7)
    x = rng.integers(0, 200, 1_300) / 200
    y = x + rng.normal(0, 0.2, 1_300).round(1)
    assert kendall_tau_b(x, y).value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_rank_shift_counts_places() -> None:
    # Full order a b c d; after: b c a d. a moves 2 places, b and c one each, d none.
    shift = rank_shift([0.9, 0.8, 0.7, 0.6], [0.5, 0.7, 0.6, 0.4])
    assert (shift.mean, shift.largest, shift.n) == (1.0, 2.0, 4)


@pytest.mark.parametrize("coefficient", [kendall_tau_b, spearman, pearson])
@pytest.mark.parametrize(
    ("x", "y", "n", "reason"),
    [
        ([], [], 0, "0 models"),
        ([0.1, 0.2], [0.3, 0.4], 2, "2 models"),
        ([0.1, 0.2, np.nan], [0.1, 0.2, 0.3], 2, "2 models"),
        ([0.5, 0.5, 0.5], [0.1, 0.2, 0.3], 3, "same score"),
        ([0.1, 0.2, 0.3], [0.0, 0.0, 0.0], 3, "same score"),
    ],
)
def test_where_no_order_exists_the_figure_is_missing_with_a_reason(
    coefficient, x: list[float], y: list[float], n: int, reason: str
) -> None:
    seen = coefficient(x, y)
    assert np.isnan(seen.value)
    assert seen.n == n
    assert reason in seen.reason


def test_a_missing_score_leaves_that_model_out() -> None:
    seen = kendall_tau_b([0.1, 0.2, np.nan, 0.3], [1, 2, 0, 3])
    assert (seen.value, seen.n, seen.reason) == (1.0, 3, "")


def test_one_model_has_no_shift() -> None:
    seen = rank_shift([0.4], [0.3])
    assert np.isnan(seen.mean)
    assert np.isnan(seen.largest)
    assert "1 model;" in seen.reason


def test_vectors_of_different_length_are_a_programming_error() -> None:
    with pytest.raises(ValueError, match="one length"):
        kendall_tau_b([1, 2, 3], [1, 2])
