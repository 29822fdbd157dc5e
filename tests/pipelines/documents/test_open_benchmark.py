"""A few bundled documents → an open benchmark → ingestion, through the nodes."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import strategies as st
from kedro.io import DataCatalog, MemoryDataset
from kedro.runner import SequentialRunner

from benchwright.core.errors import InputError
from benchwright.datasets.atomic import TextFile
from benchwright.datasets.benchmark_source import BenchmarkSource
from benchwright.datasets.document_shards import DocumentShards
from benchwright.ingestion.source_rows import IngestedTables, map_source_rows
from benchwright.methods.mmlu_cf.cleaning.cleaned_items import clean_raw_items
from benchwright.methods.mmlu_cf.extraction.collected_items import extract_items
from benchwright.methods.mmlu_cf.fields import FIELDS
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.mmlu_cf import CleaningParams, CollectionParams, OpenBenchmarkParams
from benchwright.pipeline_registry import register_pipelines
from benchwright.pipelines.documents import create_pipeline
from benchwright.tables.mmlu_cf import (
    CleaningChanges,
    CleanItems,
    RawItems,
    RejectedRawItems,
)

NEEDED = {"doc-001", "doc-004", "doc-008", "doc-019", "doc-021", "doc-036", "doc-057", "doc-101"}
FILE = "03_primary/documents/open_benchmark.jsonl"


class Made(NamedTuple):
    """A data folder with the benchmark, and the tables of its construction."""

    data: Path
    fielded: pd.DataFrame
    saved: dict[str, pd.DataFrame]


def with_passages(repository: Path) -> set[str]:
    labels = (repository / "data/01_raw/documents/labels.jsonl").read_text().splitlines()
    return {row["doc_id"] for row in map(json.loads, labels) if row.get("passage")}


def run_slice(repository: Path, folder: Path, shuffled: bool = False) -> Made:
    """Run collection and cleaning, set fields by hand, then run this stage."""
    wanted = NEEDED | with_passages(repository)
    lines = (repository / "data/01_raw/documents/documents.jsonl").read_text().splitlines(True)
    lines = [line for line in lines if json.loads(line)["doc_id"] in wanted]
    shard = folder / "documents.jsonl"
    shard.write_text("".join(reversed(lines) if shuffled else lines))
    raw, _, _ = extract_items(DocumentShards(str(shard)).load(), CollectionParams())
    fielded, rejected, changes, _ = clean_raw_items(raw, CleaningParams())
    numbers = [int(doc_id.removeprefix("doc-")) for doc_id in fielded["doc_id"]]
    fielded["field"] = [FIELDS[number % 3] if number != 57 else None for number in numbers]
    fielded["field_confidence"] = [0.5 if number != 57 else np.nan for number in numbers]
    catalog = DataCatalog({"open_benchmark": TextFile(filepath=str(folder / FILE))})
    catalog["raw_items"] = MemoryDataset(raw)
    catalog["rejected_raw_items"] = MemoryDataset(rejected)
    catalog["cleaning_changes"] = MemoryDataset(changes)
    catalog["fielded_items"] = MemoryDataset(fielded)
    catalog["params:open_benchmark"] = MemoryDataset(OpenBenchmarkParams(demonstrations=2))
    catalog["params:seed"] = MemoryDataset(0)
    saved = SequentialRunner().run(create_pipeline(), catalog)
    return Made(
        folder,
        fielded,
        {name: dataset.load() for name, dataset in saved.items() if name != "open_benchmark"},
    )


@pytest.fixture(scope="module")
def made(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    return run_slice(repository, tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def conf(repository: Path) -> dict[str, Any]:
    path = repository / "conf/base/parameters/benchmarks/documents.yml"
    chosen: dict[str, Any] = yaml.safe_load(path.read_text())["_benchmarks"]["documents"]
    return chosen


def source(data: Path, conf: dict[str, Any]) -> BenchmarkSource:
    raw = str(data / "01_raw/documents")
    return BenchmarkSource(benchmark=conf, raw_folder=raw, data_root=str(data))


def ingested(data: Path, conf: dict[str, Any]) -> IngestedTables:
    params = BenchmarkParams.model_validate(conf)
    return map_source_rows(source(data, conf).load(), params, None, 0)


def test_ingestion_reads_the_same_questions_with_gold_field_and_origin(
    made: Made, conf: dict[str, Any]
) -> None:
    read = ingested(made.data, conf)
    assert read.rejected_items.empty
    both = pd.concat([read.items, read.demonstrations]).set_index("item_id")
    clean = made.fielded.set_index("item_id")
    assert set(both.index) == set(clean.index)
    assert len(both) == len(clean) > 40
    for item_id, item in clean.iterrows():
        got = both.loc[str(item_id)]
        passage = f"{item['passage']}\n\n" if isinstance(item["passage"], str) else ""
        assert got["question"] == passage + item["question"]
        assert list(got["choices"]) == list(item["choices"])
        assert got["answer"] == item["answer"]
        assert got["answer_text"] == item["choices"][item["answer"]]
        assert got["subject"] == ("Other" if item["doc_id"] == "doc-057" else item["field"])
        assert [got["source_id"], got["url"], got["domain"]] == [
            *(item["doc_id"], item["url"], item["domain"])
        ]
        explained = isinstance(item["explanation"], str)
        assert (
            got["explanation"] == item["explanation"] if explained else pd.isna(got["explanation"])
        )
    assert clean["passage"].notna().any()
    assert both["explanation"].notna().any()


def test_demonstrations_are_few_of_each_field_and_share_no_passage(
    made: Made, conf: dict[str, Any]
) -> None:
    shown = ingested(made.data, conf).demonstrations
    sizes = made.fielded["field"].fillna("Other").value_counts()
    counts = shown["subject"].value_counts()
    for field, size in sizes.items():
        assert counts.get(field, 0) <= min(2, size // 4)
    assert len(shown) >= 4
    assert shown["passage_id"].isna().all()


def test_a_rejected_question_has_its_rule_and_its_text_is_among_the_raw_ones(made: Made) -> None:
    rejected = RejectedRawItems.validate(made.saved["open_rejected_items"]).set_index("item_id")
    assert rejected.loc["doc-004#1", "rule"] == "short_question"
    assert rejected.loc["doc-057#6", "rule"] == "lower_case_start"
    assert rejected.loc["doc-036#4", "rule"] == "label_set"
    assert rejected.loc["doc-101#2", "rule"] == "exact_duplicate"
    assert rejected.loc["doc-101#2", "duplicate_of"] == "doc-019#1"
    raw = RawItems.validate(made.saved["open_raw_items"])
    assert raw.set_index("item_id").loc["doc-004#1", "question"] == "7 × 8?"
    clean = CleanItems.validate(made.saved["open_clean_items"])
    assert sorted([*rejected.index, *clean["item_id"]]) == sorted(raw["item_id"])


def test_each_rewritten_text_is_saved_before_and_after(made: Made) -> None:
    changes = CleaningChanges.validate(made.saved["open_cleaning_changes"])
    raw = made.saved["open_raw_items"].set_index("item_id")
    clean = made.fielded.set_index("item_id")
    answers = changes[changes["rule"].eq("answer_format") & changes["item_id"].isin(clean.index)]
    assert len(answers) > 5
    for change in answers.to_dict("records"):
        assert change["before"] == raw.loc[change["item_id"], "answer"]
        assert change["after"] == "ABCD"[clean.loc[change["item_id"], "answer"]]


def test_the_error_before_the_first_run_names_the_pipeline(
    tmp_path: Path, conf: dict[str, Any]
) -> None:
    with pytest.raises(Exception, match="kedro run --pipeline documents") as error:
        source(tmp_path, conf).load()
    cause = error.value.__cause__ or error.value
    assert isinstance(cause, InputError)
    assert str(tmp_path / FILE) in str(cause)
    assert "\n" not in str(cause)


def test_the_sealing_pipeline_has_none_of_the_open_outputs(
    repository: Path,
) -> None:
    text = (repository / "conf/base/catalog/mmlu_cf/open_benchmark.yml").read_text()
    catalog = {name for name in yaml.safe_load(text) if name[0] != "_"}
    pipelines = register_pipelines()
    assert catalog <= pipelines["documents"].all_outputs()
    assert catalog & pipelines["mmlu_cf"].datasets() == set()


FIELD = st.sampled_from([None, "Law", "Math", "Other"])
