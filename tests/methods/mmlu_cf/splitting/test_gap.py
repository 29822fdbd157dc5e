"""The gap between the halves, and the monitor's alarms."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import norm

from benchwright.datasets.half_scores import GroupResult
from benchwright.methods.mmlu_cf.splitting.gap import (
    ScoredHalves,
    count_small_gaps,
    half_gaps,
    model_groups,
)
from benchwright.params.scoring import ModelsParams


def independent(n: int, accuracy: float) -> GroupResult:
    """A score on independent items."""
    return GroupResult(n=n, accuracy=accuracy, se=float(np.sqrt(accuracy * (1 - accuracy) / n)))


def models(validation: list[float], test: list[float], n: int) -> list[ScoredHalves]:
    return [
        ScoredHalves(f"m{i}", "letters", 5, independent(n, v), independent(n, t))
        for i, (v, t) in enumerate(zip(validation, test, strict=True))
    ]


def test_the_interval_assumes_independent_samples() -> None:
    halves = ScoredHalves("m", "letters", 5, independent(80, 48 / 80), independent(70, 56 / 70))
    gap = half_gaps([halves], {"m": "small"}).iloc[0]
    assert gap["delta"] == pytest.approx(0.2)
    reach = norm.ppf(0.975) * np.sqrt(0.6 * 0.4 / 80 + 0.8 * 0.2 / 70)
    assert (gap["low"], gap["high"]) == pytest.approx((0.2 - reach, 0.2 + reach))
    assert gap["size_group"] == "small"
    assert not gap["suspicious"]  # the closed half is the better one


@pytest.mark.parametrize(
    ("size", "group"),
    [(0.5, "mini"), (5, "mini"), (6, "small"), (12, "small"), (13, "medium"), (50, "medium"),
     (72, "large"), (None, "unknown")],
)  # fmt: skip
def test_size_groups_are_those_of_the_paper(size: float | None, group: str) -> None:
    model = {"weights": {"path": "nowhere"}, "family": "a", "size_b": size}
    models = ModelsParams.model_validate({"models": {"m": model}})
    assert model_groups(["m", "else"], models) == {"m": group, "else": "unknown"}


def test_halves_without_standard_error_or_variance_give_a_reason() -> None:
    clustered = GroupResult(n=10, accuracy=0.5, se=None)
    flat = GroupResult(n=10, accuracy=0.5, se=0.0)
    rows = [
        ScoredHalves("clustered", "letters", 0, clustered, independent(10, 0.5)),
        ScoredHalves("flat", "letters", 0, flat, flat),
    ]
    gaps = half_gaps(rows, {}).set_index("model")
    assert gaps["reason"]["clustered"] == "the items of a half form one cluster; 2 are needed"
    assert gaps["reason"]["flat"] == "the answers of both halves do not vary"
    assert not gaps["suspicious"].any()
    assert count_small_gaps(gaps.reset_index())["expected"].between(0, 1).all()


def test_shares_below_a_bound_have_the_expected_share() -> None:
    gaps = half_gaps(models([0.60, 0.60, 0.60], [0.604, 0.605, 0.62], 10_000), {})
    half, whole = count_small_gaps(gaps)[:2].itertuples()
    assert half.share == pytest.approx(1 / 3)  # 0.5 points is not below 0.5 points
    assert whole.share == pytest.approx(2 / 3)
    error = np.sqrt(2 * 0.6 * 0.4 / 10_000)
    assert half.expected == pytest.approx(2 * norm.cdf(0.005 / error) - 1, abs=2e-3)
    assert (round(half.expected, 2), round(whole.expected, 2)) == (0.53, 0.85)


def test_gaps_are_counted_by_style_and_shots_together() -> None:
    alike = models([0.6], [0.6], 100)[0]
    ways = [("letters", 5), ("letters", 0), ("cloze", 5)]
    shares = count_small_gaps(half_gaps([alike._replace(style=s, shots=n) for s, n in ways], {}))
    counts = shares[shares["size_group"].eq("")].groupby(["style", "shots"])["n"].first()
    assert counts.to_dict() == {("", -1): 3, **dict.fromkeys(ways, 1)}


def _alarms(n_models: int, leak: float, n: int, runs: int) -> np.ndarray:
    """Return whether each model is suspicious, in simulations where the first model leaks."""
    random = np.random.default_rng(0)
    ability = np.linspace(0.35, 0.75, n_models)
    lifted = ability + leak * (np.arange(n_models) == 0)
    alarms = []
    for _ in range(runs):
        rows = models(
            (random.binomial(n, lifted) / n).tolist(), (random.binomial(n, ability) / n).tolist(), n
        )
        alarms.append(half_gaps(rows, {}).sort_values("model")["suspicious"].to_numpy())
    return np.array(alarms)


def test_false_alarms_are_rare_and_leaks_of_five_points_are_detected(
    show: Callable[[str], None],
) -> None:
    false = _alarms(10, 0.0, 10_000, 60).any(axis=1).mean()
    detected = {leak: _alarms(10, leak, 10_000, 30)[:, 0].mean() for leak in (0.02, 0.05)}
    show(
        f"gap monitor, 10 models, 10,000 + 10,000: any false alarm in {false:.1%} of runs; "
        f"a leak of 2 points is found in {detected[0.02]:.0%}, of 5 points in {detected[0.05]:.0%}"
    )
    assert false <= 0.05
    assert detected[0.05] == 1
    assert 0.3 < detected[0.02] < 0.9
