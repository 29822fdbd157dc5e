"""Exact and near-duplicates: rejected and kept questions."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchwright.methods.mmlu_cf.cleaning.clean import clean
from benchwright.methods.mmlu_cf.cleaning.rows import CLEAN, Cleaned
from benchwright.methods.mmlu_cf.cleaning.rules import ROW_RULES
from benchwright.methods.mmlu_cf.extraction.extract import extract
from benchwright.params.mmlu_cf import CleaningParams
from benchwright.tables.mmlu_cf import (
    CleaningChanges,
    CleaningFunnel,
    RejectedRawItems,
)
from methods.mmlu_cf.cleaning.raw_rows import as_raw

TABLES = (RejectedRawItems, CleaningChanges, CleaningFunnel)
QUESTION = "Which planet of the solar system has the largest number of known moons?"
PLANETS = ["Saturn", "Jupiter", "Mars", "Venus"]
PASSAGE = (
    "The harvest of that year was the poorest in living memory, and the council met every week to "
    "decide how bread should be shared among the families of the town. Some members wanted to open "
    "the granary at once; others feared that nothing would be left for the spring. "
)


def rows(*items: dict[str, Any]) -> pa.Table:
    base = {"question": QUESTION, "choices": PLANETS, "answer": 0}
    return pa.Table.from_pylist(
        [{"item_id": f"doc#{i}", **base, **item} for i, item in enumerate(items)], schema=CLEAN
    )


def deduplicated(*items: dict[str, Any], off: tuple[str, ...] = ()) -> Cleaned:
    off = (*(rule.name for rule in ROW_RULES), *off)
    return clean([as_raw(rows(*items))], CleaningParams.model_validate({"off": off}))


def left(*items: dict[str, Any], off: tuple[str, ...] = ()) -> list[str]:
    ids: list[str] = deduplicated(*items, off=off).rows.column("item_id").to_pylist()
    return ids


@pytest.mark.parametrize(
    ("params", "kept", "digest"),
    [
        ({}, 372, "9bff188417795181"),
        ({"n_choices": (2, 3, 4)}, 376, "84f3937e2219dbcb"),
        ({"off": ("lower_case_start", "question_numbering", "labels")}, 485, "0b0672c5525c7478"),
    ],
)
def test_every_column_of_the_bundled_documents_is_as_before(
    params: dict[str, Any], kept: int, digest: str, repository: Path
) -> None:
    """Of questions as they are and with labels, capitals and numbers changed.

    After a rule was changed on purpose, update the digests.
    """
    lines = (repository / "data/01_raw/documents/documents.jsonl").read_text("utf-8").splitlines()
    documents = pa.Table.from_pylist([json.loads(line) | {"domain": None} for line in lines])
    raw = extract(documents).to_pylist()
    changed = [
        row
        | {"item_id": f"{row['item_id']}-{n % 6}", "passage": None}
        | [
            {"question": f"{n}. {row['question']}"},
            {"question": row["question"][: n % 90]},
            {"question": row["question"].replace("e", "é").lower()},
            {"labels": [label.lower() for label in row["labels"]][::-1]},
            {"answer": f"The answer is {row['answer']}."},
            {"choices": [f"{number}. {text}" for number, text in enumerate(row["choices"], 1)]},
        ][n % 6]
        for n, row in enumerate(raw)
    ]
    made = clean([pa.Table.from_pylist(raw + changed)], CleaningParams(**params))
    for table, model in zip(made[1:], TABLES, strict=True):
        model.validate(table.to_pandas())
    text = json.dumps([table.to_pylist() for table in made])
    assert (made.rows.num_rows, hashlib.sha256(text.encode()).hexdigest()[:16]) == (kept, digest)


def test_case_white_space_and_order_of_choices_make_no_difference() -> None:
    copy = {"question": QUESTION.upper().replace(" ", "  "), "choices": PLANETS[::-1], "answer": 3}
    result = deduplicated({}, copy)
    assert result.rows.column("item_id").to_pylist() == ["doc#0"]
    assert result.rejected.column("rule").to_pylist() == ["exact_duplicate"]
    assert result.rejected.column("duplicate_of").to_pylist() == ["doc#0"]


def test_the_copy_with_an_explanation_is_kept() -> None:
    assert left({}, {"explanation": "It has 146."}, {}) == ["doc#1"]


def test_copies_with_different_answers_are_all_rejected_or_one_is_kept() -> None:
    items = ({}, {"answer": 1}, {})
    assert left(*items) == []
    assert "answers differ" in deduplicated(*items).rejected.column("detail")[0].as_py()


@pytest.mark.parametrize(
    "copy",
    [
        {"question": QUESTION.replace("planet", "plantet")},
        {"question": QUESTION.replace("known ", "")},
        {"question": QUESTION + " (Choose one.)"},
        {"choices": ["Mars", "Venus", "Saturn", "Jupitre"], "answer": 2},
        {"choices": ["“Saturn”", "Jupiter!", "Mars", "Venus"]},
    ],
)
def test_a_near_duplicate_is_rejected(copy: dict[str, Any]) -> None:
    result = deduplicated({}, copy)
    assert result.rows.column("item_id").to_pylist() == ["doc#0"]
    assert result.rejected.column("rule").to_pylist() == ["near_duplicate"]
    assert 0.7 <= result.rejected.column("similarity")[0].as_py() <= 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"question": QUESTION.replace("largest", "smallest")}),
        ({}, {"question": QUESTION + " x", "answer": 1}),
        ({"question": "What is 17 + 25 in full?"}, {"question": "What is 17 + 26 in full?"}),
        ({"question": "What is 17 + 25 in full?"}, {"question": "What is 17 - 25 in full?"}),
        ({}, {"choices": ["Earth", "Mercury", "Uranus", "Neptune"]}),
        (
            {"question": "Which is a common name of the independent variable in a regression?"},
            {"question": "Which is a common name of the dependent variable in a regression?"},
        ),
    ],
)
def test_a_different_question_is_kept(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert left(first, second) == ["doc#0", "doc#1"]


@pytest.mark.parametrize("column", ["question", "passage"])
def test_questions_on_a_long_shared_passage_are_kept(column: str) -> None:
    asked = [
        "What did some members of the council want to open?",
        "How often did the council meet in that year?",
        "Who feared for the spring that was to come?",
    ]
    same = {"choices": ["The first", "The second", "The third", "None of them"]}
    items = [
        {"question": PASSAGE * 3 + line, **same}
        if column == "question"
        else {"question": line, "passage": PASSAGE * 3, **same}
        for line in asked
    ]
    assert left(*items) == ["doc#0", "doc#1", "doc#2"]
    copy = {**items[0], "question": items[0]["question"].replace("members", "membres")}
    assert left(*items, copy) == ["doc#0", "doc#1", "doc#2"]


def test_the_same_question_on_another_passage_is_kept() -> None:
    other = "The fishing fleet left the harbour before dawn, and nobody saw it come back. " * 4
    assert left({"passage": PASSAGE}, {"passage": other}) == ["doc#0", "doc#1"]
    assert left({"passage": PASSAGE}, {"passage": PASSAGE.replace("harvest", "havrest")}) == [
        "doc#0"
    ]


def test_the_duplicate_rules_can_be_switched_off() -> None:
    assert left({}, {}, off=("exact_duplicate", "near_duplicate")) == ["doc#0", "doc#1"]


def test_rows_without_a_known_answer_are_deduplicated_if_the_rule_on_answers_is_off() -> None:
    raw = as_raw(rows({}, {"answer": -1}, {"question": "Which planet has rings?", "answer": -1}))
    result = clean([raw], CleaningParams(off=("answer_within_choices",)))
    assert result.rows.column("item_id").to_pylist() == ["doc#2"]
    assert result.rows.column("answer").to_pylist() == [-1]
    assert result.rejected.column("detail").to_pylist() == [
        "answers differ between copies",
        "answers differ between copies",
    ]
