"""The panel: held-out models and the items that they share."""

import numpy as np
import pandas as pd
import pytest

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import choose_panel, panel_warnings
from benchwright.params.evaluation import EvaluationParams
from benchwright.tables.responses import Models

LISTED = Models.from_rows(
    [("a", "A", None, 1.0, False, None), ("a-chat", "A", None, 1.0, True, None)]
)


def matrix(answered: dict[str, str]) -> ResponseMatrix:
    """A response matrix from one string per model: x for a right answer, a dot for none."""
    rows = [[1.0 if c == "x" else np.nan for c in marks] for marks in answered.values()]
    correct = np.array(rows, dtype=np.float32)
    ids = tuple(f"i{k}" for k in range(correct.shape[1]))
    blank = np.full(correct.shape, np.nan, dtype=np.float32)
    unknown = np.full(correct.shape, -1, dtype=np.int16)
    return ResponseMatrix(tuple(answered), ids, correct, blank, blank, unknown)


def choose(m: ResponseMatrix, filter_models: list[str], wanted="all", coverage: float = 0.95):
    items = pd.DataFrame({"item_id": list(m.item_ids)})
    params = EvaluationParams(min_coverage=coverage)
    return choose_panel(m, items, LISTED, filter_models, wanted, params)


def test_items_are_those_that_every_model_of_the_panel_answered() -> None:
    m = matrix({"a": "xxxxxxx.", "b": "xxxxxxxx", "c": "x.xxxxxx", "d": "xx......"})
    seen = choose(m, ["a"], coverage=6 / 7)  # exactly that of c
    assert seen.judged == 7  # what the filter model a answered
    assert seen.models == ("a", "b", "c")
    assert seen.item_ids == ("i0", "i2", "i3", "i4", "i5", "i6")
    assert seen.left_out == {"d": pytest.approx(0.286, abs=1e-3)}


def test_without_filter_models_items_need_answers_of_half_of_the_models() -> None:
    m = matrix({"a": "xx..", "b": "xxx.", "c": "xxx.", "d": "xx.x"})
    assert choose(m, []).judged == 3
    assert "half of the models" in choose(m, []).basis
    # A filter model without answers counts as none.
    assert "half of the models" in choose(m, ["nobody"]).basis


def test_relatives_of_filter_models_are_not_held_out() -> None:
    m = matrix({"a@cloze-3": "xx", "a@letters-5": "xx", "a-chat": "xx", "b": "xx"})
    seen = choose(m, ["a@cloze-3"])
    assert dict(zip(seen.models, seen.roles, strict=True)) == {
        "a@cloze-3": "filter",
        "a@letters-5": "same_family",
        "a-chat": "same_family",
        "b": "held_out",
    }


def test_only_named_evaluation_models_take_part_and_unknown_ones_are_reported() -> None:
    m = matrix({"a": "xx", "b": "xx", "c": "xx"})
    seen = choose(m, ["a"], wanted=["b", "missing"])
    assert seen.models == ("b",)
    assert seen.left_out == {"missing": 0.0}


@pytest.mark.parametrize(
    ("answers", "filter_models", "message"),
    [
        ({"a": "xx", "b": "xx"}, ["a"], "1 of 2 models are filter models"),
        (
            {"a": "xx", "b": "xx"},
            ["a", "b"],
            "2 of 2 models are filter models, so agreement over all of them is in-sample",
        ),
        ({"a": "xx", "a-chat": "xx"}, ["a"], "Not held out: 1 model of the same family"),
        ({"a": "xx", "b": "x."}, ["a"], "Left out: 1 model with less than 95%"),
        ({"a": "x.....", "b": "xxxxxx"}, ["a"], "compared on the 1 of 6 items"),
        ({"a": "..", "b": ".."}, [], "No model answered enough items"),
    ],
)
def test_caveats_of_the_panel_are_logged(
    answers: dict[str, str], filter_models: list[str], message: str
) -> None:
    warnings = panel_warnings(choose(matrix(answers), filter_models), 0.95)
    assert any(message in warning for warning in warnings), warnings


def test_held_out_models_of_unknown_family_are_counted_and_reported() -> None:
    names = ("a/llama-3-8b", "b/mystery", "c/gemma-7b", "d/riddle@letters-5")
    ids = ("q0", "q1")
    matrix = ResponseMatrix.of(names, ids, correct=np.ones((4, 2), dtype=np.float32))
    items = pd.DataFrame({"item_id": ids})
    models = pd.DataFrame(
        {
            "model": ["a/llama-3-8b", "b/mystery", "c/gemma-7b", "d/riddle"],
            "family": ["llama-3", "b/mystery", "gemma", "d"],
            "organisation": ["a", "b", "c", "d"],
        }
    )
    panel = choose_panel(matrix, items, models, ["a/llama-3-8b"], "all", EvaluationParams())
    assert panel.unknown_family == 2
    note = next(note for note in panel_warnings(panel, 0.95) if "is unknown" in note)
    assert "2 of the 3 held-out models (67%) is unknown" in note
    assert note.endswith("With organisations for unknown bases, 3 of 4 have a family.")
    nobody_chose = choose_panel(matrix, items, models, [], "all", EvaluationParams())
    assert nobody_chose.unknown_family == 0
