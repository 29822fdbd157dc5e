"""Documents → raw items, and the measures, through the nodes."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from kedro.io import DataCatalog, DatasetError, MemoryDataset
from kedro.runner import SequentialRunner

from benchwright.core.errors import InputError
from benchwright.datasets.document_shards import DocumentShards
from benchwright.datasets.optional_table import DocumentLabels
from benchwright.methods.mmlu_cf.extraction.extract import RAW_ITEMS
from benchwright.params.mmlu_cf import CollectionParams
from benchwright.pipelines import collection as nodes
from benchwright.pipelines.collection import create_pipeline

PAGE = """1. Which gas do plants take in?
A. Oxygen
B. Carbon dioxide
C. Helium
D. Neon
Answer: B

2. Which planet is the largest of all?
A. Mars
B. Venus
C. Jupiter
D. Earth
Answer: C
"""
CHOICES = [["Oxygen", "Carbon dioxide", "Helium", "Neon"], ["Mars", "Venus", "Jupiter", "Earth"]]


def label(doc_id: str, number: int, answer: int) -> dict[str, Any]:
    question = ("Which gas do plants take in?", "Which planet is the largest of all?")[number]
    return {
        "doc_id": doc_id,
        "style": f"style{number}",
        "question": question,
        "choices": CHOICES[number],
        "answer": answer,
        "expected": "extract",
    }


def write_shards(folder: Path, documents: list[tuple[str, str]]) -> DocumentShards:
    """Return one shard per document, the second one compressed."""
    for place, (doc_id, url) in enumerate(documents):
        line = json.dumps({"doc_id": doc_id, "url": url, "text": PAGE}).encode() + b"\n"
        name = f"documents-{place}.jsonl"
        if place == 1:
            (folder / f"{name}.gz").write_bytes(gzip.compress(line))
        else:
            (folder / name).write_bytes(line + b"not JSON\n")
    return DocumentShards(path=f"{folder}/documents*")


def collected(shards: DocumentShards, labels: list[dict[str, Any]]) -> Any:
    catalog = DataCatalog(
        {
            "documents": shards,
            "extraction_labels": MemoryDataset(labels),
            "params:collection": MemoryDataset(CollectionParams()),
            "raw": MemoryDataset(),
        }
    )
    stage = create_pipeline()
    outputs = SequentialRunner().run(stage, catalog)
    raw, _, _ = nodes.extract_items(shards.load(), CollectionParams())
    return raw, {name: dataset.load() for name, dataset in outputs.items()}


def test_questions_domains_and_faults_come_from_all_shards(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shards = write_shards(
        tmp_path, [("a", "https://one.example/p"), ("b", "https://two.example/p")]
    )
    (tmp_path / "labels.jsonl").write_text("{}\n")
    raw, out = collected(shards, [])
    assert raw.schema == RAW_ITEMS
    assert raw.column("item_id").to_pylist() == ["a#1", "a#2", "b#1", "b#2"]
    assert out["document_domains"] == {"one.example": 1, "two.example": 1}
    assert out["documents_read"]["documents"].tolist() == [1, 1]
    assert out["documents_read"]["unreadable"].tolist() == [1, 0]
    assert "documents-0.jsonl: records that cannot be read: 1, the first at 2: " in caplog.text


def test_documents_above_the_configured_size_are_unreadable(tmp_path: Path) -> None:
    write_shards(tmp_path, [("a", "")])
    shards = DocumentShards(path=f"{tmp_path}/documents*", largest=20)
    raw, out = collected(shards, [])
    assert raw.num_rows == 0
    assert out["documents_read"]["unreadable"].tolist() == [2]


def test_measures_distinguish_wrong_and_missing_labels_and_unlabelled_documents(
    tmp_path: Path,
) -> None:
    shards = write_shards(tmp_path, [("a", ""), ("b", "")])
    # Of a: the first is right, the second has another answer. Nothing of b is labelled.
    _, out = collected(shards, [label("a", 0, 1), label("a", 1, 0)])
    table = out["extraction_measures"]
    of = table.set_index(["measure", "style"])[["hits", "of", "share"]]
    assert of.loc[("found", "")].tolist() == [2, 2, 1.0]
    assert of.loc[("recall", "")].tolist() == [1, 2, 0.5]
    assert of.loc[("precision", "")].tolist() == [1, 2, 0.5]
    assert of.loc[("precision_all_documents", "")].tolist() == [1, 4, 0.25]
    assert of.loc[("recall", "style1")].tolist() == [0, 1, 0.0]
    assert "planet" not in table.to_json()


def test_documents_with_the_same_id_are_refused(tmp_path: Path) -> None:
    shards = write_shards(tmp_path, [("a", ""), ("a", "")])
    with pytest.raises(InputError, match="doc_id 'a' is not unique"):
        nodes.extract_items(shards.load(), CollectionParams())


def test_labels_are_optional_and_invalid_labels_are_named(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    dataset = DocumentLabels(filepath=str(path))
    assert dataset.load() == []
    path.write_text(json.dumps(label("a", 0, 1), ensure_ascii=False) + "\n\n")
    assert dataset.load() == [label("a", 0, 1)]
    path.write_text('{"doc_id": "a"}\n')
    with pytest.raises(DatasetError, match=r"labels\.jsonl: label 1: no field 'style'"):
        dataset.load()
    path.write_text("{\n")
    with pytest.raises(DatasetError, match=r"labels\.jsonl: line 1: not valid JSON"):
        dataset.load()
