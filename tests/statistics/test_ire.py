"""IRE: the items dropped by difficulty and discrimination."""

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

from benchwright.evidence.ire import FEWEST_FOR_RANKS, ire_kept
from benchwright.statistics.item_response import probability


def answers(models: int, items: int, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    a, b = np.exp(rng.normal(0, 0.4, items)), rng.normal(0, 1, items)
    p = probability(rng.normal(size=models), a, b)
    return (rng.random((models, items)) < p).astype(np.float64)


def test_items_below_either_cut_are_dropped() -> None:
    selection = ire_kept(answers(200, 60))
    fit = selection.response
    assert fit is not None
    easy = fit.difficulty < np.percentile(fit.difficulty, 25)
    flat = fit.discrimination < np.percentile(fit.discrimination, 25)
    assert easy.sum() == flat.sum() == 15
    assert np.array_equal(~selection.kept, easy | flat)
    assert selection.reason == ""


def test_items_tied_at_the_cut_stay_in_any_order() -> None:
    correct = answers(100, 20, seed=3)
    correct[:, ::2] = 1  # half of the items tie as the easiest
    selection = ire_kept(correct)
    order = np.random.default_rng(4).permutation(20)
    assert len(set(selection.kept[::2])) == 1
    assert np.array_equal(ire_kept(correct[:, order]).kept, selection.kept[order])


def test_items_without_answers_are_not_assessed() -> None:
    correct = answers(100, 21, seed=5)
    correct[:, 4] = np.nan
    selection = ire_kept(correct)
    assert selection.kept[4]
    assert "1 item without answers: NaN" in selection.reason


def test_few_models_are_fitted_with_a_caveat() -> None:
    selection = ire_kept(answers(10, 60, seed=6))
    assert selection.reason.startswith(f"weak fit: 10 models, {FEWEST_FOR_RANKS} are needed")
    assert 0 < (~selection.kept).sum() < 40


@pytest.mark.parametrize(
    ("correct", "reason"),
    [
        (answers(2, 10), "2 models with answers; at least 3 are needed"),
        (answers(1, 10), "1 model with answers; at least 3 are needed"),
        (np.full((5, 10), np.nan), "0 models with answers; at least 3 are needed"),
        (np.ones((5, 10)), "no item tells two models apart"),
    ],
)
def test_without_estimates_all_items_stay(correct: NDArray[np.float64], reason: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selection = ire_kept(correct)
    assert selection.kept.all()
    assert np.isnan([selection.difficulty_cut, selection.discrimination_cut]).all()
    assert selection.reason.startswith(reason)
