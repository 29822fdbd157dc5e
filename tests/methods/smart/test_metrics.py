"""Metrics of a run for MLflow."""

import math
import re

import pytest


def test_metrics_are_finite_and_have_valid_mlflow_names(run) -> None:
    metrics = run()["metrics"]
    assert all(isinstance(value, float) and math.isfinite(value) for value in metrics.values())
    # MLflow's own rule; "/" would make folders of a model's name.
    assert [name for name in metrics if not re.fullmatch(r"[\w.\-]+", name)] == []


def test_metrics_agree_with_the_tables(run) -> None:
    metrics = run()["metrics"]
    assert (metrics["n_items"], metrics["n_kept"], metrics["n_removed"]) == (60, 50, 10)
    assert metrics["share_removed"] == pytest.approx(10 / 60)
    assert metrics["share_removed.easy"] == pytest.approx(9 / 60)
    assert metrics["coverage.easy"] == 1
    assert metrics["coverage.answer_only"] == 0
    assert (
        "share_removed.answer_only" not in metrics
    )  # it did not run, so its number is missing and not 0
    assert metrics["similarity_threshold"] == 0.25
    assert (metrics["n_panel_models"], metrics["n_held_out_models"]) == (7, 4)
    assert -1 <= metrics["kendall_tau_b_held_out"] <= 1
    assert "kendall_tau_b" not in metrics  # a name says over which models
    assert metrics["better_than_random"] in (-1, 0, 1)
