"""Features of items and their regression against values computed by hand or by scikit-learn."""

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.wicked.single_best_answer.classifier import (
    CLOSENESS,
    SURFACE,
    asks_for_the_best,
    feature_table,
    fit_logistic,
    judgeable,
    logistic_probabilities,
    texts_to_encode,
)


def table(*rows: tuple[str, list[str], int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["question", "choices", "answer"])


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Which is the best treatment?", True),
        ("What MOST likely caused it?", True),
        ("Which of these is least harmful?", True),
        ("What is at most 2?", False),
        ("Name the mainland.", False),
    ],
)
def test_words_that_ask_for_a_degree_are_recognised(question: str, asks: bool) -> None:
    assert asks_for_the_best(question) is asks


def test_surface_features_equal_those_by_hand() -> None:
    item = table(("Which is NOT the best of 3?", ["one two three", "4"], 0))
    values = dict(zip(SURFACE, feature_table(item, {}, ["surface"]).iloc[0], strict=True))
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
    assert tuple(features) == CLOSENESS
    assert features.iloc[0].tolist() == pytest.approx(
        [expected[name] for name in CLOSENESS], abs=1e-6
    )


def test_features_do_not_depend_on_the_order_of_distractors() -> None:
    items = table(("q", ["a", "b"], 0), ("r", ["b", "c"], 1))
    assert texts_to_encode(items, ["surface"]) == []
    assert texts_to_encode(items, ["closeness"]) == ["a", "b", "c", "q", "r"]
    random = np.random.default_rng(0)
    vectors = {name: random.normal(size=4).astype(np.float32) for name in ("q", "a", "b", "c")}
    groups = ("surface", "closeness")
    each = feature_table(table(("q", ["a", "b", "c"], 0)), vectors, groups)
    other = feature_table(table(("q", ["c", "b", "a"], 2)), vectors, groups)
    pd.testing.assert_frame_equal(each, other, atol=1e-6)
    assert tuple(each) == SURFACE + CLOSENESS


def test_items_without_options_or_gold_cannot_be_judged() -> None:
    items = table(("q", ["a", "b"], 1), ("q", [], -1), ("q", ["a", "b"], -1), ("q", ["a"], 0))
    assert judgeable(items).tolist() == [True, False, False, False]


def examples(n: int = 80) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(3)
    values = random.normal(size=(n, 3)) * [1, 100, 0] + [0, 50, 7]
    labels = (values[:, 0] + random.normal(size=n) > 0.3).astype(int)
    return pd.DataFrame(values, columns=["signal", "noise", "constant"]), labels


@pytest.mark.parametrize("label", [0, 1])
def test_labels_of_one_kind_give_a_constant_classifier(label: int) -> None:
    features, labels = examples()
    fitted = fit_logistic(features, labels * 0 + label)
    assert logistic_probabilities(fitted, features) == pytest.approx(label, abs=0.01)
