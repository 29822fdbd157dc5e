"""Agreement of the answers of two models."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchwright.evidence.scores import correctness_agreement, prediction_agreement


def test_equal_wrong_answers_agree_and_missing_answers_do_not_count() -> None:
    seen = prediction_agreement(np.array([[0, 1, 2, -1], [0, 1, 3, -1], [3, -1, 2, 0]]))
    assert seen.n.tolist() == [[3, 3, 2], [3, 3, 2], [2, 2, 3]]
    assert seen.share[0, 1] == 2 / 3
    assert seen.share[0, 2] == 1 / 2
    assert seen.share[1, 2] == 0


def test_two_wrong_models_agree_in_correctness() -> None:
    seen = correctness_agreement(np.array([[1, 0, 0, np.nan], [1, 0, 1, 1]], dtype=np.float32))
    assert seen.n[0, 1] == 3
    assert seen.share[0, 1] == 2 / 3


def test_models_without_common_items_have_no_agreement() -> None:
    seen = prediction_agreement(np.array([[0, -1], [-1, 0]]))
    assert np.isnan(seen.share[0, 1])
    assert seen.n[0, 1] == 0


@given(
    arrays(np.int16, st.tuples(st.integers(1, 6), st.integers(0, 30)), elements=st.integers(-1, 4))
)
def test_agreement_equals_a_count_item_by_item(prediction: np.ndarray) -> None:
    seen = prediction_agreement(prediction)
    for a, first in enumerate(prediction):
        for b, second in enumerate(prediction):
            both = [(x, y) for x, y in zip(first, second, strict=True) if x >= 0 and y >= 0]
            assert seen.n[a, b] == len(both)
            if both:
                assert seen.share[a, b] == sum(x == y for x, y in both) / len(both)
