"""Extraction and cleaning give the same bytes in this process, in two others and on Ray."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from benchwright.datasets.document_shards import DocumentShards
from benchwright.methods.mmlu_cf.cleaning.cleaned_items import clean_raw_items
from benchwright.methods.mmlu_cf.extraction.collected_items import extract_items
from benchwright.params.mmlu_cf import CleaningParams, CollectionParams
from benchwright.scoring import batch_engine

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.*")

PROSE = "A long walk by the river. The water was cold, and nobody asked why.\n" * 20


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> DocumentShards:
    """The bundled documents twice in four shards, with prose and a broken line in each."""
    folder = tmp_path_factory.mktemp("shards")
    source = repository / "data" / "01_raw" / "documents" / "documents.jsonl"
    documents = [json.loads(line) for line in source.open(encoding="utf-8")]
    copies = [{**document, "doc_id": f"{document['doc_id']}-copy"} for document in documents[:30]]
    rows = [*documents, *copies]
    for place in range(4):
        some = [*rows[place::4], {"doc_id": f"prose-{place}", "text": PROSE}]
        lines = [json.dumps(document) for document in some]
        (folder / f"{place}.jsonl").write_text("\n".join([*lines, "no JSON"]) + "\n")
    return DocumentShards(path=str(folder))


def made(shards: DocumentShards, monkeypatch: pytest.MonkeyPatch, **engine: Any) -> list[Any]:
    monkeypatch.setattr("benchwright.methods.mmlu_cf.cleaning.cleaned_items._AT_ONCE", 100)
    raw, domains, read = extract_items(shards.load(), CollectionParams(**engine))
    cleaned = clean_raw_items(raw, CleaningParams(n_choices=(3, 4, 5), **engine))
    return [raw, domains, read, *cleaned]


def written(values: list[Any]) -> list[bytes]:
    """Return the serialised outputs of each run."""
    contents = []
    for value in values:
        table = pa.Table.from_pandas(value) if isinstance(value, pd.DataFrame) else value
        if isinstance(table, pa.Table):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table.combine_chunks())
            contents.append(sink.getvalue().to_pybytes())
        else:
            contents.append(json.dumps(table).encode())
    return contents


@pytest.mark.parametrize("engine", ["local", pytest.param("ray", marks=pytest.mark.long)])
def test_results_do_not_depend_on_the_engine(
    shards: DocumentShards, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    if engine == "ray":
        pytest.importorskip("ray.data")
        monkeypatch.setenv("PYTHONPATH", str(Path(batch_engine.__file__).parents[2]))
    alone = made(shards, monkeypatch)
    raw, _, read, clean_items, rejected, *_ = alone
    assert raw.num_rows > 500
    assert len(clean_items) + rejected.num_rows == raw.num_rows
    assert rejected.num_rows - rejected["duplicate_of"].null_count > 50
    assert read["skipped"].tolist() == [1, 1, 1, 1]
    assert read["unreadable"].tolist() == [1, 1, 1, 1]
    assert written(
        made(shards, monkeypatch, engine=engine, workers=2, ray={"allow_spill": True})
    ) == written(alone)
