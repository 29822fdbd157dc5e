"""Documents → raw items, and how well that works where labels are.

Texts of items are never written: half of them will be closed. `raw_items` stays in memory as an
Arrow table; what is saved are counts.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from benchwright.compute.batch_engine import BatchEngine
from benchwright.core.errors import InputError
from benchwright.datasets.document_shards import DocumentBatches, ReadingReport, joined_reports
from benchwright.methods.mmlu_cf.extraction.extract import RAW_ITEMS, shard_parts
from benchwright.methods.mmlu_cf.extraction.measure import Share, answered_choice, measure
from benchwright.params.mmlu_cf import CollectionParams

_COLUMNS = ["measure", "style", "hits", "of", "share", "low", "high"]
_AT_ONCE = 10_000


def extract_items(
    documents: DocumentBatches, collection: CollectionParams
) -> tuple[pa.Table, dict[str, int], pd.DataFrame]:
    """Reads the shards batch by batch and extracts their multiple-choice questions.

    Returns:
        Raw items (`RawItems` as an Arrow table), the number of documents of each domain ("" where
        it is not known), and of each shard what was read, left out and passed over
        (`DocumentsRead`). They are the same for every engine.

    Raises:
        InputError: two documents with questions have one doc_id, or the engine cannot be had.
    """
    from tqdm import tqdm

    work = partial(
        shard_parts,
        reading=collection.reading,
        extraction=collection.extraction,
        fields=documents.fields,
    )
    parts = [RAW_ITEMS.empty_table()]
    domains: Counter[str] = Counter()
    reports: list[ReadingReport] = []
    found = 0
    with (
        BatchEngine(collection, "collection") as engine,
        tqdm(desc="extract", unit="document", file=sys.stderr, mininterval=1) as progress,
    ):
        for part in engine.over(work, documents.files):
            parts.append(part.items)
            domains.update(part.domains)
            if part.report is not None:
                reports.append(part.report)
            found += part.items.num_rows
            progress.set_postfix({"items": found}, refresh=False)
            progress.update(part.documents)
    raw = pa.concat_tables(parts)
    _require_distinct(raw.column("item_id"))
    return raw, dict(domains), joined_reports(reports).frame()


def _require_distinct(ids: pa.ChunkedArray) -> None:
    if pc.count_distinct(ids).as_py() == len(ids):
        return
    counts = pc.value_counts(ids)
    often = pc.greater(counts.field("counts"), 1)
    item_id = min(counts.field("values").filter(often).to_pylist())
    raise InputError(
        f"documents: doc_id {item_id.rsplit('#', 1)[0]!r} stands twice; give each document its own"
    )


def measure_extraction(
    raw_items: pa.Table, extraction_labels: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Compares the raw items with the labels, measure by measure and style by style.

    All measures but one are of the documents that have a label. `precision_all_documents` also
    counts the usable items of documents without labels, as false: it is the precision where all
    questions of all documents are labelled.

    Returns:
        An `ExtractionMeasures` table: measure, style ("" all), hits, of, share with its Wilson
        interval (95%); no rows without labels, or with labels of other documents only. It holds no
        text.
    """
    labelled = pa.array(
        sorted({str(label["doc_id"]) for label in extraction_labels}), pa.large_string()
    )
    there = pc.is_in(raw_items.column("doc_id"), value_set=labelled)
    if not pc.any(there).as_py():
        return _measures([])
    measured = measure(raw_items.filter(there), extraction_labels)
    rows = [
        (name, "", *told) for name, told in measured._asdict().items() if isinstance(told, Share)
    ]
    others = raw_items.filter(pc.invert(there))
    wrong = sum(
        answered_choice(row) >= 0
        for start in range(0, others.num_rows, _AT_ONCE)
        for row in others.slice(start, _AT_ONCE).select(["choices", "labels", "answer"]).to_pylist()
    )
    hits, of = measured.precision.hits, measured.precision.of + wrong
    rows.append(("precision_all_documents", "", *Share.counted(hits, of)))
    rows += [("recall", style, *share) for style, share in measured.by_style.items()]
    return _measures(rows)


def _measures(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    kinds = dict(zip(_COLUMNS, ("str", "str", "int64", "int64", *("float64",) * 3), strict=True))
    return pd.DataFrame(rows, columns=_COLUMNS).astype(kinds)
