"""Scores on subsets and their metrics agree with plain loops and SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchwright.statistics import subset_scores as module
from benchwright.statistics.paired_differences import clustered_se
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.statistics.rank_agreement import kendall_tau_b, mean_rank_shift
from benchwright.statistics.subset_scores import (
    SubsetMetrics,
    full_metrics,
    subset_metrics,
    subset_scores,
)


def answers(m: int, n: int, *, missing: float = 0, fractional: bool = False) -> np.ndarray:
    rng = np.random.default_rng(m * n)
    chance = 1 / (1 + np.exp(-rng.normal(size=(m, 1)) - rng.normal(size=n)))
    correct = chance if fractional else (rng.random((m, n)) < chance).astype(float)
    correct[rng.random((m, n)) < missing] = np.nan
    return correct.astype(np.float32)


@given(st.integers(0, 6), st.integers(1, 12), st.booleans(), st.sampled_from([0, 0.4]))
def test_scores_are_weighted_means_of_answered_items(
    m: int, n: int, fractional: bool, missing: float
) -> None:
    correct = answers(m, n, missing=missing, fractional=fractional)
    weights = np.random.default_rng(n).integers(0, 3, (4, n))
    seen = subset_scores(correct, weights)
    assert seen.shape == (4, m)
    for row, weight in zip(seen, weights, strict=True):
        for score, responses in zip(row, correct, strict=True):
            known = ~np.isnan(responses)
            if weight[known].sum() == 0:
                assert np.isnan(score)
            else:
                expected = np.average(responses[known].astype(float), weights=weight[known])
                assert score == pytest.approx(expected, abs=1e-11)


def means(correct: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.nansum(correct, axis=1, dtype=np.float64) / (~np.isnan(correct)).sum(axis=1)


@pytest.mark.parametrize(("missing", "fractional"), [(0, False), (0.3, False), (0.3, True)])
def test_metrics_equal_those_of_each_subset_alone(missing: float, fractional: bool) -> None:
    correct = answers(25, 60, missing=missing, fractional=fractional)
    correct[3] = np.nan
    masks = draw_subsets(60, 20, 6, np.random.default_rng(0))
    metrics = subset_metrics(correct, masks, top=5)
    full = means(correct)
    for i, mask in enumerate(masks):
        part, rest = means(correct[:, mask]), means(correct[:, ~mask])
        known = ~np.isnan(full) & ~np.isnan(part)
        errors = clustered_se(correct[:, mask], np.arange(int(mask.sum())))
        a, b = full[known], part[known]
        expected = SubsetMetrics(
            *(
                stats.kendalltau(a, b).statistic,
                stats.spearmanr(a, b).statistic,
                kendall_tau_b(rest, part).value,
                mean_rank_shift(full, part).value,
                100 * (b.mean() - a.mean()),
                100 * stats.wasserstein_distance(a, b),
                100 * (np.sort(b)[-1] - np.sort(b)[-5]),
                b.std(ddof=1) / np.sqrt((errors[known] ** 2).mean()),
            )
        )
        seen = SubsetMetrics(*(metric[i] for metric in metrics))
        assert seen._asdict() == pytest.approx(expected._asdict(), abs=1e-9)


@pytest.mark.parametrize("fractional", [False, True])
def test_metrics_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch, fractional: bool) -> None:
    correct = answers(30, 40, missing=0.1, fractional=fractional)
    masks = draw_subsets(40, 15, 8, np.random.default_rng(1))
    whole = subset_metrics(correct, masks)
    monkeypatch.setattr(module, "_BLOCK_BYTES", 24 * 40 * 7)
    for name, seen in subset_metrics(correct, masks)._asdict().items():
        np.testing.assert_allclose(seen, getattr(whole, name), atol=1e-9, err_msg=name)


def test_equal_fractional_answers_give_tied_scores_in_any_order() -> None:
    rng = np.random.default_rng(2)
    values = rng.random(500).astype(np.float32)
    correct = np.stack([values, rng.permutation(values), rng.permutation(values)])
    scores = subset_scores(correct, np.ones((1, 500), dtype=bool))[0]
    assert len(set(scores.tolist())) == 1


def test_metrics_of_all_items_equal_those_of_the_full_subset() -> None:
    correct = answers(12, 30)
    whole = subset_metrics(correct, np.ones((1, 30), dtype=bool), top=4)
    alone = full_metrics(correct, top=4)
    assert whole.kendall_tau_b[0] == whole.spearman[0] == pytest.approx(1)
    assert whole.mean_rank_shift[0] == whole.signed_shift[0] == whole.wasserstein[0] == 0
    assert np.isnan(whole.tau_b_complement[0])  # nothing is left outside
    assert alone.spread_top == whole.spread_top
    assert alone.signal_to_noise == whole.signal_to_noise
    assert np.isnan(alone.kendall_tau_b[0])


def test_empty_subset_has_no_metrics() -> None:
    metrics = subset_metrics(answers(5, 8), np.zeros((2, 8), dtype=bool))
    assert all(np.isnan(values).all() and values.shape == (2,) for values in metrics)


@pytest.mark.parametrize(
    ("correct", "missing"),
    [
        (np.ones((4, 6)), {"kendall_tau_b", "spearman", "tau_b_complement", "signal_to_noise"}),
        (answers(2, 6), {"kendall_tau_b", "spearman", "tau_b_complement"}),
        (np.empty((0, 6)), set(SubsetMetrics._fields)),
        (np.full((4, 6), np.nan), set(SubsetMetrics._fields)),
    ],
    ids=["all tied", "two models", "no models", "no answers"],
)
def test_degenerate_answers_leave_metrics_missing(correct: np.ndarray, missing: set[str]) -> None:
    mask = np.array([[True, True, True, False, False, False]])
    metrics = subset_metrics(correct, mask)._asdict()
    assert {name for name, values in metrics.items() if np.isnan(values[0])} == missing
