"""Changes in the ranking of models compared with the changes that noise causes."""

import numpy as np

from benchwright.statistics.rank_shuffle import RankShuffle, rank_shuffle


def panel(shares: list[float], n: int = 400, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((len(shares), n)) < np.array(shares)[:, None]).astype(float)


def shuffle(before: np.ndarray, perturbed: np.ndarray, samples: int = 200) -> RankShuffle:
    clusters = np.arange(before.shape[1])
    return rank_shuffle(before, perturbed, clusters, samples, np.random.default_rng(1))


def test_equal_answers_keep_the_order() -> None:
    before = panel([0.9, 0.7, 0.5, 0.3])
    result = shuffle(before, np.stack([before, before]))
    assert result.kendall_tau_b.value == 1
    assert result.tau_b_between_copies.value == 1
    assert result.mean_rank_shift.value == 0
    assert result.ranks[:, 0].tolist() == result.ranks[:, 3].tolist() == [1, 2, 3, 4]


def test_reversed_order_lies_below_the_resampled_range() -> None:
    before = panel([0.9, 0.7, 0.5, 0.3])
    result = shuffle(before, panel([0.3, 0.5, 0.7, 0.9], seed=2)[None])
    assert result.kendall_tau_b.value == -1
    assert result.kendall_tau_b.value < result.tau_b_resampled.low
    assert result.percentile == 0


def test_undefined_metrics_have_a_reason() -> None:
    before = panel([0.8, 0.4])
    result = shuffle(before, before[None])
    assert np.isnan(result.kendall_tau_b.value)
    assert result.kendall_tau_b.reason == "2 models; at least 3 are needed"
    assert result.tau_b_between_copies.reason == "1 copy; at least 2 are needed"
    same = np.ones((4, 10))
    tied = shuffle(same, np.stack([same, same]))
    assert "same score" in tied.kendall_tau_b.reason
    assert "same score" in tied.tau_b_between_copies.reason
    assert np.isnan(tied.tau_b_resampled.value)


def test_without_resamples_there_are_no_bounds() -> None:
    before = panel([0.8, 0.6, 0.4])
    result = shuffle(before, np.stack([before, before]), samples=0)
    assert result.kendall_tau_b.value == 1
    assert np.isnan(result.kendall_tau_b.low)
    assert np.isnan(result.ranks[:, 1]).all()
