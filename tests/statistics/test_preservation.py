"""Rank and score preservation agree with SciPy on each subset."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr, wasserstein_distance

from benchwright.statistics.preservation import (
    ModelPanels,
    Preservation,
    preservation_by_panel,
)


def preservation(correct: np.ndarray, weights: np.ndarray, *, tau: bool = True) -> Preservation:
    """Compare the scores of all models."""
    panels = ModelPanels.of(correct, {"": np.arange(len(correct))})
    return preservation_by_panel(panels, weights, tau=tau)[""]


def _draw(seed: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    ability = generator.normal(size=(12, 1))
    correct = (ability + generator.normal(size=(12, 30)) > 0).astype(np.float32)
    weights = (generator.random((7, 30)) < 0.4).astype(float)
    weights[:, 0] = 1
    if kind == "shares":
        correct = generator.random((12, 30)).astype(np.float32)
    if kind == "mixed":
        weights[::2] *= generator.random((4, 30))
        weights[1::2] *= 0.25
    return correct, weights


@pytest.mark.parametrize("kind", ["plain", "shares", "mixed"])
@given(seed=st.integers(0, 10_000))
def test_metrics_agree_with_scipy(kind: str, seed: int) -> None:
    correct, weights = _draw(seed, kind)
    metrics = preservation(correct, weights)
    full = correct.astype(float).mean(axis=1)
    for row, weight in enumerate(weights):
        part = correct.astype(float) @ weight / weight.sum()
        part = part.round(12)
        if len(np.unique(part)) == 1 or len(np.unique(full)) == 1:
            assert np.isnan(metrics.spearman[row])
            assert np.isnan(metrics.pearson[row])
            continue
        assert metrics.spearman[row] == pytest.approx(spearmanr(full.round(12), part).statistic)
        assert metrics.pearson[row] == pytest.approx(pearsonr(full, part).statistic)
        assert metrics.tau_b[row] == pytest.approx(kendalltau(full.round(12), part).statistic)
        assert metrics.wasserstein[row] == pytest.approx(wasserstein_distance(full, part))
        assert metrics.mean_absolute_error[row] == pytest.approx(np.abs(part - full).mean())
        assert metrics.bias[row] == pytest.approx((part - full).mean())
        assert metrics.error_sd[row] == pytest.approx((part - full).std())


def test_missing_answers_are_left_out_of_both_scores() -> None:
    correct, weights = _draw(5, "plain")
    correct[0, :10] = np.nan
    correct[3, weights[2] > 0] = np.nan
    metrics = preservation(correct, weights)
    full = np.nanmean(correct, axis=1)
    part = np.array([np.nanmean(row[weights[1] > 0]) for row in correct])
    assert metrics.mean_absolute_error[1] == pytest.approx(np.abs(part - full).mean(), rel=1e-6)
    assert metrics.spearman[1] == pytest.approx(spearmanr(full, part).statistic)
    others = np.delete(np.arange(12), 3)
    part = np.array([np.nanmean(row[weights[2] > 0]) for row in correct[others]])
    assert metrics.pearson[2] == pytest.approx(pearsonr(full[others], part).statistic, rel=1e-6)


@pytest.mark.parametrize("block", [1 << 23, 1])
def test_metrics_of_a_panel_use_only_its_models(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwright.statistics.preservation._BLOCK_BYTES", block)
    correct, weights = _draw(21, "mixed")
    correct[11, 4:9] = np.nan
    panels = {"some": np.array([7, 1, 2, 5]), "gaps": np.array([11, 3, 0]), "none": np.arange(0)}
    judges = ModelPanels.of(correct, panels)
    metrics = preservation_by_panel(judges, weights)
    assert list(metrics) == list(panels)
    for name, members in panels.items():
        for values, expected in zip(
            metrics[name], preservation(correct[members], weights), strict=True
        ):
            np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-15)
    only = preservation_by_panel(judges.only(["gaps"]), weights)
    np.testing.assert_array_equal(only["gaps"].tau_b, metrics["gaps"].tau_b)


def test_no_subsets_or_no_models_do_not_fail() -> None:
    correct, weights = _draw(1, "plain")
    assert preservation(correct, weights[:0]).spearman.shape == (0,)
    assert np.isnan(preservation(correct[:0], weights).spearman).all()
    assert np.isnan(preservation(correct[:2], weights).tau_b).all()
