"""Accuracy and its standard error."""

import numpy as np
import pytest

from benchwright.evidence.scores import accuracy


def test_mean_and_standard_error_by_hand() -> None:
    # 3 of 4 right: mean .75; sample variance .25; standard error sqrt(.25 / 4) = .25.
    seen = accuracy(np.array([[1, 1, 0, 1]], dtype=np.float32))
    assert (seen.n[0], seen.mean[0], seen.se[0]) == (4, 0.75, 0.25)


def test_fractional_scores_have_a_smaller_error_than_right_and_wrong_of_the_same_mean() -> None:
    seen = accuracy(np.array([[0.5, 0.5, 0.5, 0.5], [1, 0, 1, 0]], dtype=np.float32))
    assert seen.mean.tolist() == [0.5, 0.5]
    assert seen.se[0] == 0
    assert seen.se[1] == pytest.approx(np.sqrt(1 / 12))


def test_missing_answers_do_not_count_as_wrong() -> None:
    seen = accuracy(np.array([[1, np.nan, 1, np.nan]], dtype=np.float32))
    assert (seen.n[0], seen.mean[0]) == (2, 1.0)


def test_no_answers_and_one_answer_have_no_standard_error() -> None:
    seen = accuracy(np.array([[np.nan, np.nan], [1, np.nan]], dtype=np.float32))
    assert seen.n.tolist() == [0, 1]
    assert np.isnan(seen.mean[0])
    assert seen.mean[1] == 1
    assert np.isnan(seen.se).all()


def test_equal_scores_stay_equal_when_items_are_reordered() -> None:
    # Ranks treat equal accuracies as tied, so a sum must not depend on the order of the items.
    rng = np.random.default_rng(1)
    row = (rng.random(14_042) < 0.7).astype(np.float32)
    seen = accuracy(np.stack([row, row[::-1], rng.permutation(row)]))
    assert len(set(seen.mean.tolist())) == 1
