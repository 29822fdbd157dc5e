"""Fields of questions: a classifier on vectors, judges, and their accuracy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.mmlu_cf.fields import (
    FIELDS,
    bundled_examples,
    field_accuracy,
    field_prompt,
    judge_fields,
    predict_fields,
)


def test_the_nearest_examples_give_the_field_with_any_number_of_threads() -> None:
    from threadpoolctl import threadpool_limits

    generator = np.random.default_rng(0)
    names = ["Math", "Law", "History"] * 60
    corners = np.eye(6)[np.arange(180) % 3]
    examples = corners + generator.normal(scale=0.2, size=corners.shape)
    new = corners[:9] + generator.normal(scale=0.2, size=(9, 6))
    ids = [f"n{number}" for number in range(9)]
    predicted = []
    for threads in (1, 3):
        with threadpool_limits(limits=threads):
            predicted.append(predict_fields(ids, new, examples, names))
    predicted.append(
        predict_fields(ids[::-1], new[::-1], examples, names)[::-1].reset_index(drop=True)
    )
    assert predicted[0]["item_id"].tolist() == ids
    assert predicted[0]["field"].tolist() == names[:9]
    assert predicted[0]["confidence"].between(0.9, 1, inclusive="neither").all()
    for other in predicted[1:]:
        pd.testing.assert_frame_equal(other, predicted[0], check_exact=True)


def test_accuracy_matches_hand_counts() -> None:
    true = pd.Series({"a": "Law", "b": "Law", "c": "Math", "d": "Math"})
    predicted = pd.DataFrame(
        {
            "item_id": ["a", "b", "c"],
            "field": ["Law", "Math", "Math"],
            "confidence": [0.9, 0.5, 0.7],
        }
    )
    table = field_accuracy("demo", true, predicted).set_index("field")
    assert table.loc["", ["n_items", "recall", "predicted"]].tolist() == [4, 0.5, 3]
    assert table.loc["", "precision"] == pytest.approx(2 / 3)
    assert table.loc["Law", ["recall", "precision", "predicted"]].tolist() == [0.5, 1.0, 1]
    assert table.loc["Math", ["recall", "precision"]].tolist() == [0.5, 0.5]
    assert table.loc["Law", "confidence"] == pytest.approx(0.7)
    assert np.isnan(table.loc["History", "recall"])
    assert len(table) == 15


def test_every_field_has_ten_distinct_examples() -> None:
    table = bundled_examples()
    assert table["field"].value_counts().to_dict() == dict.fromkeys(FIELDS, 10)
    assert table["question"].nunique() == 140


ITEMS = pd.DataFrame(
    {
        "item_id": ["a", "b"],
        "question": ["What is an enzyme?", "What is a tort?"],
        "choices": [["a protein", "a fat"], ["a wrong", "a cake"]],
    }
)


def says(first: str, second: str) -> Any:
    def ask(texts: Sequence[str], attempt: int = 1) -> list[str | None]:
        return [first if "enzyme" in text else second for text in texts]

    return ask


def test_the_field_is_the_majority_vote() -> None:
    judges = {
        "x": says("Biology", "Law"),
        "y": says("Chemistry", "Field: Law"),
        "z": says("Biology", "who knows"),
    }
    predictions, rounds = judge_fields(ITEMS, judges, attempts=2)
    rows = predictions.set_index("item_id")
    assert rows["field"].to_dict() == {"a": "Biology", "b": "Law"}
    assert rows["confidence"].to_dict() == pytest.approx({"a": 2 / 3, "b": 1.0})
    assert rounds["attempt"].tolist() == [1, 1, 1, 2]


def test_a_single_judge_gives_no_confidence_and_a_silent_judge_no_field() -> None:
    judged, _ = judge_fields(ITEMS, {"x": says("Biology", "?")}, attempts=2)
    assert judged["confidence"].isna().all()
    assert judged["field"].isna().tolist() == [False, True]
    assert len(judge_fields(ITEMS, {}, 1)[0]) == 2


def test_the_prompt_lists_all_fields() -> None:
    prompt = field_prompt("Q?", ["x", "y"])
    assert all(field in prompt for field in FIELDS)
    assert prompt.endswith("Question: Q?\nA. x\nB. y\n\nField:")
