"""Results of samplers by rate, repeat and panel."""

import numpy as np
import pandas as pd
import pytest

from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.evidence.sampler_results import (
    METRICS,
    measure_samplers,
    repeat_seed,
    weights_of,
)
from benchwright.methods.dele.evidence.study import Draws, sizes_of_rates
from benchwright.methods.dele.samplers.pool import Draw, SamplingPool
from benchwright.statistics.preservation import ModelPanels, preservation

N = 40


def _pool() -> SamplingPool:
    ids = tuple(f"i{place}" for place in range(N))
    return SamplingPool(ids, ("",) * N, ids)


def _answers(seed: int, models: int = 9) -> np.ndarray:
    generator = np.random.default_rng(seed)
    ability = generator.normal(size=(models, 1))
    return (ability > generator.normal(size=(models, N))).astype(np.float32)


PANELS = ModelPanels.of(_answers(2, models=12), {"held_out": np.arange(5), "all": np.arange(3, 12)})


def _shuffled(pool: SamplingPool, seed: int) -> Draw:
    order = np.random.default_rng(seed).permutation(len(pool))
    return lambda size: WeightedSubset.equal(order[:size])


def _first(pool: SamplingPool, seed: int) -> Draw:
    return lambda size: WeightedSubset.equal(np.arange(size))


def _weighted(pool: SamplingPool, seed: int) -> Draw:
    """Return unequal weights, except at one size."""
    return lambda size: WeightedSubset(
        np.arange(size), np.full(size, 1 / size) if size == 10 else _falling(size)
    )


def _falling(size: int) -> np.ndarray:
    halves = 0.5 ** np.arange(size)
    return halves / halves.sum()


def test_sizes_are_rounded_shares_of_all_items() -> None:
    assert sizes_of_rates([1, 2.5, 50, 99, 100], 40) == [1, 1, 20, 40, 40]
    assert sizes_of_rates([1, 10], 7) == [1, 1]
    assert sizes_of_rates([12.5], 4) == [1]  # rounds half up
    assert sizes_of_rates([50], 0) == [0]


def test_seeds_differ_by_repeat_and_sampler() -> None:
    seeds = {repeat_seed(s, name, r) for s in (0, 1) for name in ("a", "b") for r in range(20)}
    assert len(seeds) == 80


def test_weights_sum_to_one() -> None:
    weights = weights_of([_first(_pool(), 0)], 1, [1, 7, N], N)
    assert weights.sum(axis=1) == pytest.approx(1)
    assert np.count_nonzero(weights, axis=1).tolist() == [1, 7, N]


def test_every_sampler_is_measured_at_every_rate_on_every_panel() -> None:
    samplers = {"first": _first, "shuffled": _shuffled}
    draws = Draws([10, 50, 100], dict.fromkeys(samplers, 4), seed=5)
    results = measure_samplers(_pool(), samplers, PANELS, draws)
    assert len(results) == 2 * 2 * 3 * 4
    assert results.columns.tolist() == ["sampler", "panel", "rate", "size", "repeat", *METRICS]
    whole = results[results["rate"].eq(100)]
    assert whole["mean_absolute_error"].to_numpy() == pytest.approx(0, abs=1e-12)
    assert whole["tau_b"].to_numpy() == pytest.approx(1)
    row = results.query("sampler == 'first' and panel == 'all' and rate == 50 and repeat == 2")
    weights = np.zeros((1, N))
    weights[0, :20] = 1
    metrics = preservation(_answers(2, models=12)[3:], weights)
    assert row["spearman"].item() == pytest.approx(metrics.spearman[0])
    assert row["bias"].item() == pytest.approx(metrics.bias[0])
    by_repeat = results.query("panel == 'all' and rate == 50").groupby("sampler")["tau_b"].nunique()
    assert by_repeat["first"] == 1
    assert by_repeat["shuffled"] > 1


def test_results_are_empty_without_samplers() -> None:
    assert measure_samplers(_pool(), {}, PANELS, Draws([10], {}, seed=0)).empty


def test_results_do_not_depend_on_the_block_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    samplers = {"first": _first, "shuffled": _shuffled, "weighted": _weighted}
    draws = Draws([10, 25, 60, 100], {"first": 1, "shuffled": 7, "weighted": 3}, seed=5)
    together = measure_samplers(_pool(), samplers, PANELS, draws)
    monkeypatch.setattr("benchwright.methods.dele.evidence.sampler_results._BLOCK_BYTES", 1)
    pd.testing.assert_frame_equal(together, measure_samplers(_pool(), samplers, PANELS, draws))
    key = together[["sampler", "panel", "rate", "repeat"]]
    assert key.equals(key.sort_values(key.columns.tolist(), ignore_index=True))
    weights = weights_of([_weighted(_pool(), 0)], 1, [4, 10, 24, 40], N)
    for panel, members in PANELS.panels.items():
        row = together.query(f"sampler == 'weighted' and panel == {panel!r} and repeat == 2")
        metrics = preservation(PANELS.correct[members], weights)
        for name, values in metrics._asdict().items():
            assert row[name].to_numpy() == pytest.approx(values)
