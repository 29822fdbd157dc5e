"""IRE: the items dropped by difficulty and discrimination."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.ire import FEWEST_FOR_RANKS, estimate_item_parameters, ire_kept
from benchwright.evidence.panel import Panel
from benchwright.statistics.item_response import fit_2pl, probability


def answers(models: int, items: int, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    a, b = np.exp(rng.normal(0, 0.4, items)), rng.normal(0, 1, items)
    p = probability(rng.normal(size=models), a, b)
    return (rng.random((models, items)) < p).astype(np.float64)


def test_items_below_either_cut_are_dropped() -> None:
    fit = fit_2pl(answers(200, 60))
    easy = fit.difficulty < np.percentile(fit.difficulty, 25)
    flat = fit.discrimination < np.percentile(fit.discrimination, 25)
    assert easy.sum() == flat.sum() == 15
    assert np.array_equal(~ire_kept(fit), easy | flat)


def test_items_tied_at_the_cut_stay_in_any_order() -> None:
    correct = answers(100, 20, seed=3)
    correct[:, ::2] = 1  # half of the items tie as the easiest
    kept = ire_kept(fit_2pl(correct))
    order = np.random.default_rng(4).permutation(20)
    assert len(set(kept[::2])) == 1
    assert np.array_equal(ire_kept(fit_2pl(correct[:, order])), kept[order])


def fitted(correct: NDArray[np.float64]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Parameters from a panel that has only held-out models."""
    models, ids = (
        tuple(f"{what}{i:03d}" for i in range(n))
        for what, n in zip("mi", correct.shape, strict=True)
    )
    matrix = ResponseMatrix.of(models, ids, correct=correct.astype(np.float32))
    panel = Panel(models, ("held_out",) * len(models), ids, len(ids), "all", {}, len(ids))
    return estimate_item_parameters(matrix, panel)


def test_items_without_answers_are_kept() -> None:
    correct = answers(100, 21, seed=5)
    correct[:, 4] = np.nan
    table, about = fitted(correct)
    assert table["kept_by_ire"][4]
    assert "1 item without answers: NaN" in about["reason"]


def test_few_models_are_fitted_with_a_caveat() -> None:
    table, about = fitted(answers(10, 60, seed=6))
    assert about["reason"].startswith(f"weak fit: 10 models, {FEWEST_FOR_RANKS} are needed")
    assert 0 < about["share_removed"] < 0.6
    assert about["share_removed"] == pytest.approx(1 - table["kept_by_ire"].mean())


@pytest.mark.parametrize(
    ("correct", "reason"),
    [
        (answers(2, 10), "2 models; at least 3 are needed"),
        (np.ones((5, 10)), "no item tells two models apart"),
        (np.full((5, 10), np.nan), "no"),
    ],
)
def test_without_estimates_there_is_no_selection(correct: NDArray[np.float64], reason: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table, about = fitted(correct)
    assert table.empty
    assert about["share_removed"] is None
    assert about["reason"].startswith(reason)
