"""Properties of all estimators: coverage, exactness, invariance and reasons."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.fitted import Estimates
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import Training
from few_examples import few_examples

NAMES = sorted(ESTIMATORS)
BY_TRAINING = ["gp_irt", "p_irt", "ridge"]


def subset_of(n: int, k: int, seed: int = 0) -> WeightedSubset:
    return WeightedSubset.equal(np.random.default_rng(seed).permutation(n)[:k])


def uneven(n: int, k: int, seed: int = 0) -> WeightedSubset:
    rng = np.random.default_rng(seed)
    return WeightedSubset(rng.permutation(n)[:k].astype(np.intp), rng.dirichlet(np.full(k, 20.0)))


def same(first: Estimates, second: Estimates, tolerance: float = 1e-8) -> None:
    for left, right in zip(first[:4], second[:4], strict=True):
        np.testing.assert_allclose(left, right, atol=tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_intervals_cover_and_estimates_are_unbiased(
    name: str, simulated: Any, prepared: Training, run: Callable[..., Estimates]
) -> None:
    truth = simulated.new.mean(axis=1)
    errors, covered = [], 0
    for seed in range(8):
        estimates = run(name, prepared, subset_of(120, 30, seed), simulated.new)
        errors.append(estimates.score - truth)
        covered += int(((estimates.low <= truth) & (truth <= estimates.high)).sum())
        assert (estimates.low <= estimates.shown).all()
        assert (estimates.shown <= estimates.high).all()
    # Errors of one subset are correlated over models; count a tenth of the cases as independent.
    cases = 8 * len(truth)
    assert covered / cases >= binom.ppf(0.001, cases // 10, 0.95) / (cases // 10)
    assert covered / cases < 0.995
    assert abs(np.mean(errors)) < 0.015


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("choose", [subset_of, uneven])
def test_estimates_from_all_items_are_exact(
    name: str, choose: Any, simulated: Any, prepared: Training, run: Any
) -> None:
    estimates = run(name, prepared, choose(120, 120), simulated.new)
    truth = simulated.new.mean(axis=1)
    for part in estimates[:3]:
        np.testing.assert_allclose(part, truth, atol=1e-12)
    assert (estimates.se == 0).all()
    assert set(estimates.reason) == {""}


@pytest.mark.parametrize("name", NAMES)
def test_estimates_do_not_depend_on_the_order_of_items_and_models(
    name: str, simulated: Any, prepared: Training, run: Any
) -> None:
    subset = uneven(120, 25) if name in {"weighted", "gp_irt", "ridge"} else subset_of(120, 25)
    plain = run(name, prepared, subset, simulated.new)
    rng = np.random.default_rng(5)
    items, models, inside = rng.permutation(120), rng.permutation(200), rng.permutation(25)
    place = np.argsort(items)
    moved = WeightedSubset(place[subset.positions[inside]], subset.weights[inside])
    shuffled = Training(simulated.training[models][:, items])
    same(plain, run(name, shuffled, moved, simulated.new[:, items]), 1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_missing_response_equals_a_smaller_subset(
    name: str, simulated: Any, prepared: Training, run: Any
) -> None:
    subset = uneven(120, 20) if name == "weighted" else subset_of(120, 20)
    answers = simulated.new[:4].copy()
    answers[1, subset.positions[[2, 7]]] = np.nan
    answers[3] = np.nan
    estimates = run(name, prepared, subset, answers)
    kept = np.delete(np.arange(20), [2, 7])
    weights = subset.weights[kept] / subset.weights[kept].sum()
    fewer = WeightedSubset(subset.positions[kept], weights)
    expected = run(name, prepared, fewer, answers[1:2])
    assert estimates.score[1] == pytest.approx(expected.score[0], abs=1e-12)
    assert estimates.high[1] == pytest.approx(expected.high[0], abs=1e-12)
    assert "2 of 20 responses are missing" in estimates.reason[1]
    assert np.isnan(estimates.score[3])
    assert estimates.reason[3] == "no responses"
    assert "missing" not in estimates.reason[0]


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_equal_responses_unlike_the_training_models_have_the_interval_of_the_mean(
    right: float, run: Any
) -> None:
    generator = np.random.default_rng(3)
    shares = np.abs(right - generator.uniform(0.7, 1, (30, 1)))
    training = Training((generator.random((30, 120)) < shares).astype(np.float32))
    same, plain = (
        run(name, training, subset_of(120, 3), np.full((1, 120), right))
        for name in ("aipw", "mean")
    )
    assert same.low[0] < same.high[0]
    assert np.stack(same[:4]) == pytest.approx(np.stack(plain[:4]))


def test_one_training_model_gives_the_mean_or_a_reason(simulated: Any, run: Any) -> None:
    training = Training(simulated.training[:1])
    for name in BY_TRAINING:
        estimates = run(name, training, subset_of(120, 20), simulated.new[:2])
        assert np.isnan(np.stack(estimates[:4])).all()
        assert "fewer than two" in estimates.reason[0] or "1 model" in estimates.reason[0]
    for name in ("mean", "weighted", "aipw"):
        estimates = run(name, training, subset_of(120, 20), simulated.new[:2])
        assert np.isfinite(np.stack(estimates[:4])).all()
    estimates = run("weighted", training, uneven(120, 20), simulated.new[:2])
    assert np.isfinite(estimates.score).all()
    assert np.isnan(estimates.low).all()
    assert "too few training models" in estimates.reason[0]


def test_training_models_without_errors_give_a_score_without_an_interval(run: Any) -> None:
    # The second item stands for two equal ones, the third for three.
    one_each = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]], np.float32)
    training = Training(np.repeat(one_each, [1, 2, 3], axis=1))
    places = np.array([0, 1, 3], np.intp)
    new = np.array([[1.0, 0, 0, 1, 1, 1]])
    estimates = run("weighted", training, WeightedSubset(places, np.array([1, 2, 3]) / 6), new)
    assert estimates.score == pytest.approx(4 / 6)
    assert np.isnan(np.stack(estimates[1:4])).all()
    assert "follow exactly" in estimates.reason[0]
    other = run("weighted", training, WeightedSubset(places, np.array([2, 2, 2.1]) / 6.1), new)
    assert np.isfinite(np.stack(other[:4])).all()


@given(st.data())
@few_examples
def test_estimates_stay_within_possible_scores(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 12))
    k = data.draw(st.integers(1, n))
    m = data.draw(st.integers(0, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    training = Training(rng.integers(0, 2, (m, n)).astype(np.float32))
    answers = rng.choice([0.0, 0.5, 1.0, np.nan], (3, k), p=[0.4, 0.1, 0.4, 0.1])
    subset = uneven(n, k) if data.draw(st.booleans()) else subset_of(n, k)
    lowest = np.nansum(answers, axis=1) / n
    highest = lowest + (n - (~np.isnan(answers)).sum(axis=1)) / n
    for name, kind in ESTIMATORS.items():
        estimates = kind.fit(training, subset, 0)(answers)
        if name != "aipw":
            np.testing.assert_allclose(estimates.shown, estimates.score, atol=1e-9)
        shown = np.stack([estimates.shown, *estimates[1:4]])
        for values, reason, low, high in zip(
            shown.T, estimates.reason, lowest, highest, strict=True
        ):
            known = ~np.isnan(values)
            assert known.all() or reason
            assert (values[:3][known[:3]] >= low - 1e-9).all()
            assert (values[:3][known[:3]] <= high + 1e-9).all()
            if known[:3].all():
                assert values[1] <= values[0] + 1e-9 <= values[2] + 2e-9
