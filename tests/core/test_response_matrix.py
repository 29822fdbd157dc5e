import numpy as np
import pytest

from benchwright.core.response_matrix import ResponseMatrix


def matrix() -> ResponseMatrix:
    return ResponseMatrix.of(
        ("a", "b"),
        ("q1", "q2", "q3"),
        correct=np.array([[1, 0, np.nan], [0, 1, 1]], dtype=np.float32),
        prediction=np.array([[2, 0, -1], [1, 3, 3]], dtype=np.int16),
    )


def test_omitted_fields_are_all_missing() -> None:
    seen = matrix()
    assert np.isnan(seen.p_answer).all()
    assert seen.p_prediction.shape == (2, 3)
    letters_unknown = ResponseMatrix.of(("a",), ("q1",), correct=np.ones((1, 1), dtype=np.float32))
    assert letters_unknown.prediction.tolist() == [[-1]]


def test_items_are_selected_in_order_and_unknown_ones_are_missing() -> None:
    seen = matrix().select_items(["q3", "new", "q1"])
    np.testing.assert_array_equal(seen.correct, [[np.nan, np.nan, 1], [1, np.nan, 0]])
    assert seen.prediction.tolist() == [[-1, -1, 2], [3, -1, 1]]
    assert seen.answered().tolist() == [[False, False, True], [True, False, True]]


def test_selected_items_of_an_empty_matrix_are_missing() -> None:
    seen = ResponseMatrix.of(("a",), ()).select_items(["q1"])
    assert not seen.answered().any()
    assert seen.prediction.tolist() == [[-1]]


def test_models_are_selected_in_order_and_unknown_ones_refused() -> None:
    assert matrix().select_models(["b", "a"]).correct[0].tolist() == [0, 1, 1]
    with pytest.raises(KeyError, match="nobody"):
        matrix().select_models(["nobody"])


@pytest.mark.parametrize(
    ("models", "items"), [(("a", "a"), ("q1", "q2", "q3")), (("a", "b"), ("q1", "q1", "q3"))]
)
def test_duplicate_names_are_refused(models: tuple[str, ...], items: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="unique"):
        ResponseMatrix.of(models, items)


def test_field_of_wrong_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"correct has shape \(1, 1\)"):
        ResponseMatrix.of(("a",), ("q1", "q2"), correct=np.ones((1, 1), dtype=np.float32))
