"""Comparison of the kept items with random subsets of the same size and with IRE."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.ire import estimate_item_parameters
from benchwright.evidence.panel import Panel
from benchwright.evidence.random_comparison import (
    compare_with_random,
    gather_subsets,
)
from benchwright.evidence.ratings import read_ratings
from benchwright.evidence.scores import score_models
from benchwright.params.evaluation import EvaluationParams, RatingsParams
from benchwright.tables.evidence import (
    ItemParameters,
)

NO_RATINGS = pd.DataFrame({"model": [], "rating": []})


def simulated(models: int = 30, items: int = 200, seed: int = 0) -> tuple[ResponseMatrix, Panel]:
    """Simulated answers of models of rising ability; ten are filter models."""
    rng = np.random.default_rng(seed)
    ability, difficulty = np.linspace(-1.5, 1.5, models), np.linspace(-2, 2, items)
    right = rng.random((models, items)) < 1 / (1 + np.exp(difficulty - ability[:, None]))
    names = tuple(f"m{i:02d}" for i in range(models))
    ids = tuple(f"i{k:03d}" for k in range(items))
    roles = tuple("filter" if i % 3 == 0 else "held_out" for i in range(models))
    matrix = ResponseMatrix.of(names, ids, correct=right.astype(np.float32))
    return matrix, Panel(names, roles, ids, items, "all items", {}, items)


def items_of(matrix: ResponseMatrix) -> pd.DataFrame:
    ids = list(matrix.item_ids)
    return pd.DataFrame(
        {
            "item_id": ids,
            "subject": [f"s{k % 4}" for k in range(len(ids))],
            "question": [f"Question {item}?" for item in ids],
            "passage_id": None,
        }
    )


def judged(
    matrix: ResponseMatrix,
    panel: Panel,
    kept: list[str],
    *,
    parameters: pd.DataFrame | None = None,
    seed: int = 0,
    ratings: RatingsParams | None = None,
    items: pd.DataFrame | None = None,
    **settings: Any,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    chosen = pd.DataFrame({"item_id": kept})
    return compare_with_random(
        matrix,
        items_of(matrix) if items is None else items,
        gather_subsets(chosen, ItemParameters.empty() if parameters is None else parameters),
        score_models(matrix, items_of(matrix), chosen, panel),
        panel,
        read_ratings(NO_RATINGS, ratings or RatingsParams()),
        EvaluationParams(**{"random_subsets": 200, **settings}),
        seed,
    )


def row(table: pd.DataFrame, metric: str, models: str = "held_out", **keys: str) -> pd.Series:
    keys = {"method": "kept", "random": "plain", **keys, "metric": metric, "models": models}
    rows = table[(table[list(keys)] == pd.Series(keys)).all(axis=1)]
    assert len(rows) == 1
    return rows.iloc[0]


def test_items_chosen_for_one_model_lie_below_the_random_band() -> None:
    matrix, panel = simulated()
    for_the_weakest = [
        i for i, right in zip(matrix.item_ids, matrix.correct[1], strict=True) if right
    ]
    seen, draws = judged(matrix, panel, for_the_weakest)
    tau = row(seen, "kendall_tau_b")
    assert tau["value"] < tau["random_low"] < tau["random_mean"] < tau["random_high"]
    assert tau["percentile"] < 2.5
    assert tau["p_value"] == pytest.approx(2 / 201, abs=0.01)
    assert (tau["n_models"], tau["n_items"], tau["n_full"]) == (20, len(for_the_weakest), 200)
    tau_draws = draws[
        (draws["metric"] == "kendall_tau_b")
        & (draws["models"] == "held_out")
        & (draws["random"] == "plain")
    ]
    assert len(tau_draws) == tau["draws"] == 200
    assert tau_draws["value"].mean() == pytest.approx(tau["random_mean"])


def test_comparison_is_reproducible_and_does_not_depend_on_order() -> None:
    matrix, panel = simulated(12, 60)
    kept = list(matrix.item_ids[:30])
    comparison, _ = judged(matrix, panel, kept)
    other, _ = judged(
        matrix.select_models(matrix.models[::-1]).select_items(matrix.item_ids[::-1]),
        panel,
        kept[::-1],
        items=items_of(matrix).iloc[::-1],
    )
    pd.testing.assert_frame_equal(comparison, other)
    assert not comparison.equals(judged(matrix, panel, kept, seed=1)[0])


def test_no_comparison_without_models_or_if_disabled() -> None:
    matrix, panel = simulated(6, 20)
    assert judged(matrix, panel, list(matrix.item_ids[:9]), random_subsets=0)[0].empty
    nobody = panel._replace(models=(), roles=(), item_ids=())
    assert judged(matrix, nobody, list(matrix.item_ids[:9]))[0].empty


def test_ire_is_compared_at_its_own_size_with_corrected_p_values() -> None:
    matrix, panel = simulated(60, 120)
    parameters, about = estimate_item_parameters(matrix, panel)
    assert (about["fitted_on"], about["in_sample"]) == (20, False)
    assert 0.25 <= about["share_removed"] <= 0.5
    assert np.corrcoef(parameters["difficulty"], np.arange(120))[0, 1] > 0.8
    seen, _ = judged(matrix, panel, list(matrix.item_ids[:40]), parameters=parameters)
    ire, kept = row(seen, "kendall_tau_b", method="ire"), row(seen, "kendall_tau_b")
    assert ire["n_items"] == parameters["kept_by_ire"].sum() != kept["n_items"]
    for metric in ("kendall_tau_b", "signed_shift"):
        p = [row(seen, metric, method=method)["p_value"] for method in ("kept", "ire")]
        adjusted = [row(seen, metric, method=method)["p_holm"] for method in ("kept", "ire")]
        assert min(adjusted) == pytest.approx(min(1, 2 * min(p)))
