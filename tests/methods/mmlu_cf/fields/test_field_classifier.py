"""Fields of questions: a classifier on vectorsand judges."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.mmlu_cf.fields import (
    FIELDS,
    bundled_examples,
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
