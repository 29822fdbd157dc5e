from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.answers.response_matrices import build_response_matrices
from benchwright.params.responses import ResponsesParams
from benchwright.tables.responses import Calibration, Responses

Make = Callable[..., Any]


@pytest.fixture
def answers(make_responses: Make) -> pd.DataFrame:
    """Model m answers q0 three times and q1 once; model n answers each once."""
    said = [("m", "q0", 1, 0), ("m", "q0", 2, 1), ("m", "q0", 3, 1), ("m", "q1", 1, 0)]
    said += [("n", "q0", 1, 0), ("n", "q1", 1, 1)]
    return make_responses(
        *(
            {"model": model, "item_id": item, "repeat": repeat, "prediction": option}
            for model, item, repeat, option in said
        )
    )


def matrices(items: pd.DataFrame, answers: pd.DataFrame, repeats: str) -> Any:
    parameters = ResponsesParams.model_validate({"repeats": repeats})
    empty = Responses.empty()
    return build_response_matrices(empty, answers, [], Calibration.empty(), items, parameters)


@pytest.mark.parametrize("reverse", [False, True])
def test_first_repeat_counts_or_the_mean(
    make_items: Make, answers: pd.DataFrame, reverse: bool
) -> None:
    items = make_items("q0", "q1", answer=0)
    answers = answers.iloc[::-1] if reverse else answers
    first = matrices(items, answers, "first")
    assert first.response_matrix.correct.tolist() == [[1, 1], [1, 0]]
    mean = matrices(items, answers, "mean")
    np.testing.assert_allclose(mean.response_matrix.correct, [[1 / 3, 1], [1, 0]])
    assert mean.response_matrix.prediction.tolist() == [[1, 0], [0, 1]]
    for result in (first, mean):
        coverage = result.answer_coverage.set_index("configuration")
        assert coverage["answered"].to_dict() == {"m": 2, "n": 2}
        assert len(result.responses) == 4
