"""Rank correlations: by hand, against the SMART paper's tables and against SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchwright.statistics.rank_agreement import (
    kendall_tau_b,
    pearson,
    rank_shift,
    ranks,
    spearman,
)

# Accuracy before and after filtering as printed in SMART, Tables 10, 11 and 12.
ARC = [
    (0.939, 0.830),  # Qwen2-72B-Instruct
    (0.934, 0.819),  # Meta-Llama-3.1-70B-Instruct
    (0.933, 0.819),  # Meta-Llama-3-70B-Instruct
    (0.925, 0.788),  # gemma-2-27b-it
    (0.923, 0.781),  # Phi-3-medium-4k-instruct
    (0.920, 0.785),  # Phi-3.5-MoE-instruct
    (0.916, 0.762),  # Mixtral-8x22B-Instruct-v0.1
    (0.910, 0.757),  # gemma-2-9b-it
    (0.909, 0.745),  # Yi-34B-Chat
    (0.907, 0.752),  # Qwen1.5-32B-Chat
    (0.905, 0.732),  # dbrx-instruct
    (0.902, 0.724),  # Yi-34B
    (0.894, 0.728),  # Yi-1.5-9B-Chat
    (0.883, 0.721),  # Meta-Llama-3-8B-Instruct
    (0.882, 0.697),  # Qwen2-7B-Instruct
    (0.876, 0.681),  # Mixtral-8x7B-Instruct-v0.1
    (0.876, 0.688),  # Mixtral-8x7B-v0.1
    (0.875, 0.675),  # internlm2_5-20b-chat
    (0.861, 0.647),  # internlm2_5-7b-chat
    (0.855, 0.644),  # Llama-2-70b-hf
    (0.837, 0.611),  # gemma-7b
    (0.802, 0.563),  # Mistral-7B-v0.3
    (0.793, 0.581),  # Mistral-7B-Instruct-v0.2
    (0.764, 0.518),  # Qwen-7B-Chat
    (0.738, 0.531),  # gemma-7b-it
    (0.733, 0.476),  # Qwen-7B
    (0.722, 0.510),  # falcon-40b
    (0.722, 0.507),  # falcon-40b-instruct
    (0.639, 0.435),  # OLMo-1.7-7B-hf
]

MMLU = [
    (0.841, 0.743),  # Qwen2-72B-Instruct
    (0.823, 0.714),  # Meta-Llama-3.1-70B-Instruct
    (0.803, 0.692),  # Meta-Llama-3-70B-Instruct
    (0.787, 0.670),  # Phi-3.5-MoE-instruct
    (0.781, 0.656),  # Phi-3-medium-4k-instruct
    (0.779, 0.653),  # Mixtral-8x22B-Instruct-v0.1
    (0.764, 0.634),  # Yi-1.5-34B-Chat
    (0.762, 0.639),  # gemma-2-27b-it
    (0.758, 0.624),  # Yi-34B
    (0.754, 0.615),  # Qwen1.5-32B-Chat
    (0.747, 0.603),  # Yi-34B-Chat
    (0.732, 0.600),  # dbrx-instruct
    (0.725, 0.588),  # gemma-2-9b-it
    (0.711, 0.568),  # internlm2_5-7b-chat
    (0.706, 0.565),  # Mixtral-8x7B-Instruct-v0.1
    (0.704, 0.568),  # Mixtral-8x7B-v0.1
    (0.702, 0.564),  # Qwen2-7B-Instruct
    (0.701, 0.567),  # internlm2_5-20b-chat
    (0.699, 0.556),  # Yi-1.5-9B-Chat
    (0.690, 0.544),  # Llama-2-70b-hf
    (0.664, 0.505),  # Meta-Llama-3-8B-Instruct
    (0.644, 0.492),  # gemma-7b
    (0.626, 0.468),  # Mistral-7B-v0.3
    (0.593, 0.441),  # Mistral-7B-Instruct-v0.2
    (0.574, 0.426),  # Qwen-7B
    (0.563, 0.415),  # Qwen-7B-Chat
    (0.558, 0.412),  # falcon-40b
    (0.547, 0.402),  # falcon-40b-instruct
    (0.521, 0.381),  # OLMo-1.7-7B-hf
    (0.517, 0.389),  # gemma-7b-it
]

COMMONSENSE_QA = [
    (0.885, 0.845),  # Qwen2-72B-Instruct
    (0.833, 0.776),  # Yi-1.5-34B-Chat
    (0.833, 0.771),  # Meta-Llama-3-70B-Instruct
    (0.830, 0.767),  # Qwen1.5-32B-Chat
    (0.815, 0.741),  # Meta-Llama-3.1-70B-Instruct
    (0.809, 0.739),  # Phi-3.5-MoE-instruct
    (0.808, 0.733),  # gemma-2-9b-it
    (0.804, 0.724),  # Qwen2-7B-Instruct
    (0.797, 0.722),  # Phi-3-medium-4k-instruct
    (0.797, 0.718),  # Yi-34B
    (0.794, 0.719),  # gemma-2-27b-it
    (0.791, 0.712),  # Yi-34B-Chat
    (0.790, 0.718),  # Yi-1.5-9B-Chat
    (0.789, 0.714),  # internlm2_5-7b-chat
    (0.786, 0.704),  # dbrx-instruct
    (0.777, 0.695),  # internlm2_5-20b-chat
    (0.765, 0.680),  # Meta-Llama-3-8B-Instruct
    (0.759, 0.672),  # Mixtral-8x22B-Instruct-v0.1
    (0.739, 0.670),  # OLMo-1.7-7B-hf
    (0.706, 0.600),  # Mixtral-8x7B-Instruct-v0.1
    (0.688, 0.594),  # gemma-7b-it
    (0.683, 0.586),  # Qwen-7B
    (0.682, 0.590),  # Mistral-7B-Instruct-v0.2
    (0.678, 0.579),  # falcon-40b-instruct
    (0.652, 0.557),  # Qwen-7B-Chat
    (0.646, 0.551),  # gemma-7b
    (0.603, 0.499),  # Mistral-7B-v0.3
    (0.583, 0.465),  # Llama-2-70b-hf
    (0.581, 0.468),  # Mixtral-8x7B-v0.1
    (0.555, 0.446),  # falcon-40b
]


PAPER = {"arc": ARC, "mmlu": MMLU, "commonsense_qa": COMMONSENSE_QA}

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
def test_tau_b_of_the_papers_tables(dataset: str, models: int, tau_b: float) -> None:
    full, kept = np.array(PAPER[dataset]).T
    seen = kendall_tau_b(full, kept)
    assert seen.n == models
    assert seen.value == pytest.approx(tau_b, abs=5e-4)


@settings(deadline=None)
@given(two_scorings())
def test_coefficients_are_scipys(pair: tuple[list[float], list[float]]) -> None:
    x, y = pair
    assert kendall_tau_b(x, y).value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)
    assert spearman(x, y).value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    assert pearson(x, y).value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)


@settings(deadline=None)
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
