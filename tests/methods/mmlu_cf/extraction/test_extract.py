"""Documents and pages whose questions are known."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from benchwright.datasets.document_shards import COLUMNS
from benchwright.methods.mmlu_cf.cleaning.rules import clean_batch
from benchwright.methods.mmlu_cf.extraction.extract import (
    RAW_ITEMS,
    extract,
    questions_in,
)
from benchwright.methods.mmlu_cf.extraction.measure import answered_choice, measure
from benchwright.params.mmlu_cf import CleaningParams
from methods.mmlu_cf.extraction.handmade_pages import PAGES, Page

FOLDER = Path(__file__).resolve().parents[4] / "data" / "01_raw" / "documents"


def records(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def documents() -> pa.Table:
    frame = pd.DataFrame(records("documents.jsonl")).assign(domain="example.org")
    return pa.Table.from_pandas(frame[list(COLUMNS)], preserve_index=False)


@pytest.fixture(scope="module")
def raw(documents: pa.Table) -> pa.Table:
    return extract(documents)


def test_the_bundled_documents_are_read_as_labelled(raw: pa.Table) -> None:
    _, measures = measure(raw, records("labels.jsonl"))
    assert measures["recall"].share >= 0.99
    assert measures["precision"].share >= 0.99
    assert measures["without_answer"].share == measures["broken"].share == 1
    assert measures["explanations"].share >= 0.98
    assert measures["passages"].share == 1


def test_results_do_not_depend_on_batches(documents: pa.Table, raw: pa.Table) -> None:
    parts = [extract(batch) for batch in documents.to_batches(max_chunksize=7)]
    assert pa.concat_tables(parts).equals(raw)
    backwards = extract(documents.take(list(reversed(range(len(documents)))))).sort_by("item_id")
    assert backwards.equals(raw.sort_by("item_id"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name.replace(" ", "-"))
def test_the_questions_of_a_page_are_extracted(page: Page) -> None:
    seen = [
        (" ".join(one.question.split()), one.choices, None if place < 0 else place)
        for one in questions_in(page.text, page.content_type)
        for place in [answered_choice(vars(one))]
    ]
    assert seen == page.questions


def test_questions_labelled_broken_are_rejected_by_cleaning(raw: pa.Table) -> None:
    clean = clean_batch(raw, CleaningParams(n_choices=(2, 3, 4, 5, 6))).rows.to_pylist()
    broken = {
        (label["doc_id"], label["question"])
        for label in records("labels.jsonl")
        if label["expected"] == "broken"
    }
    assert not broken & {(row["doc_id"], row["question"]) for row in clean}
    right = {
        (label["doc_id"], label["question"]): label["choices"][label["answer"]]
        for label in records("labels.jsonl")
        if label["expected"] == "extract"
    }
    kept = [row for row in clean if (row["doc_id"], row["question"]) in right]
    assert len(kept) > 300
    assert all(
        row["choices"][row["answer"]] == right[row["doc_id"], row["question"]] for row in kept
    )


def labelled(**more: Any) -> dict[str, Any]:
    return {
        "doc_id": "d", "style": "s", "question": "Which number is a prime?", "choices": ["4", "7"],
        "answer": 1, "expected": "extract", "explanation": None, "passage": None,
    } | more  # fmt: skip


def item(**more: Any) -> pa.Table:
    row: dict[str, Any] = dict.fromkeys(RAW_ITEMS.names)
    row |= {"doc_id": "d", "question": "Which number is a prime?", "choices": ["4", "7"]}
    return pa.Table.from_pylist([row | {"labels": ["A", "B"], "answer": "B"} | more], RAW_ITEMS)


@pytest.mark.parametrize(
    ("row", "label", "recall", "precision"),
    [
        ({}, {}, 1, 1),
        ({"answer": "A"}, {}, 0, 0),
        ({"answer": None}, {}, 0, None),
        ({"choices": ["4", "9"]}, {}, 0, 0),
        ({}, {"expected": "broken"}, None, 0),
        ({"choices": ["7", "4"], "answer": "A"}, {}, 1, 1),
    ],
)
def test_measured_shares_match_hand_counts(
    row: dict[str, Any], label: dict[str, Any], recall: float | None, precision: float | None
) -> None:
    _, measures = measure(item(**row), [labelled(**label)])
    share, usable = measures["recall"], measures["precision"]
    assert (share.share == recall) if recall is not None else share.of == 0
    assert (usable.share == precision) if precision is not None else usable.of == 0


@pytest.mark.parametrize(
    ("labels", "answer", "place"),
    [
        (["A", "B", "D"], "D", -1),
        (["A", "B", "B"], "A", -1),
        (["A", "C", "B"], "b", 2),
        (["", "", ""], "two", 1),
        (["i", "ii", "iii"], "iii", 2),
        (["A", "B", "C"], None, -1),
    ],
)
def test_an_answer_names_a_choice_or_none(
    labels: list[str], answer: str | None, place: int
) -> None:
    row = {"choices": ["one", "two", "three"], "labels": labels, "answer": answer}
    assert answered_choice(row) == place
