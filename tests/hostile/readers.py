"""All readers of files from untrusted sources, by file name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from answers.imported_rows import import_as_rows
from benchwright.answers.import_responses import Imported
from benchwright.answers.read_answers import read_answers, read_items
from benchwright.cli.evaluate_sealed import read_public
from benchwright.core.errors import InputError
from benchwright.datasets.benchmark_source import BenchmarkSource
from benchwright.datasets.classifier_folder import ClassifierFolder
from benchwright.datasets.document_shards import DocumentShards
from benchwright.datasets.half_scores import HalfScores
from benchwright.datasets.optional_table import (
    DocumentLabels,
    OptionalCsvTable,
    OptionalReviewCsv,
    RatingsFile,
)
from benchwright.datasets.response_files import ResponseFiles
from benchwright.datasets.response_matrix import ResponseMatrixDataset
from benchwright.datasets.saved_tables import LastSavedTable, SavedAssignments
from benchwright.evidence.ratings import read_ratings
from benchwright.exports.subset_manifest import read_subset
from benchwright.ingestion.source_rows import IngestedTables, map_source_rows
from benchwright.language_models.weights import starts_with_bos
from benchwright.methods.mmlu_cf.sealing.key import SealKey
from benchwright.methods.mmlu_cf.sealing.seal import open_sealed, sealed_identity
from benchwright.methods.wicked.single_best_answer.labels import label_numbers
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.evaluation import RatingsParams
from hostile.accepted import benchmark_params, items

Read = Callable[[Path], Any]
FIELDS = {
    "item_id": "id",
    "question": "question",
    "choices": {"columns": ["A", "B"]},
    "gold": {"column": "gold", "form": "index"},
}


def source(path: Path, fields: dict[str, Any] | None = None) -> IngestedTables:
    """A benchmark's rows, made items."""
    local = {"file": path.name, "fields": fields or FIELDS, "all_rows": "test"}
    conf = benchmark_params({"local": local})
    frame = BenchmarkSource(benchmark=conf, raw_folder=str(path.parent)).load()
    made = map_source_rows(frame, BenchmarkParams.model_validate(conf), None, 0)
    assert sum(map(len, made[:4])) == len(frame), "a row is neither an item nor rejected"
    return made


def answers(path: Path, **spec: Any) -> Imported:
    """Recorded answers, joined to three items."""
    conf = {"responses": [{"file": path.name, **spec}]}
    loaded = ResponseFiles(benchmark=conf, folder=str(path.parent)).load()
    return import_as_rows({path.name: loaded[path.name]}, items(), items().head(0))


def documents(path: Path) -> list[dict[str, Any]]:
    """Documents; a shard that cannot be read is a fault of the report."""
    batches = DocumentShards(str(path)).load()
    rows = [row for batch in batches for row in batch.to_pylist()]
    faults = [f"{name}: {report.first_fault}" for name, report in batches.reports.items()]
    if not rows and any(report.unreadable for report in batches.reports.values()):
        raise InputError("; ".join(faults))
    return rows


def ratings(path: Path) -> dict[str, float]:
    """The user's ratings."""
    frame = RatingsFile(filepath=str(path), settings={}).load()
    return dict(read_ratings(frame, RatingsParams()).by_model)


def labels(path: Path) -> pd.DataFrame:
    """Labels of single-best-answer items."""
    frame = OptionalCsvTable(filepath=str(path), columns=["item_id", "sba"]).load()
    return frame.assign(sba=label_numbers(frame))


def sheet(path: Path) -> pd.DataFrame:
    """A review sheet."""
    return OptionalReviewCsv(filepath=str(path), columns=["item_id", "rule", "verdict"]).load()


def beside(name: str) -> Read:
    """The file as the newest version in a folder of saved ones."""

    def read(path: Path) -> Any:
        folder = path.parent / name
        (folder / "2026").mkdir(parents=True, exist_ok=True)
        (folder / "2026" / name).write_bytes(path.read_bytes())
        if name == "public_split_assignment.parquet":
            return SavedAssignments(folder=str(folder.parent)).load()
        return LastSavedTable(folder=str(folder), columns=["model"]).load()

    return read


def results(path: Path) -> Any:
    """Results of halves."""
    return HalfScores(folder=str(path.parent)).load()


def identity(path: Path) -> Any:
    """The manifest beside a sealed half."""
    (path.parent / "test.sealed").write_bytes(b"x")
    return sealed_identity(path.parent / "test.sealed", "test")


READERS: dict[str, tuple[str, Read]] = {
    "rows as CSV": ("rows.csv", source),
    "rows as CSV, packed": ("rows.csv.gz", source),
    "rows as TSV": ("rows.tsv", source),
    "rows as JSON lines": ("rows.jsonl", source),
    "rows as JSON lines, packed": ("rows.jsonl.gz", source),
    "rows as Parquet": ("rows.parquet", source),
    "answers as CSV": ("answers.csv", answers),
    "answers as CSV, packed": ("answers.csv.gz", answers),
    "answers as JSON lines": ("answers.jsonl", answers),
    "answers as Parquet": ("answers.parquet", answers),
    "answers of a log": (
        "samples_t_2026-11-20T22-25-57.1.jsonl",
        lambda path: answers(path, layout="log", model="m"),
    ),
    "answers of a command, CSV": ("answers.csv", lambda path: read_answers([path])),
    "answers of a command, packed": ("answers.csv.gz", lambda path: read_answers([path])),
    "answers of a command, JSON lines": ("answers.jsonl", lambda path: read_answers([path])),
    "answers of a command, Parquet": ("answers.parquet", lambda path: read_answers([path])),
    "items of a command, CSV": ("items.csv", read_items),
    "items of a command, Parquet": ("items.parquet", read_items),
    "a response matrix": (
        "matrix.parquet",
        lambda path: ResponseMatrixDataset(filepath=str(path)).load(),
    ),
    "documents as JSON lines": ("documents.jsonl", documents),
    "documents as JSON lines, gzip": ("documents.jsonl.gz", documents),
    "documents as JSON lines, bzip2": ("documents.jsonl.bz2", documents),
    "documents as JSON lines, zstd": ("documents.jsonl.zst", documents),
    "documents as Parquet": ("documents.parquet", documents),
    "documents as WARC": ("documents.warc", documents),
    "documents as WARC, packed": ("documents.warc.gz", documents),
    "labels of documents": (
        "labels.jsonl",
        lambda path: DocumentLabels(filepath=str(path)).load(),
    ),
    "ratings": ("ratings.csv", ratings),
    "single-best-answer labels": ("labels.csv", labels),
    "a review sheet": ("review_sheet.csv", sheet),
    "a subset's manifest": ("manifest.json", read_subset),
    "results of halves": ("results.json", results),
    "the public half": ("validation.jsonl", read_public),
    "the closed half": ("test.sealed", lambda path: open_sealed(path, SealKey("k" * 20))),
    "a sealed benchmark's manifest": ("manifest.json", identity),
    "a classifier": (
        "classifier.json",
        lambda path: ClassifierFolder(folder=str(path.parent)).load(),
    ),
    "a saved table": ("saved.parquet", beside("saved_table")),
    "saved assignments": (
        "public_split_assignment.copy",
        beside("public_split_assignment.parquet"),
    ),
    "weights as GGUF": ("weights.gguf", starts_with_bos),
}
"""Name of the reader → name of its file and the reading."""
