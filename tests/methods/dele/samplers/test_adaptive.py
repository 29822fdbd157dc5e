"""Choice of a sampler by its results."""

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.dele.evidence.choice import choose_sampler, gain_over_random
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
                "error_sd": spread,
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


def test_minimum_correlation_holds_at_every_rate_and_may_be_reached_exactly() -> None:
    figures = _figures({"a": (0.95, 0.01, 0.01), "b": (0.9, 0.03, 0.03)})
    figures.loc[figures["sampler"].eq("a") & figures["rate"].eq(10), "spearman"] = 0.85
    choice = choose_sampler(figures, AdaptiveParams())
    assert (choice.winner, choice.reason) == ("b", "")


def test_sampler_without_a_criterion_has_the_last_rank_by_it() -> None:
    figures = _figures({"a": (0.95, 0.01, np.nan), "b": (0.94, 0.02, 0.02)})
    assert choose_sampler(figures, AdaptiveParams(criteria=("error_sd",))).winner == "b"


def test_only_rates_in_the_range_count() -> None:
    figures = _figures({"a": (0.95, 0.01, 0.01), "b": (0.94, 0.02, 0.02)})
    outside = figures["sampler"].eq("a") & figures["rate"].isin([1, 50])
    figures.loc[outside, ["spearman", "wasserstein"]] = [0.1, 9]
    assert choose_sampler(figures, AdaptiveParams()).winner == "a"
    narrow = AdaptiveParams(lowest_rate=26, highest_rate=30)
    assert choose_sampler(figures, narrow).winner == ""
    assert "26%" in choose_sampler(figures, narrow).reason


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
    assert gain_over_random(figures, "a", "error_sd", params) == pytest.approx(0.01)
    assert gain_over_random(figures, "random", "spearman", params) == 0
    assert np.isnan(gain_over_random(figures, "none", "spearman", params))


def test_variance_over_rates_is_that_of_each_repeat() -> None:
    figures = _figures({"a": (0.9, 0.02, 0.01)}).astype({"repeat": float})
    figures["spearman"] = figures["rate"] / 100 * (1 + figures["repeat"])
    (row,) = choose_sampler(figures, AdaptiveParams()).ranking.to_dict("records")
    of_repeats = [np.var(np.array([0.05, 0.1, 0.25]) * (1 + k), ddof=1) for k in range(4)]
    assert row["rate_variance"] == pytest.approx(np.mean(of_repeats))
