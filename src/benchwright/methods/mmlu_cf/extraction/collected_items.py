"""Extract raw items from shards of documents, and measure extraction on labels."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from benchwright.core.errors import InputError
from benchwright.core.progress import progress_bar
from benchwright.datasets.document_shards import DocumentBatches, ShardReport
from benchwright.methods.mmlu_cf.extraction.extract import RAW_ITEMS, shard_parts
from benchwright.methods.mmlu_cf.extraction.measure import Share, answered_choice, measure
from benchwright.params.mmlu_cf import CollectionParams
from benchwright.scoring.batch_engine import BatchEngine

logger = logging.getLogger(__name__)


_AT_ONCE = 10_000


def extract_items(
    documents: DocumentBatches, collection: CollectionParams
) -> tuple[pa.Table, dict[str, int], pd.DataFrame]:
    """Read the shards batch by batch and extract their multiple-choice questions.

    Returns:
        Raw items (`RawItems` as an Arrow table), the number of documents of each domain ("" if
        unknown), and the documents read, skipped and unreadable in each shard.
        They do not depend on the engine.

    Raises:
        InputError: two documents with questions have one doc_id, or the engine is not available.
    """
    work = partial(shard_parts, fields=documents.fields, largest=documents.largest)
    items = [RAW_ITEMS.empty_table()]
    domains: Counter[str] = Counter()
    reports: dict[str, ShardReport] = {}
    n_items = 0
    with (
        BatchEngine(collection, "collection") as engine,
        progress_bar("extract", "document") as progress,
    ):
        for part in engine.over(work, documents.files):
            items.append(part.items)
            domains.update(part.domains)
            reports |= part.reports
            n_items += part.items.num_rows
            progress.set_postfix({"items": n_items}, refresh=False)
            progress.update(part.documents)
    raw = pa.concat_tables(items)
    counts = pc.value_counts(raw.column("item_id"))
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    if len(repeated):
        doc_id = min(repeated.to_pylist()).rsplit("#", 1)[0]
        raise InputError(
            f"documents: doc_id {doc_id!r} is not unique; give each document a unique id"
        )
    for file, report in sorted(reports.items()):
        if report.unreadable:
            said = "%s: records that cannot be read: %d, the first at %s"
            logger.warning(said, file, report.unreadable, report.first_fault)
    read = [{"file": file, **asdict(reports[file])} for file in sorted(reports)]
    return raw, dict(domains), pd.DataFrame(read)


def measure_extraction(
    raw_items: pa.Table, extraction_labels: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Compare the raw items with the labels, by measure and style.

    Measures cover the documents with labels. Only `precision_all_documents` also counts the usable
    items of other documents, as errors: it is the precision if all questions are labelled.

    Returns:
        A table: measure, style ("" for all), hits, of, share with its 95%
        Wilson interval; empty without labels of these documents. It holds no text.
    """
    labelled = pa.array(
        sorted({str(label["doc_id"]) for label in extraction_labels}), pa.large_string()
    )
    there = pc.is_in(raw_items.column("doc_id"), value_set=labelled)
    rows: list[tuple[str, str, int, int, float, float, float]] = []
    if pc.any(there).as_py():
        recalls, shares = measure(raw_items.filter(there), extraction_labels)
        others = raw_items.filter(pc.invert(there)).select(["choices", "labels", "answer"])
        wrong = sum(
            answered_choice(row) >= 0
            for batch in others.to_batches(_AT_ONCE)
            for row in batch.to_pylist()
        )
        hits, of, *_ = shares["precision"]
        shares["precision_all_documents"] = Share.counted(hits, of + wrong)
        rows = [(name, "", *share) for name, share in shares.items()]
        rows += [("recall", style, *share) for style, share in recalls.items()]
    kinds = {"measure": "str", "style": "str", "hits": "int64", "of": "int64"}
    kinds |= dict.fromkeys(("share", "low", "high"), "float64")
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)
