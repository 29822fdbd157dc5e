"""Choice of a sampler, and the agreement expected by chance."""

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.dele.evidence.choice import (
    choose_sampler,
    fixed_orders,
    gain_over_random,
    luck_of_winners,
)
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.params.sampling import AdaptiveParams

RATES = (1, 5, 10, 25, 50)


def _figures(quality: dict[str, tuple[float, float, float]]) -> pd.DataFrame:
    """Return results with a given correlation, Wasserstein distance and spread by sampler."""
    return pd.DataFrame(
        [
            {
                "sampler": name,
                "rate": rate,
                "repeat": repeat,
                "spearman": correlation,
                "pearson": correlation,
                "tau_b": correlation - 0.1,
                "wasserstein": distance,
                "mean_absolute_error": distance,
                "bias": (-1) ** repeat * spread,
            }
            for name, (correlation, distance, spread) in quality.items()
            for rate in RATES
            for repeat in range(4)
        ]
    )


def test_best_mean_rank_wins() -> None:
    figures = _figures({"a": (0.95, 0.03, 0.02), "b": (0.94, 0.01, 0.01), "c": (0.93, 0.02, 0.03)})
    choice = choose_sampler(figures, AdaptiveParams())
    assert choice.winner == "b"  # ranks 2, 1, 1
    assert choice.reason == ""
    places = choice.ranking.set_index("sampler")["mean_rank"]
    assert places.to_dict() == pytest.approx({"b": 4 / 3, "a": 2, "c": 8 / 3})


def test_sampler_below_the_minimum_correlation_is_not_eligible() -> None:
    figures = _figures({"a": (0.91, 0.03, 0.03), "b": (0.89, 0.01, 0.01)})
    assert choose_sampler(figures, AdaptiveParams()).winner == "a"
    dips = figures["sampler"].eq("a") & figures["rate"].eq(10)
    figures.loc[dips, "spearman"] = 0.5
    choice = choose_sampler(figures, AdaptiveParams())
    assert choice.winner == "b"
    assert "0.9" in choice.reason


def test_only_rates_in_the_range_count() -> None:
    figures = _figures({"a": (0.95, 0.01, 0.01), "b": (0.94, 0.02, 0.02)})
    outside = figures["sampler"].eq("a") & figures["rate"].isin([1, 50])
    figures.loc[outside, ["spearman", "wasserstein"]] = [0.1, 9]
    assert choose_sampler(figures, AdaptiveParams()).winner == "a"
    narrow = AdaptiveParams(lowest_rate=26, highest_rate=30)
    assert choose_sampler(figures, narrow).winner == ""
    assert "26%" in choose_sampler(figures, narrow).reason


def test_ties_are_broken_by_name_in_any_row_order() -> None:
    figures = _figures({"b": (0.95, 0.01, 0.01), "a": (0.95, 0.01, 0.01)})
    mixed = figures.sample(frac=1, random_state=0)
    assert choose_sampler(figures, AdaptiveParams()).winner == "a"
    assert choose_sampler(mixed, AdaptiveParams()).winner == "a"


def test_no_sampler_wins_without_correlations() -> None:
    figures = _figures({"a": (np.nan, 0.01, 0.01), "b": (np.nan, 0.02, 0.01)})
    choice = choose_sampler(figures, AdaptiveParams())
    assert choice.winner == ""
    assert "too few models" in choice.reason


def test_gain_is_positive_if_the_sampler_is_better() -> None:
    figures = _figures({"a": (0.95, 0.01, 0.01), "random": (0.93, 0.02, 0.02)})
    params = AdaptiveParams()
    assert gain_over_random(figures, "a", "spearman", params) == pytest.approx(0.02)
    assert gain_over_random(figures, "a", "wasserstein", params) == pytest.approx(0.01)
    assert gain_over_random(figures, "a", "variance", params) == pytest.approx(4e-4)
    assert gain_over_random(figures, "random", "spearman", params) == 0
    assert np.isnan(gain_over_random(figures, "none", "spearman", params))


def test_fixed_orders_differ_and_are_constant_over_repeats() -> None:
    ids = tuple(f"i{place}" for place in range(30))
    pool = SamplingPool(ids, ("",) * 30, ids)
    orders = fixed_orders(4, seed=1)
    taken = {
        name: [tuple(sampler(pool, repeat)(12).positions.tolist()) for repeat in (0, 1)]
        for name, sampler in orders.items()
    }
    assert all(first == second for first, second in taken.values())
    assert len({first for first, _ in taken.values()}) == 4
    assert fixed_orders(1, seed=2)["order 000"](pool, 0)(12).positions.tolist() != list(
        taken["order 000"][0]
    )


def test_agreement_of_winners_is_compared_with_chance() -> None:
    first = pd.Series({"s1": "a", "s2": "a", "s3": "b", "s4": "b", "s5": ""})
    second = pd.Series({"s1": "a", "s2": "b", "s3": "b", "s4": "a", "s6": "a"})
    luck = luck_of_winners(first, second, samplers=10)
    assert luck.n == 4
    assert luck.agreed == 2
    assert luck.expected == pytest.approx(2.0)
    assert luck.distinct == 2
    assert luck.uniform == pytest.approx(0.4)
    assert luck_of_winners(first[:0], second, 10).n == 0


def test_random_winners_agree_as_often_as_expected() -> None:
    generator = np.random.default_rng(1)
    names = np.array(list("abcdefghij"))
    agreed, expected = [], []
    for _ in range(300):
        halves = [pd.Series(generator.choice(names, 57)) for _ in range(2)]
        luck = luck_of_winners(*halves, samplers=10)
        agreed.append(luck.agreed)
        expected.append(luck.expected)
    assert np.mean(agreed) == pytest.approx(5.7, abs=0.5)
    assert np.mean(expected) == pytest.approx(5.7, abs=0.2)
