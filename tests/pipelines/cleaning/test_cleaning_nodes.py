"""Raw items → clean items and counts, through the nodes."""

from typing import Any

import pyarrow as pa
from kedro.io import DataCatalog, MemoryDataset
from kedro.runner import SequentialRunner

from benchwright.methods.mmlu_cf.extraction.extract import RAW_ITEMS
from benchwright.params.mmlu_cf import CleaningParams
from benchwright.pipelines.cleaning import create_pipeline
from benchwright.tables.mmlu_cf import CleaningFunnel, CleanItems

KEPT = ["clean_items", "rejected_raw_items", "cleaning_changes", "cleaning_funnel"]


class Kept(MemoryDataset):
    """Data in memory that is kept after the run."""

    def _release(self) -> None:
        pass


def raw_items(*changes: dict[str, Any]) -> pa.Table:
    """Return a sound row for each mapping, updated with its values."""
    rows = [
        {
            "item_id": f"d{place}#1",
            "doc_id": f"d{place}",
            "number": 1,
            "url": None,
            "domain": "one.example",
            "question": f"Which of the words is number {place}?",
            "choices": [f"{word}{place}" for word in ("red", "green", "blue", "grey")],
            "labels": ["A", "B", "C", "D"],
            "answer": "B",
            "explanation": None,
            "passage": None,
            **change,
        }
        for place, change in enumerate(changes)
    ]
    return pa.Table.from_pylist(rows, schema=RAW_ITEMS)


def run(raw: pa.Table, domains: dict[str, int], **params: Any) -> dict[str, Any]:
    inputs = {
        "raw_items": raw,
        "document_domains": domains,
        "params:cleaning": CleaningParams(**params),
    }
    catalog = DataCatalog({name: MemoryDataset(data) for name, data in inputs.items()})
    for name in KEPT:
        catalog[name] = Kept()
    outputs = SequentialRunner().run(create_pipeline(), catalog)
    return {name: catalog.load(name) for name in {*outputs, *KEPT}}


ROWS = (
    {},
    {"question": "Why?"},
    {"choices": ["one", "two", "three"], "labels": ["A", "B", "C"], "domain": "two.example"},
    {"answer": "(c)", "domain": None},
    {
        "question": "Which of the words is number 0?",
        "choices": ["red0", "green0", "blue0", "grey0"],
    },
)


def test_every_row_is_clean_or_rejected_and_every_reason_is_counted() -> None:
    out = run(raw_items(*ROWS), {"one.example": 4, "two.example": 1, "": 1, "empty.example": 3})
    clean, rejected = out["clean_items"], out["rejected_raw_items"]
    assert clean["item_id"].tolist() == ["d0#1", "d3#1"]
    assert clean["answer"].tolist() == [1, 2]
    assert clean["choices"].tolist()[0] == ["red0", "green0", "blue0", "grey0"]
    assert list(clean.columns) == CleanItems.columns()
    assert sorted(rejected.column("item_id").to_pylist()) == ["d1#1", "d2#1", "d4#1"]
    reasons = out["cleaning_reasons"]
    assert reasons.to_dict("split")["data"] == [
        ["exact_duplicate", "reject", "copy of another question", 1],
        ["n_choices", "reject", "3 choices", 1],
        ["short_question", "reject", "fewer than 10 characters", 1],
        ["answer_format", "rewrite", "answer", 1],
    ]
    funnel = CleaningFunnel.validate(out["cleaning_funnel"])
    assert funnel["rows_in"].iloc[0] == 5
    assert funnel["rows_out"].iloc[-1] == len(clean) == 5 - funnel["rejected"].sum()
    assert reasons.loc[reasons["kind"] == "reject", "rows"].sum() == rejected.num_rows


def test_domains_are_counted_after_each_step_also_those_without_items() -> None:
    out = run(raw_items(*ROWS), {"one.example": 4, "two.example": 1, "": 1, "empty.example": 3})
    assert out["domain_counts"].to_dict("split")["data"] == [
        ["one.example", 4, 3, 1],
        ["", 1, 1, 1],
        ["two.example", 1, 1, 0],
        ["empty.example", 3, 0, 0],
    ]


def test_saved_tables_have_no_text_and_no_id() -> None:
    out = run(raw_items(*ROWS), {"one.example": 6})
    for name in ("cleaning_funnel", "cleaning_reasons", "domain_counts"):
        content = out[name].to_json()
        for secret in ("green0", "number 0", "d0", "three", "Why?"):
            assert secret not in content, name
