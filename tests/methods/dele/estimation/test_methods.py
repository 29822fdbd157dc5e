"""Estimators against independent computations."""

from math import comb, exp, log1p
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import hypergeom
from sklearn.linear_model import Ridge

from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.calibration import (
    Errors,
    PastErrors,
    calibrated_reach,
    past_errors,
)
from benchwright.methods.dele.estimation.fitted import Task
from benchwright.methods.dele.estimation.p_irt import mixture, p_irt_rule
from benchwright.methods.dele.estimation.ridge import ridge_rule
from benchwright.methods.dele.estimation.training import ItemCurves, Training
from benchwright.methods.dele.estimation.weighted import random_sample
from benchwright.statistics.item_response import fit_2pl
from benchwright.statistics.proportion import wilson_interval

NONE = Errors(np.empty(0), np.empty(0))


@pytest.mark.parametrize("right", [6, 30, 54])
def test_interval_of_the_mean_covers_over_all_random_subsets(right: int) -> None:
    n, k = 60, 20
    covered = 0.0
    for seen in range(max(0, right - n + k), min(k, right) + 1):
        answers = np.zeros((1, k))
        answers[0, :seen] = 1
        estimates = random_sample(answers, n, 0.95, np.arange(k))
        inside = estimates.low[0] <= right / n <= estimates.high[0]
        covered += inside * comb(right, seen) * comb(n - right, k - seen) / comb(n, k)
    assert 0.92 < covered < 0.99
    assert covered == pytest.approx(
        sum(
            hypergeom.pmf(seen, n, right, k)
            for seen in range(k + 1)
            if _covers(seen, k, n, right / n)
        )
    )


def _covers(seen: int, k: int, n: int, truth: float) -> bool:
    # The score test inverted: |p̂ − p| ≤ z·√(p(1 − p)/k · (n − k)/(n − 1)).
    return abs(seen / k - truth) <= 1.959964 * np.sqrt(truth * (1 - truth) / k * (n - k) / (n - 1))


def test_mean_of_a_huge_benchmark_has_standard_intervals() -> None:
    answers = np.array([[1.0] * 7 + [0.0] * 3])
    estimates = random_sample(answers, 10**9, 0.9, np.arange(10))
    usual = wilson_interval(7, 10, 0.9)
    assert (estimates.low[0], estimates.high[0]) == pytest.approx((usual.low, usual.high), abs=1e-6)
    parts = np.array([[0.1, 0.4, 0.4, 0.7]])
    by_t = random_sample(parts, 10**9, 0.95, np.arange(4))
    # s = .2449490, t(3) = 3.182446: .4 ± 3.182446 · .1224745.
    assert by_t.high[0] - 0.4 == pytest.approx(0.3897684, abs=1e-6)
    half = random_sample(parts, 8, 0.95, np.arange(4))
    assert half.high[0] - 0.4 == pytest.approx(0.3897684 * np.sqrt(0.5), abs=1e-6)


def test_items_of_one_passage_widen_the_interval() -> None:
    answers = np.array([[1.0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0], [1.0, 0, 1, 1, 0, 0] * 2])
    passages = np.repeat(np.arange(4), 3)
    alone = random_sample(answers, 100, 0.95, np.arange(12))
    together = random_sample(answers, 100, 0.95, passages)
    # The first model is right or wrong by whole passages: four cases of ±½, not twelve.
    assert together.se[0] ** 2 / alone.se[0] ** 2 == pytest.approx((1 / 12) / (0.25 / 11), rel=1e-9)
    assert together.high[0] - together.low[0] > 1.5 * (alone.high[0] - alone.low[0])
    assert together.se[1] == pytest.approx(alone.se[1])
    assert together.score == pytest.approx(alone.score)


def test_non_random_subset_has_a_warning(run: Any, simulated: Any, prepared: Any) -> None:
    easy = np.argsort(-simulated.training.mean(axis=0))[:30]
    estimates = run("mean", prepared, WeightedSubset.equal(easy), simulated.new[:1])
    gap = simulated.training[:, easy].mean() - simulated.training.mean()
    assert f"{gap:.3f} higher" in estimates.reason[0]
    rng = np.random.default_rng(0)
    drawn = [WeightedSubset.equal(rng.permutation(120)[:30]) for _ in range(50)]
    assert all(run("mean", prepared, each, simulated.new[:1]).reason == ("",) for each in drawn)


def test_expected_responses_are_the_posterior_mean_of_the_curve(simulated: Any) -> None:
    fit = fit_2pl(simulated.training[:, :12])
    curves = ItemCurves.of(fit)
    answers = np.array([1.0, 0, 1, 1])
    a, b = fit.discrimination, fit.difficulty

    def weight(theta: float) -> float:
        log = -0.5 * theta**2
        for item, answer in enumerate(answers):
            log -= log1p(exp(-a[item] * (theta - b[item]) * (1 if answer else -1)))
        return exp(log)

    def curve(theta: float) -> float:
        return float(np.mean(1 / (1 + np.exp(-a[4:] * (theta - b[4:])))))

    total = quad(weight, -6, 6)[0]
    mean = quad(lambda t: weight(t) * curve(t), -6, 6)[0] / total
    expected = curves.expected(np.arange(4), answers[None])
    assert expected[0] == pytest.approx(mean, abs=1e-6)


def test_mixture_weights_by_squared_errors(run: Any, simulated: Any, prepared: Any) -> None:
    places = np.random.default_rng(0).permutation(120)[:24]
    subset = WeightedSubset.equal(places)
    weight = mixture(Task(prepared, subset, 0))
    spread = simulated.training.astype(float).var(axis=1, ddof=1).mean()
    past = (past_errors(prepared, places, 0, p_irt_rule).across.error ** 2).mean()
    assert weight == pytest.approx(past / (past + spread / 24 * 0.8))
    parts = [run(name, prepared, subset, simulated.new).score for name in ("mean", "p_irt")]
    mixed = weight * parts[0] + (1 - weight) * parts[1]
    np.testing.assert_allclose(
        run("gp_irt", prepared, subset, simulated.new).score, mixed, atol=1e-12
    )
    weights = np.random.default_rng(1).dirichlet(np.full(24, 5.0))
    uneven = mixture(Task(prepared, WeightedSubset(places, weights), 0))
    error = simulated.training[:, places] @ weights - simulated.training.mean(axis=1)
    past = (past_errors(prepared, places, 0, p_irt_rule).across.error ** 2).mean()
    assert uneven == pytest.approx(past / (past + (error**2).mean()))


def test_half_width_is_the_conformal_quantile_of_similar_models() -> None:
    # Two kinds of models, far apart; n so large that the scale is √(p(1 − p)).
    sizes = np.arange(1, 201) / 1000
    weak = Errors(np.full(200, 0.2), sizes / 10 * 0.4)
    strong = Errors(np.full(200, 0.5), -sizes * 0.5)
    both = Errors(np.r_[weak.estimate, strong.estimate], np.r_[weak.error, strong.error])
    past = PastErrors(both, NONE, 0.8, 0.9)
    half, se, note = calibrated_reach(past, np.array([0.19, 0.5]), 10**9, 0.9)
    # Rank ⌈201 · .9⌉ = 181 of the 200 nearest.
    assert half[0] == pytest.approx(0.0181 * np.sqrt(0.19 * 0.81))
    assert half[1] == pytest.approx(0.181 * 0.5)
    assert note == ["", ""]
    assert se[1] == pytest.approx(0.5 * np.sqrt(np.mean(sizes**2)))


def test_above_all_training_models_errors_on_the_best_are_used() -> None:
    across = Errors(np.full(40, 0.5), np.full(40, 0.01 * 0.5))
    forward = Errors(np.full(40, 0.5), np.full(40, 0.2 * 0.5))
    past = PastErrors(across, forward, 0.6, 0.7)
    half, _, note = calibrated_reach(past, np.array([0.6, 0.65, 0.8]), 10**9, 0.95)
    expected = [0.01 * np.sqrt(0.24), 0.01 * np.sqrt(0.65 * 0.35), 0.2 * 0.4]
    np.testing.assert_allclose(half, expected)
    assert ["above 90%" in note for note in note] == [False, True, True]


def test_few_past_errors_are_assumed_normal() -> None:
    past = PastErrors(Errors(np.full(4, 0.5), np.array([0.1, -0.1, 0.1, -0.1])), NONE, 0.6, 0.7)
    half, _, note = calibrated_reach(past, np.array([0.5]), 10**9, 0.95)
    # t(3) = 3.182446 times .1·√(1 + ¼).
    assert half[0] == pytest.approx(3.182446 * 0.1 * np.sqrt(1.25), abs=1e-6)
    assert "4 training models" in note[0]
    single = PastErrors(Errors(np.array([0.5]), np.array([0.1])), NONE, 0.6, 0.7)
    assert np.isnan(calibrated_reach(single, np.array([0.5]), 100, 0.95)[0][0])


def test_ridge_shrinks_towards_the_weighted_mean(simulated: Any, prepared: Any) -> None:
    places = np.arange(0, 120, 6)
    weights = np.random.default_rng(0).dirichlet(np.full(20, 5.0))
    seen = simulated.training[:, places].astype(float)
    rest = np.delete(simulated.training, places, axis=1).mean(axis=1)
    ridge = Ridge(alpha=0.3 * 200).fit(seen, rest - seen @ weights)
    new = simulated.new[:, places]
    expected = new.sum(axis=1) / 120 + 100 / 120 * (ridge.predict(new) + new @ weights)
    scores = ridge_rule(weights, 0.3)(prepared, None, places)(new)
    np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_anchors_of_few_models_have_a_warning(run: Any, simulated: Any, prepared: Any) -> None:
    rng = np.random.default_rng(4)
    anchors = WeightedSubset(rng.permutation(120)[:30], rng.dirichlet(np.full(30, 10.0)))
    few = Training(simulated.training[:50])
    middle = simulated.new[np.argsort(simulated.new.mean(axis=1))[[150]]]
    warning = "the interval is too narrow if these 50 training models chose the anchors"
    assert run("gp_irt", few, anchors, middle).reason == (warning,)
    assert run("gp_irt", prepared, anchors, middle).reason == ("",)
    assert run("gp_irt", few, WeightedSubset.equal(anchors.positions), middle).reason == ("",)
