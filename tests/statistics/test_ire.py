"""IRE: the items dropped by difficulty and discrimination."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
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


def test_easiest_and_least_discriminating_items_are_dropped() -> None:
    correct = answers(300, 40, seed=1)
    rng = np.random.default_rng(2)
    correct[:, 0] = rng.random(300) < 0.98
    correct[:, 1] = rng.random(300) < 0.5  # random for every model
    kept = ire_kept(correct, percentile=10).kept
    assert not kept[:2].any()
    assert kept.sum() >= 32


def test_percentile_0_keeps_every_item() -> None:
    assert ire_kept(answers(100, 30), percentile=0).kept.all()


def test_items_tied_at_the_cut_stay_in_any_order() -> None:
    correct = answers(100, 20, seed=3)
    correct[:, ::2] = 1  # half of the items tie as the easiest
    selection = ire_kept(correct, percentile=40)
    order = np.random.default_rng(4).permutation(20)
    assert len(set(selection.kept[::2])) == 1
    assert np.array_equal(ire_kept(correct[:, order], 40).kept, selection.kept[order])


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


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="percentile 100 must be in"):
        ire_kept(answers(5, 5), percentile=100)


@pytest.mark.real_data
def test_share_dropped_from_arc_challenge_is_between_a_quarter_and_half(
    shared_data: Path, show: Callable[[str], None]
) -> None:
    """SMART, Table 5, prints 28.1% for ARC; no cut at 25% can drop under 25%."""
    frame = pd.read_parquet(shared_data / "responses" / "leaderboard_v1_arc_challenge.parquet")
    correct = frame.set_index("model").astype("Float32").to_numpy(np.float32, na_value=np.nan)
    correct = correct[~np.isnan(correct).any(axis=1)]
    share = 1 - ire_kept(correct).kept.mean()
    assert 0.25 <= share <= 0.5
    show(
        f"IRE drops {share:.1%} of {correct.shape[1]} ARC-Challenge items judged by "
        f"{len(correct)} models"
    )
