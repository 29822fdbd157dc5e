"""Contradictory rows and answers: each is an item, rejected by rule, or counted."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from benchwright.params.benchmark import GoldForm
from hostile.accepted import PARTS
from hostile.readers import answers, source

KEPT: list[tuple[GoldForm, Any, list[str], int]] = [
    ("index", "01", list("abcd"), 1),
    ("index", 2.0, list("abcd"), 2),
    ("letter", " b ", list("abcd"), 1),
    ("text", "TRUE", ["TRUE", "True", "true", "1"], 0),
    ("text", "01", ["1", "01", "1.0"], 1),
    ("index", 1, ["same", "same", "other"], 1),
    ("index", 25, [f"o{i}" for i in range(26)], 25),
]


@pytest.mark.parametrize(("form", "gold", "choices", "answer"), KEPT)
def test_an_unusual_but_valid_row_is_kept(
    tmp_path: Path, form: GoldForm, gold: Any, choices: list[str], answer: int
) -> None:
    row = {"id": "good", "question": "q", "choices": choices, "gold": gold}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    columns = {"choices": {"column": "choices"}, "gold": {"column": "gold", "form": form}}
    made = source(path, {"item_id": "id", "question": "question", **columns})
    (item,) = made.items.to_dict("records")
    assert (list(item["choices"]), item["answer"]) == (choices, answer)
    assert item["answer_text"] == choices[answer]


FIRST = {"item_id": "q1", "model": "m", "correct": 1, "prediction": "B"}
ANSWERS: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "doubled": (FIRST, {"doubled": 1, "contradicting": 0}),
    "doubled with another answer": (
        {**FIRST, "correct": 0, "prediction": "A"},
        {"doubled": 1, "contradicting": 1},
    ),
    "to an item that is not there": ({**FIRST, "item_id": "1"}, {"not_joined": 1}),
    "NaN": ({"item_id": "q2", "model": "m", "correct": math.nan}, {"dropped": 1}),
    "outside 0 to 1": ({"item_id": "q2", "model": "m", "correct": 2}, {"dropped": 1}),
    "a right answer that was improbable": (
        {"item_id": "q2", "model": "m", "correct": 1, "p_answer": 0.01},
        {"joined_by_id": 2, "contradicting": 1},
    ),
    "probabilities that sum to more than one": (
        {"item_id": "q2", "model": "m", "prediction": "A", "p_answer": 0.6, "p_prediction": 0.6},
        {"joined_by_id": 2, "contradicting": 1},
    ),
    "an option that is not there": (
        {"item_id": "q2", "model": "m", "prediction": "E"},
        {"dropped": 1},
    ),
    "all log-likelihoods tied": (
        {"item_id": "q2", "model": "m", "correct": 0, "logprobs": [-1, -1, -1, -1]},
        {"joined_by_id": 2, "contradicting": 0},
    ),
    "log-likelihoods that are no numbers": (
        {"item_id": "q2", "model": "m", "logprobs": [-1, math.nan, -1, -1]},
        {"dropped": 1},
    ),
    "half a character": ({"item_id": "q2", "model": "\ud800", "correct": 1}, {"joined_by_id": 2}),
    "shots beyond counting": (
        {"item_id": "q2", "model": "m", "correct": 1, "shots": 2**62},
        {"dropped": 1},
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_invalid_answer_is_counted(tmp_path: Path, name: str) -> None:
    row, expected = ANSWERS[name]
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(FIRST)}\n{json.dumps(row)}\n", encoding="utf-8")
    report = answers(path).import_report.iloc[0]
    assert report["rows"] == report[PARTS].sum() == 2
    assert {key: int(report[key]) for key in expected} == expected
