"""Features of items against values computed by hand."""

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.wicked.single_best_answer.features import (
    CLOSENESS,
    SURFACE,
    asks_for_the_best,
    feature_table,
    judgeable,
    texts_to_encode,
)


def table(*rows: tuple[str, list[str], int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["question", "choices", "answer"])


@pytest.mark.parametrize(
    "question",
    [
        "Which is the best treatment?",
        "What most likely caused it?",
        "The MAIN reason was",
        "This is primarily due to",
        "Which of these is least harmful?",
    ],
)
def test_questions_that_ask_for_the_best_are_recognised(question: str) -> None:
    assert asks_for_the_best(question)


@pytest.mark.parametrize("question", ["What is 2 + 2?", "Name the mainland.", "Is it the utmost?"])
def test_other_questions_are_not_recognised_as_such(question: str) -> None:
    assert not asks_for_the_best(question)


def test_surface_features_equal_those_by_hand() -> None:
    item = table(("Which is NOT the best of 3?", ["one two three", "4"], 0))
    values = dict(zip(SURFACE, feature_table(item, {}, ["surface"]).table[0], strict=True))
    assert values["asks_for_the_best"] == values["negation"] == values["question_mark"] == 1
    assert values["question_words"] == pytest.approx(np.log(8))
    assert values["option_words"] == pytest.approx((np.log(4) + np.log(2)) / 2)
    assert values["gold_longer"] == pytest.approx((np.log(4) - np.log(2)) / 2)
    assert values["options_with_digits"] == 0.5
    assert values["digits_in_question"] == 1


def test_closeness_equals_that_by_hand() -> None:
    half = np.sqrt(0.5)
    vectors = {
        "q": np.array([1, 0], np.float32),
        "gold": np.array([half, half], np.float32),
        "near": np.array([0, 1], np.float32),
        "far": np.array([-1, 0], np.float32),
    }
    features = feature_table(table(("q", ["near", "gold", "far"], 1)), vectors, ["closeness"])
    expected = {
        "gold_to_nearest_distractor": half,
        "gold_to_distractors": 0,
        "among_distractors": 0,
        "question_to_gold": half,
        "question_to_nearest_distractor": 0,
        "question_margin": half,
    }
    assert features.names == CLOSENESS
    assert features.table[0] == pytest.approx([expected[name] for name in CLOSENESS], abs=1e-6)


def test_features_do_not_depend_on_the_order_of_distractors() -> None:
    random = np.random.default_rng(0)
    vectors = {name: random.normal(size=4).astype(np.float32) for name in ("q", "a", "b", "c")}
    groups = ("surface", "closeness", "question", "options")
    each = feature_table(table(("q", ["a", "b", "c"], 0)), vectors, groups)
    other = feature_table(table(("q", ["c", "b", "a"], 2)), vectors, groups)
    assert each.names == other.names
    assert each.table == pytest.approx(other.table, abs=1e-6)
    assert len(each.names) == each.table.shape[1] == len(SURFACE) + len(CLOSENESS) + 4 + 4


def test_only_the_texts_that_a_group_needs_are_encoded() -> None:
    items = table(("q", ["a", "b"], 0), ("r", ["b", "c"], 1))
    assert texts_to_encode(items, ["surface"]) == []
    assert texts_to_encode(items, ["surface", "question"]) == ["q", "r"]
    assert texts_to_encode(items, ["closeness"]) == ["a", "b", "c", "q", "r"]


def test_items_without_options_or_gold_cannot_be_judged() -> None:
    items = table(("q", ["a", "b"], 1), ("q", [], -1), ("q", ["a", "b"], -1), ("q", ["a"], 0))
    assert judgeable(items).tolist() == [True, False, False, False]
