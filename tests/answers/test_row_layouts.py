"""Rows of benchmarks are read by their columns, with the gold that the row or the log states."""

from typing import Any

import pytest

from benchwright.answers.row_layouts import readings, right_options
from benchwright.logs.sample import Sample

AB = ("fox", "hen")
LABELLED = {"text": list(AB), "label": ["1", "2"]}

ROWS: list[tuple[dict[str, Any], str, tuple[str, ...], tuple[int, ...]]] = [
    ({"question": "Q?", "choices": list(AB), "answer": 1}, "Q?", AB, (1,)),
    ({"question": "Q?", "choices": list(AB), "answer": "1"}, "Q?", AB, ()),  # from 0 or from 1?
    ({"question": "Q?", "choices": LABELLED, "answerKey": "1"}, "Q?", AB, (0,)),
    ({"question_stem": "Q?", "choices": LABELLED, "answerKey": "2"}, "Q?", AB, (1,)),
    ({"query": "Q?", "choices": list(AB), "gold": 0}, "Q?", AB, (0,)),
    ({"query": "Q: Q? Answer Choices: (A)fox (B)hen\nA: The answer is", "gold": [0, 1]}
     | {"choices": ["(A)fox", "(B)hen"]}, "Q: Q?", AB, (0, 1)),
    ({"ctx": "Q", "endings": list(AB), "label": "1"}, "Q", AB, (1,)),
    ({"goal": "Q", "sol1": "fox", "sol2": "hen", "label": 1}, "Q", AB, (1,)),
    ({"sentence": "Q _", "option1": "fox", "option2": "hen", "answer": "1"}, "Q _", AB, (0,)),
    ({"question": "Q?", "A": "a", "B": "b", "C": "c", "D": "d", "answer": "C"},
     "Q?", ("a", "b", "c", "d"), (2,)),
    ({"Question": "Q?", "A": "a", "B": "b", "C": "c", "D": "d", "Answer": "D"},
     "Q?", ("a", "b", "c", "d"), (3,)),
    ({"question": "Q?", "opa": "a", "opb": "b", "opc": "c", "opd": "d", "cop": 1},
     "Q?", ("a", "b", "c", "d"), (1,)),
    ({"question": "Q?", "mc1_targets": {"choices": list(AB), "labels": [0, 1]}}, "Q?", AB, (1,)),
    ({"question": "Q?", "options": list(AB), "answer": "B"}, "Q?", AB, (1,)),
    ({"Question": "Q?", "choice1": "a", "choice2": "b", "choice3": "c", "choice4": "d"}
     | {"answer": "(B)"}, "Q?", ("a", "b", "c", "d"), (1,)),
    ({"narrative": "N", "question": "Q?", "choices": "['fox', 'hen']", "answer_index": 1},
     "N\n\nQ?", AB, (1,)),
    ({"premise": "P", "question": "cause", "alternative_1": "fox", "alternative_2": "hen"}
     | {"label": 1}, "P\n\ncause", AB, (1,)),
    ({"input": "Q?\nOptions:\n(A) fox\n(B) hen", "target": "(B)"}, "Q?", AB, ()),
]  # fmt: skip


@pytest.mark.parametrize(("row", "question", "choices", "right"), ROWS)
def test_a_row_is_read_by_its_columns(
    row: dict[str, Any], question: str, choices: tuple[str, ...], right: tuple[int, ...]
) -> None:
    sample = Sample("0", doc=row)
    reading = next(readings(sample))
    assert (reading.question, reading.choices) == (question, choices)
    assert right_options(sample, reading) == right


@pytest.mark.parametrize(
    ("target", "right"), [("1", (1,)), ("hen", (1,)), ("[0, 1]", (0, 1)), ("2", ()), ("", ())]
)
def test_options_and_gold_may_be_the_texts_that_were_scored(
    target: str, right: tuple[int, ...]
) -> None:
    row = {"paragraph": "P", "question": "Q?", "label": 1}
    sample = Sample("0", doc=row, continuations=(" fox", " hen"), target=target)
    reading = next(readings(sample))
    assert (reading.question, reading.choices) == ("P\n\nQ?", AB)
    assert right_options(sample, reading) == right


@pytest.mark.parametrize(
    ("listed", "target", "right"), [("A. fox\nB. hen", "B", (1,)), ("1. fox\n2. hen", "1", (0,))]
)
def test_listed_options_are_cut_off_with_their_labels(
    listed: str, target: str, right: tuple[int, ...]
) -> None:
    sample = Sample("0", question=f"Q?\n{listed}\nAnswer:", target=target)
    reading = next(readings(sample))
    assert (reading.question, reading.choices) == ("Q?", AB)
    assert right_options(sample, reading) == right


def test_an_unknown_row_has_no_reading() -> None:
    assert list(readings(Sample("0", doc={"tokens": [1, 2]}))) == []
