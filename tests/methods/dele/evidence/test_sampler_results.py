"""Results of samplers by rate, repeat and panel."""

from itertools import combinations

import numpy as np
import pytest

from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.evidence.sampler_results import (
    independent_repeats,
    measure_samplers,
    repeat_seed,
)
from benchwright.methods.dele.evidence.study import Draws, sizes_of_rates
from benchwright.methods.dele.samplers.pool import Draw, SamplingPool
from benchwright.statistics.preservation import ModelPanels, preservation_by_panel

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


def test_results_are_those_of_the_draws_by_panel() -> None:
    samplers = {"first": _first, "shuffled": _shuffled, "weighted": _weighted}
    draws = Draws([10, 25, 60, 100], {"first": 1, "shuffled": 7, "weighted": 3}, seed=5)
    together = measure_samplers(_pool(), samplers, PANELS, draws)
    key = together[["sampler", "panel", "rate", "repeat"]]
    assert key.equals(key.sort_values(key.columns.tolist(), ignore_index=True))
    weights = np.zeros((4, N))
    for row, size in enumerate([4, 10, 24, 40]):
        subset = _weighted(_pool(), 0)(size)
        weights[row, subset.positions] = subset.weights
    for panel in PANELS.panels:
        row = together.query(f"sampler == 'weighted' and panel == {panel!r} and repeat == 2")
        metrics = preservation_by_panel(PANELS, weights)[panel]
        for name, values in metrics._asdict().items():
            assert row[name].to_numpy() == pytest.approx(values)
    overlap = together.groupby(["sampler", "rate"])["overlap"].first()
    assert overlap["first"].isna().all()
    assert (overlap["weighted"] == 1).all()
    orders = [
        set(np.random.default_rng(repeat_seed(5, "shuffled", r)).permutation(N)[:10])
        for r in range(7)
    ]
    shared = [len(a & b) / 10 for a, b in combinations(orders, 2)]
    assert overlap["shuffled", 25] == pytest.approx(np.mean(shared))
    assert overlap["shuffled", 100] == 1


@pytest.mark.parametrize(
    ("repeats", "overlap", "worth"),
    [(20, 0.25, 20), (20, 0.1, 20), (20, 1, 1), (20, 0.4, 4), (1, np.nan, 1), (2, 0.99, 1)],
)
def test_repeats_with_common_items_are_worth_fewer(
    repeats: int, overlap: float, worth: int
) -> None:
    assert independent_repeats(repeats, overlap, share=0.25) == worth
