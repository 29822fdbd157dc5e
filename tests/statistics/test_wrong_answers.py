"""Share of wrong answers and the wrong option most often chosen."""

import numpy as np
import pytest

from benchwright.statistics import wrong_answers
from benchwright.statistics.wrong_answers import share_wrong, wrong_option_margin

NAN = np.nan


def test_families_count_once_however_many_models_they_have() -> None:
    correct = np.array([[0, 1], [0, 1], [0, 0], [1, 0]], dtype=np.float32)
    # The first family is wrong in all and in a third of its answers, the second in none and all.
    assert share_wrong(correct, ["a", "a", "a", "b"]) == pytest.approx([1 / 2, 2 / 3])
    assert share_wrong(correct, ["a", "b", "c", "d"]) == pytest.approx([3 / 4, 1 / 2])


def test_missing_answers_are_left_out_and_items_without_any_are_unknown() -> None:
    correct = np.array([[NAN, 0, NAN], [1, 0.5, NAN], [0, NAN, NAN]])
    share = share_wrong(correct, ["a", "a", "b"])
    assert share[:2] == pytest.approx([1 / 2, 3 / 4])
    assert np.isnan(share[2])
    assert np.isnan(share_wrong(np.empty((0, 2)), [])).all()


def test_blocks_of_items_and_order_of_models_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    correct = np.where(rng.random((9, 50)) < 0.2, NAN, rng.integers(0, 2, (9, 50)))
    families = rng.integers(0, 4, 9)
    whole = share_wrong(correct, families)
    turned = rng.permutation(9)
    assert share_wrong(correct[turned], families[turned]) == pytest.approx(whole, nan_ok=True)
    monkeypatch.setattr(wrong_answers, "_CELLS", 20)
    assert np.array_equal(share_wrong(correct, families), whole, equal_nan=True)


def test_margin_is_the_lead_of_the_most_chosen_wrong_option() -> None:
    prediction = np.array([[1, 0, -1, 2], [1, 0, -1, 2], [2, 0, -1, 1], [0, 0, -1, 2]])
    right = np.array([[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 1]], dtype=bool)
    margin = wrong_option_margin(prediction, right, ["a", "b", "c", "d"])
    assert margin.option.tolist() == [1, -1, -1, -1]
    assert margin.lead == pytest.approx([1 / 4, -1, NAN, -1], nan_ok=True)
    of_families = wrong_option_margin(prediction, right, ["a", "a", "c", "d"])
    assert of_families.lead[0] == pytest.approx(0)  # each family chose another option


def test_items_without_a_right_option_have_no_margin() -> None:
    margin = wrong_option_margin(np.array([[0]]), np.zeros((1, 3), dtype=bool), ["a"])
    assert margin.option.tolist() == [-1]
    assert np.isnan(margin.lead).all()
    assert (
        len(wrong_option_margin(np.empty((2, 0), dtype=int), np.empty((0, 0), bool), "ab").lead)
        == 0
    )
