"""The two-parameter model: recovery, other optimizers, missing answers."""

import warnings
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchwright.statistics.item_response import (
    ItemResponse,
    fit_2pl,
    probability,
)

Float = NDArray[np.float64]


class Simulated(NamedTuple):
    """Answers (m, n) and their true parameters; abilities have mean 0 and variance 1."""

    correct: Float
    ability: Float
    discrimination: Float
    difficulty: Float


def simulate(models: int, items: int, seed: int) -> Simulated:
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=models)
    ability = (ability - ability.mean()) / ability.std()
    discrimination = np.exp(rng.normal(0, 0.4, items))
    difficulty = rng.normal(-0.5, 1.2, items)
    p = probability(ability, discrimination, difficulty)
    correct = (rng.random((models, items)) < p).astype(np.float64)
    return Simulated(correct, ability, discrimination, difficulty)


@pytest.fixture(scope="module")
def simulated() -> Simulated:
    return simulate(1500, 80, seed=0)


@pytest.fixture(scope="module")
def fitted(simulated: Simulated) -> ItemResponse:
    return fit_2pl(simulated.correct)


def test_probability_follows_the_logistic_curve() -> None:
    # a(θ − b) = 2·(1 − 0.5) = 1: P = 1 / (1 + e⁻¹) = 0.7310586.
    assert probability([1.0], [2.0], [0.5])[0, 0] == pytest.approx(0.7310586, abs=1e-7)
    assert probability([0, 900.0], [10.0], [450.0]).tolist() == [[0.0], [1.0]]


def test_simulated_items_and_models_are_recovered(
    simulated: Simulated, fitted: ItemResponse
) -> None:
    log_a = np.log(fitted.discrimination) - np.log(simulated.discrimination)
    assert fitted.converged
    assert fitted.reason == ""
    assert np.corrcoef(fitted.discrimination, simulated.discrimination)[0, 1] > 0.97
    assert np.corrcoef(fitted.difficulty, simulated.difficulty)[0, 1] > 0.98
    assert np.corrcoef(fitted.ability, simulated.ability)[0, 1] > 0.95
    assert abs(log_a.mean()) < 0.03
    assert abs((fitted.difficulty - simulated.difficulty).mean()) < 0.03
    assert np.mean(fitted.ability**2 + fitted.ability_se**2) == pytest.approx(1, abs=0.01)


def test_estimates_maximise_the_posterior() -> None:
    """A general optimizer of the same likelihood with log a ~ N(0, 1²) and b ~ N(0, 3²) agrees."""
    from scipy.optimize import minimize

    correct = simulate(300, 8, seed=4).correct
    correct[:, 0] = 1  # only the priors keep this item finite
    correct[:90, 5] = 0.5  # counts as half of a right answer
    fit = fit_2pl(correct, tolerance=1e-6, iterations=3000)
    theta = np.linspace(-6, 6, 201)
    weight = np.exp(-0.5 * theta**2) / np.exp(-0.5 * theta**2).sum()

    def minus_log_posterior(parameters: Float) -> float:
        logit = np.exp(parameters[:8]) * (theta[:, None] - parameters[8:])
        right, wrong = -np.logaddexp(0, -logit), -np.logaddexp(0, logit)
        given_theta = correct @ right.T + (1 - correct) @ wrong.T
        penalty = (parameters[:8] ** 2).sum() / 2 + (parameters[8:] ** 2).sum() / 18
        return penalty - float(np.log(np.exp(given_theta) @ weight).sum())

    ours = np.concatenate([np.log(fit.discrimination), fit.difficulty])
    best = minimize(minus_log_posterior, np.zeros(16), method="BFGS")
    # Ours also keeps the variance of abilities at 1, against which the priors pull a little.
    assert minus_log_posterior(ours) == pytest.approx(best.fun, abs=0.05)
    assert ours == pytest.approx(best.x, abs=0.1)


def test_models_without_answers_to_hard_items_are_not_overrated(simulated: Simulated) -> None:
    """Imputing or averaging would overrate models that answered easy items only."""
    correct = simulated.correct.copy()
    hard = simulated.difficulty > np.median(simulated.difficulty)
    correct[np.ix_(np.arange(700), np.flatnonzero(hard))] = np.nan
    fit = fit_2pl(correct)
    error = fit.ability - simulated.ability
    assert abs(error[:700].mean() - error[700:].mean()) < 0.05
    assert abs((fit.difficulty - simulated.difficulty)[hard].mean()) < 0.06


def test_missing_answers_of_some_models_do_not_affect_the_others() -> None:
    """Complete and incomplete items use different sums of the same model."""
    true = simulate(200, 12, seed=7)
    extra = np.vstack([true.correct, np.where(np.arange(12) < 6, np.nan, 1.0)])
    known = ~np.isnan(extra)
    fit = fit_2pl(extra)
    theta = np.linspace(-6, 6, fit.nodes)
    weight = np.exp(-0.5 * theta**2) / np.exp(-0.5 * theta**2).sum()
    p = probability(theta, fit.discrimination, fit.difficulty)
    log_p = np.where(known, np.nan_to_num(extra), 0) @ np.log(p).T
    log_p += np.where(known, 1 - np.nan_to_num(extra), 0) @ np.log1p(-p).T
    posterior = np.exp(log_p) * weight
    assert fit.log_likelihood == pytest.approx(np.log(posterior.sum(axis=1)).sum(), abs=1e-8)
    assert fit.ability == pytest.approx(posterior @ theta / posterior.sum(axis=1), abs=1e-8)


def test_items_and_models_without_answers_are_nan_and_named(simulated: Simulated) -> None:
    correct = simulated.correct[:200, :20].copy()
    whole = fit_2pl(correct)
    padded = np.full((201, 21), np.nan)
    padded[:200, :20] = correct
    fit = fit_2pl(padded)
    assert np.isnan([fit.discrimination[20], fit.difficulty[20], fit.ability[200]]).all()
    assert fit.difficulty[:20] == pytest.approx(whole.difficulty, abs=1e-12)
    assert fit.reason == "1 item without answers: NaN; 1 model without answers: NaN"


def test_items_solved_by_all_or_none_have_finite_ordered_difficulties(simulated: Simulated) -> None:
    correct = simulated.correct[:100, :20].copy()
    correct[:, 0], correct[:, 1] = 1, 0
    fit = fit_2pl(correct)
    assert fit.converged
    assert fit.difficulty[0] == fit.difficulty.min()
    assert fit.difficulty[1] == fit.difficulty.max()
    assert np.isfinite([fit.discrimination, fit.difficulty]).all()
    assert np.abs(fit.difficulty[:2]).max() < 8
    assert fit.reason == "2 items with one answer from all models: held finite by the priors"


def test_items_that_better_models_fail_have_the_lowest_discrimination() -> None:
    true = simulate(300, 25, seed=9)
    correct = true.correct.copy()
    correct[:, 0] = true.ability < 0
    fit = fit_2pl(correct)
    assert fit.converged
    assert fit.discrimination[0] == fit.discrimination.min() == 0.05
    assert fit.reason == "1 item at a bound"


@given(st.integers(0, 2**32 - 1))
def test_estimates_do_not_depend_on_the_order_of_models_and_items(seed: int) -> None:
    rng = np.random.default_rng(seed)
    correct = simulate(40, 12, seed=12).correct
    correct[rng.integers(0, 40, 9), rng.integers(0, 12, 9)] = np.nan
    rows, columns = rng.permutation(40), rng.permutation(12)
    fit, moved = fit_2pl(correct), fit_2pl(correct[rows][:, columns])
    assert moved.difficulty == pytest.approx(fit.difficulty[columns], abs=1e-8)
    assert moved.discrimination == pytest.approx(fit.discrimination[columns], abs=1e-8)
    assert moved.ability == pytest.approx(fit.ability[rows], abs=1e-8)
    assert moved.iterations == fit.iterations


def test_estimates_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    correct = simulate(30, 50, seed=13).correct
    correct[:3, 20:] = np.nan
    whole = fit_2pl(correct)
    monkeypatch.setattr("benchwright.statistics.item_response._BLOCK", 1)
    blocked = fit_2pl(correct)
    assert blocked.difficulty == pytest.approx(whole.difficulty, abs=1e-9)
    assert blocked.discrimination == pytest.approx(whole.discrimination, abs=1e-9)


def test_grid_is_finer_than_the_posteriors_of_many_items() -> None:
    """On a coarser grid every ability would coincide with a grid point."""
    true = simulate(40, 4000, seed=14)
    fit = fit_2pl(true.correct.astype(np.float32))
    assert fit.converged
    assert 12 / (fit.nodes - 1) < 2 * fit.ability_se.min()
    assert np.std((fit.ability - true.ability) / fit.ability_se) < 2
    assert fit.ability.mean() == pytest.approx(0, abs=0.02)
    assert fit.ability.std() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(
    ("correct", "reason"),
    [
        (np.ones((1, 5)), "1 model with answers; at least 2 are needed"),
        (np.ones((4, 5)), "no item tells two models apart"),
        (np.tile([1.0, 0.0], (6, 2)), "no item tells two models apart"),
        (np.full((3, 4), np.nan), "no answers"),
        (np.empty((0, 4)), "no answers"),
        (np.empty((4, 0)), "no answers"),
    ],
)
def test_impossible_fits_are_nan_with_a_reason(correct: Float, reason: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = fit_2pl(correct)
    assert fit.reason.startswith(reason)
    assert np.isnan(fit.difficulty).all()
    assert fit.ability.shape == (correct.shape[0],)
    assert fit.discrimination.shape == (correct.shape[1],)
    assert not fit.converged


def test_missing_convergence_is_reported() -> None:
    fit = fit_2pl(simulate(50, 10, seed=15).correct, iterations=2)
    assert not fit.converged
    assert fit.reason == "did not converge in 2 steps"


@pytest.mark.parametrize("bad", [np.full((1, 2), 1.5), np.full((1, 2), -0.1), np.ones(3)])
def test_answers_outside_0_to_1_are_refused(bad: Float) -> None:
    with pytest.raises(ValueError, match="matrix of answers in 0–1"):
        fit_2pl(bad)
