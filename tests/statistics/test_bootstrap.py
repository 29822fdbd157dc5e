"""Bootstrap resamples and intervals."""

import numpy as np
import pytest

from benchwright.statistics import bootstrap as module
from benchwright.statistics.bootstrap import (
    normal_interval,
    percentile_interval,
    rank_agreement_intervals,
    resample_blocks,
)
from benchwright.statistics.rank_agreement import kendall_tau_b
from benchwright.statistics.subset_scores import subset_scores


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def answers(m: int, n: int, seed: int = 0) -> np.ndarray:
    draw = rng(seed)
    chance = 1 / (1 + np.exp(-draw.normal(size=(m, 1)) - draw.normal(size=n)))
    return (draw.random((m, n)) < chance).astype(np.float32)


def test_items_of_a_cluster_are_resampled_together() -> None:
    clusters = np.array([4, 4, 7, 9, 9, 9])
    counts = np.concatenate(list(resample_blocks(clusters, 4_000, rng())))
    assert counts.dtype == np.int16
    assert (counts[:, 0] == counts[:, 1]).all()
    assert (counts[:, 3] == counts[:, 4]).all()
    assert (counts[:, [0, 2, 3]].sum(axis=1) == 3).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(6), abs=0.05)
    assert counts[:, 2].var() == pytest.approx(2 / 3, abs=0.05)  # binomial, 3 draws of 1/3


def test_percentile_interval_is_the_middle_of_the_draws() -> None:
    seen = percentile_interval(np.arange(1_001))
    assert seen == (pytest.approx(25), pytest.approx(975), 1_001, "")


def test_undefined_resamples_are_left_out_and_mentioned_if_many() -> None:
    few = percentile_interval([np.nan] * 4 + list(range(96)))
    many = percentile_interval([np.nan] * 6 + list(range(94)))
    assert (few.draws, few.reason) == (96, "")
    assert (many.draws, many.reason) == (94, "6 of 100 resamples do not have this metric")
    none = percentile_interval([np.nan, np.nan])
    assert np.isnan(none.low)
    assert none.reason == "no resample has this metric"


def test_normal_interval_contains_the_value_and_stays_in_range() -> None:
    draws = rng(2).normal(0.7, 0.02, 5_000)
    seen = normal_interval(0.9, draws)
    assert seen.high - 0.9 == pytest.approx(1.959964 * np.std(draws, ddof=1), rel=1e-6)
    assert (seen.low, seen.high) == pytest.approx((0.9 - 0.0392, 0.9 + 0.0392), abs=1e-3)
    assert normal_interval(0.98, draws, bounds=(-1, 1)).high == 1
    assert np.isnan(normal_interval(np.nan, draws).low)


def test_intervals_contain_the_metric_and_narrow_with_more_items() -> None:
    few, many = answers(30, 100), answers(30, 2_500)
    widths = []
    for correct in (few, many):
        n = correct.shape[1]
        kept = rng(3).random(n) < 0.4
        intervals = rank_agreement_intervals(correct, kept, np.arange(n), 200, rng(4))
        full, part = subset_scores(correct, np.stack([np.ones(n, dtype=bool), kept]))
        value = kendall_tau_b(full, part).value
        assert (
            intervals.over_items["kendall_tau_b"].low
            < value
            < intervals.over_items["kendall_tau_b"].high
        )
        assert (
            intervals.over_models["kendall_tau_b"].low
            < value
            < intervals.over_models["kendall_tau_b"].high
        )
        assert intervals.over_items["mean_rank_shift"].low >= 0
        assert intervals.over_items["spearman"].high <= 1
        assert (
            intervals.over_items["pearson"].draws == intervals.over_models["pearson"].draws == 200
        )
        widths.append(
            intervals.over_items["kendall_tau_b"].high - intervals.over_items["kendall_tau_b"].low
        )
    assert widths[1] < widths[0] / 2


def test_intervals_depend_on_the_seed_and_not_on_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    correct, kept = answers(12, 50), rng(7).random(50) < 0.5
    whole = rank_agreement_intervals(correct, kept, np.arange(50), 60, rng(8))
    monkeypatch.setattr(module, "_BLOCK_BYTES", 128 * 12 * 7)
    assert rank_agreement_intervals(correct, kept, np.arange(50), 60, rng(8)) == whole


@pytest.mark.parametrize(
    ("correct", "kept", "draws", "reason"),
    [
        (answers(2, 20), True, 20, "2 models; at least 3"),
        (np.empty((0, 20)), True, 20, "0 models; at least 3"),
        (np.ones((5, 20)), True, 20, "same score"),
        (answers(5, 20), False, 20, "no item is kept"),
        (answers(5, 20), True, 0, "no resamples"),
        (np.full((5, 20), np.nan), True, 20, "0 models; at least 3"),
    ],
    ids=["two models", "no models", "all tied", "nothing kept", "no draws", "no answers"],
)
def test_missing_metrics_have_no_interval_but_a_reason(
    correct: np.ndarray, kept: bool, draws: int, reason: str
) -> None:
    all_intervals = rank_agreement_intervals(
        correct, np.full(20, kept), np.arange(20), draws, rng()
    )
    for intervals in all_intervals:
        assert np.isnan(intervals["kendall_tau_b"].low)
        assert reason in intervals["kendall_tau_b"].reason


def test_one_cluster_has_only_an_interval_over_models() -> None:
    kept = np.arange(20) < 8
    intervals = rank_agreement_intervals(answers(9, 20), kept, np.zeros(20, dtype=int), 50, rng())
    assert "1 cluster;" in intervals.over_items["spearman"].reason
    assert intervals.over_models["spearman"].low < intervals.over_models["spearman"].high


def test_equal_resamples_have_a_caveat() -> None:
    correct = np.tril(np.ones((5, 5)))
    intervals = rank_agreement_intervals(correct, np.ones(5, dtype=bool), np.arange(5), 50, rng())
    assert intervals.over_models["kendall_tau_b"][:2] == (1, 1)
    assert "true uncertainty is larger" in intervals.over_models["kendall_tau_b"].reason
