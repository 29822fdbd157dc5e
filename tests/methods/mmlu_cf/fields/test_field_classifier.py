"""Fields of questions: a classifier on vectors, judges, and their accuracy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.methods.mmlu_cf.field_examples import EXAMPLES
from benchwright.methods.mmlu_cf.fields import (
    FIELDS,
    bundled_examples,
    field_accuracy,
    field_prompt,
    judge_fields,
    predict_fields,
    text_to_encode,
    train_classifier,
)
from benchwright.params.mmlu_cf import FieldsParams

LAWS = ("Law", "History", "Math")


def clouds(n: int, spread: float, seed: int = 0) -> tuple[np.ndarray, list[str], list[str]]:
    """Vectors around the corners of three fields, their fields and ids."""
    generator = np.random.default_rng(seed)
    labels = [LAWS[number % 3] for number in range(n)]
    corner = np.array([LAWS.index(label) for label in labels])
    vectors = np.eye(6)[corner] + generator.normal(scale=spread, size=(n, 6))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors, labels, [f"e{number}" for number in range(n)]


@pytest.mark.parametrize("kind", ["logistic", "nearest_centroid"])
def test_separate_fields_are_predicted_with_confidence(kind: Any) -> None:
    vectors, labels, ids = clouds(600, 0.15)
    params = FieldsParams(kind=kind)
    trained = train_classifier(vectors, labels, ids, params)
    new, true, names = clouds(90, 0.15, seed=1)
    predicted = predict_fields(names, new, trained)
    assert predicted["field"].tolist() == true
    assert predicted["confidence"].mean() > 0.9
    assert (predicted["second"] != predicted["field"]).all()
    assert trained.temperature != 1


@pytest.mark.parametrize("kind", ["logistic", "nearest_centroid"])
def test_calibrated_confidence_matches_accuracy(kind: Any) -> None:
    vectors, labels, ids = clouds(900, 0.7)
    trained = train_classifier(vectors, labels, ids, FieldsParams(kind=kind))
    new, true, names = clouds(3000, 0.7, seed=1)
    predicted = predict_fields(names, new, trained)
    error = calibration_error(predicted["field"] == pd.Series(true), predicted["confidence"])
    assert error < 0.05
    cold = predict_fields(names, new, trained._replace(temperature=trained.temperature / 20))
    assert calibration_error(cold["field"] == pd.Series(true), cold["confidence"]) > 0.15


def calibration_error(hits: pd.Series, confidence: pd.Series, bins: int = 10) -> float:
    """Expected calibration error (Guo et al. 2017, section 2) over bins of equal width."""
    place = np.minimum((confidence.to_numpy() * bins).astype(np.intp), bins - 1)
    gaps = np.bincount(place, hits.to_numpy(np.float64) - confidence.to_numpy(), minlength=bins)
    return float(np.abs(gaps).sum() / len(hits))


def test_few_examples_are_not_calibrated() -> None:
    vectors, labels, ids = clouds(30, 0.2)
    trained = train_classifier(vectors, labels, ids, FieldsParams())
    assert trained.temperature == 1


def test_two_fields_are_enough_and_one_is_not() -> None:
    vectors, labels, ids = clouds(60, 0.2)
    two = [place for place, label in enumerate(labels) if label != "Math"]
    trained = train_classifier(
        vectors[two],
        [labels[place] for place in two],
        [ids[place] for place in two],
        FieldsParams(),
    )
    predicted = predict_fields([ids[place] for place in two], vectors[two], trained)
    assert predicted["field"].tolist() == [labels[place] for place in two]
    with pytest.raises(InputError, match=r"1 field\(s\)"):
        train_classifier(vectors[:1], ["Law"], ["a"], FieldsParams())
    with pytest.raises(InputError, match="'Alchemy' is not a field"):
        train_classifier(vectors[:2], ["Law", "Alchemy"], ["a", "b"], FieldsParams())


def test_confidence_does_not_depend_on_threads_or_item_order() -> None:
    from threadpoolctl import threadpool_limits

    generator = np.random.default_rng(0)
    labels = [FIELDS[number % 14] for number in range(420)]
    vectors = generator.normal(size=(420, 384)) + 0.3 * np.eye(384)[np.arange(420) % 14]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"e{number}" for number in range(420)]
    new = generator.normal(size=(501, 384))
    names = [f"n{number}" for number in range(501)]
    predicted = []
    for threads in (1, 2, 3):
        with threadpool_limits(limits=threads):
            trained = train_classifier(vectors, labels, ids, FieldsParams())
            predicted.append(predict_fields(names, new, trained))
    predicted.append(predict_fields(names[::-1], new[::-1], trained)[::-1].reset_index(drop=True))
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
    assert set(EXAMPLES) == set(FIELDS)
    assert {len(questions) for questions in EXAMPLES.values()} == {10}
    table = bundled_examples()
    assert table["question"].nunique() == len(table) == 140
    assert table["item_id"].is_unique
    assert text_to_encode("Q?", ["a", "b"], True) == "Q? a b"


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
    assert rows.loc["a", "second"] == "Chemistry"
    assert rounds["attempt"].tolist() == [1, 1, 1, 2]


def test_a_single_judge_gives_no_confidence_and_a_silent_judge_no_field() -> None:
    judged, _ = judge_fields(ITEMS, {"x": says("Biology", "?")}, attempts=2)
    assert judged["source"].tolist() == ["judges", "not_judged"]
    assert judged["confidence"].isna().all()
    assert judged["field"].isna().tolist() == [False, True]
    assert len(judge_fields(ITEMS, {}, 1)[0]) == 2


def test_the_prompt_lists_all_fields() -> None:
    prompt = field_prompt("Q?", ["x", "y"])
    assert all(field in prompt for field in FIELDS)
    assert prompt.endswith("Question: Q?\nA. x\nB. y\n\nField:")
