"""Items ranked for review of their labels."""

import numpy as np
import pandas as pd

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.suspect_items import rank_suspect_items
from benchwright.tables.responses import Models

IDS = ["q/2", "q/3", "q/4", "q/10"]
MODELS = Models.from_rows([(name, name, None, None, False, None) for name in "abcd"])


def items(ids: list[str] = IDS) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item_id": ids,
            "subject": "maths",
            "choices": [["yes", "no", "maybe"]] * len(ids),
            "correct_set": [[0]] * len(ids),
        }
    )


def matrix(correct: list[list[float]], prediction: list[list[int]] | None = None) -> ResponseMatrix:
    values = np.array(correct, dtype=np.float32)
    chosen = None if prediction is None else np.array(prediction, dtype=np.int16)
    return ResponseMatrix.of(tuple("abcd"), tuple(IDS), correct=values, prediction=chosen)


def test_ties_go_to_the_clearer_alternative_and_then_to_the_order_of_items() -> None:
    wrong = [[0, 0, 0, 1]] * 4
    ranked = rank_suspect_items(matrix(wrong), items(), MODELS)
    assert ranked["item_id"].tolist() == IDS
    assert ranked["alternative"].tolist() == [-1] * 4
    chosen = [[1, 1, 2, 0], [1, 2, 2, 0], [1, 1, 2, 0], [1, 2, 2, 0]]
    ranked = rank_suspect_items(matrix(wrong, chosen), items(), MODELS)
    assert ranked["item_id"].tolist() == ["q/2", "q/4", "q/3", "q/10"]
    assert ranked["alternative"].tolist() == [1, 2, 1, -1]
    assert ranked["margin"].tolist() == [1, 1, 0.5, -1]
    assert ranked["rank"].tolist() == [1, 2, 3, 4]


def test_unanswered_items_are_left_out() -> None:
    answers = matrix([[0, 1, np.nan, 1], [1, 0, np.nan, 1], [0, 0, np.nan, 0], [1, 1, np.nan, 1]])
    ranked = rank_suspect_items(answers, items(), MODELS)
    assert ranked["item_id"].tolist() == ["q/2", "q/3", "q/10"]
    assert ranked["n_models"].tolist() == [4, 4, 4]
    nobody = ResponseMatrix.empty(tuple(IDS))
    assert rank_suspect_items(nobody, items(), MODELS).empty


def test_open_questions_are_ranked_by_wrong_answers_alone() -> None:
    table = items().assign(choices=[[]] * 4, correct_set=[[]] * 4)
    ranked = rank_suspect_items(matrix([[0, 1, 1, 1]] * 4), table, MODELS)
    assert ranked["item_id"].iloc[0] == "q/2"
    assert ranked["margin"].isna().all()
