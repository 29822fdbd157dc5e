"""Constants in metrics: degrees of freedom and the priors of the response model."""

import numpy as np
import pytest

from benchwright.statistics.item_response import WEAK, fit_2pl
from benchwright.statistics.rank_agreement import williams_test


@pytest.mark.parametrize("n", [4, 7, 16])
def test_williams_p_is_two_sided_on_n_minus_3_degrees_of_freedom(n: int) -> None:
    from scipy.stats import t

    seen = williams_test(0.8, 0.5, 0.7, n)
    assert seen.p_value == pytest.approx(2 * t.sf(abs(seen.t), n - 3), rel=1e-9)


def test_weak_priors_have_the_documented_95_percent_ranges() -> None:
    reach = 1.96 * np.array(WEAK)
    assert np.exp(-reach[0]) == pytest.approx(0.14, abs=0.005)
    assert np.exp(reach[0]) == pytest.approx(7.1, abs=0.05)
    assert reach[1] == pytest.approx(5.9, abs=0.05)


def test_default_priors_are_the_weak_ones() -> None:
    correct = (np.random.default_rng(4).random((25, 12)) < np.linspace(0.2, 1, 12)).astype(float)
    default, weak = fit_2pl(correct), fit_2pl(correct, priors=WEAK)
    np.testing.assert_array_equal(default.difficulty, weak.difficulty)


def log_posterior(correct: np.ndarray, log_a: np.ndarray, b: np.ndarray) -> float:
    """Marginal log-likelihood over a normal ability, by a sum over a fine grid, plus the priors."""
    theta = np.linspace(-6, 6, 481)
    log_weight = -(theta**2) / 2
    log_weight -= np.log(np.exp(log_weight).sum())
    logit = np.exp(log_a)[:, None] * (theta - b[:, None])
    right, wrong = -np.logaddexp(0, -logit), -np.logaddexp(0, logit)
    per_model = correct @ right + (1 - correct) @ wrong + log_weight
    largest = per_model.max(axis=1)
    likelihood = largest + np.log(np.exp(per_model - largest[:, None]).sum(axis=1))
    sd_a, sd_b = 1.0, 3.0
    return float(likelihood.sum() - (log_a**2).sum() / (2 * sd_a**2) - (b**2).sum() / (2 * sd_b**2))


def test_estimates_maximise_the_posterior_under_the_default_priors() -> None:
    rng = np.random.default_rng(7)
    ability = rng.normal(size=40)
    correct = rng.random((40, 15)) < 1 / (1 + np.exp(np.linspace(-2, 2, 15) - ability[:, None]))
    correct = correct.astype(float)
    correct[:, 0] = 1  # only the prior keeps this item finite
    fit = fit_2pl(correct, tolerance=1e-6, iterations=3000)
    log_a, b = np.log(fit.discrimination), fit.difficulty
    best = log_posterior(correct, log_a, b)
    step = 1e-3
    for item in (0, 4, 9, 14):
        for parameter in (0, 1):
            values = []
            for sign in (-1, 1):
                moved = [log_a.copy(), b.copy()]
                moved[parameter][item] += sign * step
                values.append(log_posterior(correct, *moved))
            slope = (values[1] - values[0]) / (2 * step)
            curvature = (2 * best - sum(values)) / step**2
            assert curvature > 0
            # Distance to the maximum in standard errors.
            assert abs(slope) / np.sqrt(curvature) < 0.08
