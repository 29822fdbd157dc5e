"""Contradictory rows and answers: each is an item, rejected by rule, or counted."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from hostile.accepted import PARTS
from hostile.readers import answers

FIRST = {"item_id": "q1", "model": "m", "correct": 1, "prediction": "B"}
ANSWERS: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "doubled with another answer": (
        {**FIRST, "correct": 0, "prediction": "A"},
        {"doubled": 1, "contradicting": 1},
    ),
    "NaN": ({"item_id": "q2", "model": "m", "correct": math.nan}, {"dropped": 1}),
    "a right answer that was improbable": (
        {"item_id": "q2", "model": "m", "correct": 1, "p_answer": 0.01},
        {"joined_by_id": 2, "contradicting": 1},
    ),
    "an option that is not there": (
        {"item_id": "q2", "model": "m", "prediction": "E"},
        {"joined_by_id": 2, "unreadable": 1},
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
