"""Answers to altered items are judged by the altered items."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.answers.response_matrices import build_perturbed_matrices
from benchwright.core.content_hash import content_hash
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.tables.responses import Calibration, Responses
from benchwright.tables.wicked import PerturbedItems

Make = Callable[..., Any]


def perturbed(
    condition: str, item: str, choices: list[str], answer: int, **more: Any
) -> dict[str, Any]:
    question = f"What of {item}?"
    return {
        "condition": condition,
        "role": "item",
        "item_id": item,
        "subject": "s",
        "question": question,
        "choices": choices,
        "answer": answer,
        "answer_text": choices[answer],
        "explanation": None,
        "content_hash": content_hash(question, choices),
        **more,
    }


def answer(item: str, condition: str, p: list[float]) -> dict[str, Any]:
    return {
        "item_id": item,
        "condition": condition,
        "model": "m",
        "style": "letters",
        "shots": 0,
        "source": "live",
        "logprobs": list(np.log(p)),
    }


def build(
    live: pd.DataFrame,
    items: pd.DataFrame,
    perturbed_items: pd.DataFrame,
    recorded: pd.DataFrame | None = None,
    wide: list[ResponseMatrix] | None = None,
) -> dict[str, ResponseMatrix]:
    recorded = Responses.empty() if recorded is None else recorded
    return build_perturbed_matrices(
        live, recorded, wide or [], Calibration.empty(), items, perturbed_items
    )


def test_responses_are_scored_with_the_gold_of_their_copy(
    make_items: Make, make_responses: Make
) -> None:
    items = make_items("q1", "q2")  # the gold is option 1
    perturbed_items = PerturbedItems.from_rows(
        [
            perturbed("wicked-0", "q1", ["q1 a", "q1 c", "q1 d", "None of the above"], 3),
            perturbed("wicked-0", "q2", ["q2 b", "q2 c", "q2 d", "None of the above"], 0),
            perturbed("wicked-1", "q1", ["q1 a", "q1 b", "q1 c", "None of the above"], 1),
        ]
    )
    rows = make_responses(
        answer("q1", "wicked-0", [0.1, 0.2, 0.1, 0.6]),
        answer("q2", "wicked-0", [0.1, 0.7, 0.1, 0.1]),  # right by the item it was made from
        answer("q1", "wicked-1", [0.1, 0.7, 0.1, 0.1]),
        answer("q1", "question", [0.7, 0.1, 0.1, 0.1]),
    )
    seen = build(rows, items, perturbed_items)
    assert list(seen) == ["wicked-0", "wicked-1"]
    first, second = seen.values()
    assert (first.condition, first.models) == ("wicked-0", ("m@letters-0",))
    assert first.correct.tolist() == [[1, 0]]
    assert first.p_answer[0] == pytest.approx([0.6, 0.1], abs=1e-6)
    assert second.correct[0, 0] == 1
    assert np.isnan(second.correct[0, 1])  # the copy has no q2


def test_unaltered_items_of_a_copy_keep_all_right_options(
    make_items: Make, make_responses: Make
) -> None:
    items = make_items("q1", "q2")
    items["correct_set"] = [[1, 2], [1, 2]]
    copied = perturbed("wicked-0", "q1", list(items["choices"].iloc[0]), 1)
    altered = perturbed("wicked-0", "q2", ["q2 b", "q2 c", "q2 d", "None of the above"], 0)
    rows = make_responses(
        answer("q1", "wicked-0", [0.1, 0.1, 0.7, 0.1]),
        answer("q2", "wicked-0", [0.1, 0.7, 0.1, 0.1]),
    )
    perturbed_items = PerturbedItems.from_rows([copied, altered])
    seen = build(rows, items, perturbed_items)
    assert seen["wicked-0"].correct.tolist() == [[1, 0]]


def test_recorded_responses_fill_in_missing_live_ones(
    make_items: Make, make_responses: Make
) -> None:
    items = make_items("q1", "q2")
    perturbed_items = PerturbedItems.from_rows(
        [
            perturbed("wicked-0", "q1", ["q1 a", "q1 c", "q1 d", "None of the above"], 3),
            perturbed("wicked-0", "q2", ["q2 b", "q2 c", "q2 d", "None of the above"], 0),
        ]
    )
    live = make_responses(answer("q1", "wicked-0", [0.1, 0.2, 0.1, 0.6]))
    recorded = make_responses(
        *(
            {**answer(item, condition, [0.1, 0.7, 0.1, 0.1]), "source": "log.jsonl"}
            for item in ("q1", "q2")
            for condition in ("question", "wicked-0")
        )
    )
    seen = build(live, items, perturbed_items, recorded)["wicked-0"]
    assert seen.models == ("m@letters-0",)
    assert seen.correct.tolist() == [[1, 0]]
    assert seen.prediction.tolist() == [[3, 1]]


def test_recorded_matrices_of_a_copy_are_included(make_items: Make) -> None:
    perturbed_items = PerturbedItems.from_rows(
        [perturbed("wicked-0", "q1", ["q1 a", "None of the above"], 1)]
    )
    wide = [
        ResponseMatrix.of(
            ("w",), ("q1",), correct=np.array([[value]], dtype=np.float32), condition=condition
        )
        for condition, value in (("question", 0.0), ("wicked-0", 1.0), ("wicked-1", 0.0))
    ]
    seen = build(Responses.empty(), make_items("q1"), perturbed_items, wide=wide)
    assert list(seen) == ["wicked-0"]
    assert seen["wicked-0"].models == ("w",)
    assert seen["wicked-0"].correct.tolist() == [[1]]
