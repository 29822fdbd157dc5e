"""Reading a benchmark's rows: verbatim, from the right place, with errors that say what to do."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from kedro.io import DatasetError

from benchwright.core.errors import InputError
from benchwright.datasets.benchmark_source import BenchmarkSource
from benchwright.ingestion.source_rows import IngestedTables, map_source_rows
from benchwright.params.benchmark import BenchmarkParams

FIELDS = {
    "question": "question",
    "choices": {"column": "choices"},
    "gold": {"column": "answer", "form": "index"},
}


def benchmark(**changes: Any) -> dict[str, Any]:
    return {
        "name": "toy",
        "title": "Toy",
        "licence": "MIT",
        "citation": "none",
        "url": "",
        "splits": {"evaluation": ["test"], "demonstrations": ["dev"]},
        **changes,
    }


def local(file: str, fields: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    where = more or {"split_column": "split"}
    return {"local": {"file": file, "fields": fields or FIELDS, **where}}


def load(folder: Path, sources: dict[str, Any], mirror: str = "", **changes: Any) -> pd.DataFrame:
    source = BenchmarkSource(
        benchmark=benchmark(sources=sources, **changes),
        raw_folder=str(folder / "raw"),
        mirror_root=mirror,
    )
    return source.load()


def ingest(
    folder: Path, sources: dict[str, Any], mirror: str = "", **changes: Any
) -> IngestedTables:
    frame = load(folder, sources, mirror, **changes)
    params = BenchmarkParams.model_validate(benchmark(sources=sources, **changes))
    return map_source_rows(frame, params, None, 0)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """The folder of local files."""
    folder = tmp_path / "raw"
    folder.mkdir()
    return folder


def csv_sources(file: str) -> dict[str, Any]:
    return local(file, {**FIELDS, "choices": {"columns": ["A", "B"]}})


def test_only_splits_in_use_are_read_with_their_positions(tmp_path: Path, raw: Path) -> None:
    splits = ["train", "val", "test", "typo", "aux", None, "dev"]
    rows = [{"split": s, "question": "q", "choices": ["a", "b"], "answer": 0} for s in splits]
    (raw / "items.jsonl").write_text("\n".join(map(json.dumps, rows)))
    where = {"split_column": "split", "splits": {"val": "test", "aux": None}}
    frame = load(tmp_path, local("items.jsonl", **where))
    assert frame.index.tolist() == [1, 2, 3, 5, 6]
    assert frame._split.tolist() == ["test", "test", "typo", None, "dev"]
    result = ingest(tmp_path, local("items.jsonl", **where))
    assert result.items.item_id.tolist() == ["toy/0", "toy/1"]
    assert result.rejected_items.rule.tolist() == ["unknown_split", "unknown_split"]
    assert result.rejected_items.row.tolist() == [4, 6]  # from 1


def test_one_file_per_split_and_subjects_in_split_names(tmp_path: Path, raw: Path) -> None:
    for name in ("test", "dev"):
        (raw / f"{name}.csv").write_text(f"question,A,B,answer\n{name}?,x,y,0\n")
    fields = {**FIELDS, "choices": {"columns": ["A", "B"]}}
    files = {"files": {"test": "test.csv", "dev": "dev.csv", "train": "absent.csv"}}
    result = ingest(tmp_path, {"local": {"fields": fields, **files}})
    assert result.items.question.tolist() == ["test?"]
    assert result.demonstrations.question.tolist() == ["dev?"]

    (raw / "all.csv").write_text("s,question,A,B,answer\nLaw_val,q,x,y,0\nLaw_dev,q,x,y,1\n")
    splits = {"{subject}_val": "test", "{subject}_dev": "dev"}
    named = local("all.csv", {**fields, "subject": "_subject"}, split_column="s", splits=splits)
    result = ingest(tmp_path, named)
    assert result.items.subject.tolist() == ["Law"]
    assert result.demonstrations.item_id.tolist() == ["toy_dev/Law/0"]


def write_row(path: Path, question: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    row = {"split": "test", "question": question, "choices": ["a", "b"], "answer": 0}
    path.write_text(json.dumps(row))


def test_sources_are_tried_in_the_order_mirror_local_hub(
    tmp_path: Path, raw: Path, hub_cache: None
) -> None:
    write_row(tmp_path / "mirror" / "benchmarks" / "toy.jsonl", "mirrored")
    write_row(raw / "toy.jsonl", "local")
    copy = tmp_path / "copies" / "nobody" / "nothing" / "data"
    copy.mkdir(parents=True)
    pq.write_table(
        pa.table({"question": ["hub"], "choices": [["a", "b"]], "answer": [0]}),
        copy / "test-00000-of-00001.parquet",
    )
    source = local("toy.jsonl")["local"]
    every = {"mirror": source, "local": source, "hub": {"id": "nobody/nothing", "fields": FIELDS}}
    mirror = str(tmp_path / "mirror")
    assert load(tmp_path, every, mirror).question.tolist() == ["mirrored"]
    frame = load(tmp_path, every)
    assert frame.question.tolist() == ["local"]
    assert frame.attrs["source"] == {
        "kind": "local",
        "origin": str(raw / "toy.jsonl"),
        "rows": 1,
        "rows_by_split": {"test": 1},
    }
    (raw / "toy.jsonl").unlink()
    del every["mirror"]
    assert load(tmp_path, every, str(tmp_path / "copies")).question.tolist() == ["hub"]
    with pytest.raises(DatasetError, match="mirror_root"):
        load(tmp_path, {"mirror": source})


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what `datasets` caches inside the test."""
    import datasets

    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    datasets.disable_progress_bars()


# --- what goes wrong ---------------------------------------------------------------------------


def mistake(folder: Path, sources: dict[str, Any], mirror: str = "", **changes: Any) -> str:
    """The one line that a user is told."""
    with pytest.raises(DatasetError) as caught:
        load(folder, sources, mirror, **changes)
    assert isinstance(caught.value.__cause__, InputError)
    return str(caught.value.__cause__)


def test_what_is_missing_is_reported_with_what_is_there(tmp_path: Path, raw: Path) -> None:
    (raw / "itmes.jsonl").touch()
    message = mistake(tmp_path, local("items.jsonl"))
    assert message == f"{raw / 'items.jsonl'} is missing; {raw} has itmes.jsonl"
    (raw / "items.csv").write_text("split,Question,A,B,answer\ntest,q,x,y,0\n")
    for sources, name in (
        (csv_sources("items.csv"), "question"),
        (local("items.csv", split_column="part"), "part"),
    ):
        end = f"no column '{name}'; it has split, Question, A, B, answer"
        assert mistake(tmp_path, sources).endswith(end)
    (raw / "items.csv").write_text("split,question,A,B,answer\ntesting,q,x,y,0\ndev,q,x,y,0\n")
    message = mistake(tmp_path, csv_sources("items.csv"))
    assert "no row of split test" in message
    assert message.endswith("the source has dev, testing")
    (raw / "items.csv").write_text("split,question,A,B,answer\n")
    assert mistake(tmp_path, csv_sources("items.csv")).endswith("items.csv: the file has no rows")


def test_invalid_benchmark_settings_are_reported_by_key(tmp_path: Path) -> None:
    message = mistake(tmp_path, local("x.csv"), licence=None, colour="red")
    assert "licence" in message
    assert "colour" in message


def test_sources_are_read_only(tmp_path: Path) -> None:
    source = BenchmarkSource(benchmark=benchmark(sources=local("x.csv")), raw_folder=str(tmp_path))
    with pytest.raises(DatasetError, match="read-only"):
        source.save(pd.DataFrame())
    assert not source.exists()
    (tmp_path / "x.csv").touch()
    assert source.exists()
