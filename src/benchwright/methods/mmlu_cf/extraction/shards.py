"""Extraction of one shard of documents: what one worker does."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from benchwright.datasets.document_shards import DocumentBatches, ReadingReport
from benchwright.methods.mmlu_cf.extraction.extract import RAW_ITEMS, extract
from benchwright.methods.mmlu_cf.extraction.prefilter import may_hold_questions
from benchwright.params.collection import ExtractionParams, ReadingParams


class ShardPart(NamedTuple):
    """What came out of some documents of a shard.

    Attributes:
        items: `RawItems`, in the order of the documents.
        documents: how many were read.
        domains: documents of each domain ("" where it is not known), those passed over too.
        report: of the whole shard, with its last part.
    """

    items: pa.Table
    documents: int
    domains: Counter[str]
    report: ReadingReport | None = None


def shard_parts(
    file: Path, reading: ReadingParams, extraction: ExtractionParams, fields: Mapping[str, str]
) -> Iterator[ShardPart]:
    """Reads a shard batch by batch and extracts its multiple-choice questions.

    Args:
        file: the shard; other machines read it at the same path.
        reading: limits of reading.
        extraction: limits, and whether documents without a sign of a question are passed over.
        fields: names in the file, by ours.

    Raises:
        InputError: the shard cannot be opened, or its format is not known.
    """
    batches = DocumentBatches([file], reading, fields)
    passed_over = 0
    for batch in batches:
        domains = Counter(domain or "" for domain in batch.column("domain").to_pylist())
        some = batch
        if extraction.prefilter:
            some = batch.filter(pa.array(may_hold_questions(_texts(batch))))
            passed_over += batch.num_rows - some.num_rows
        yield ShardPart(extract(some, extraction), batch.num_rows, domains)
    if passed_over:
        batches.report.without_options[str(file)] = passed_over
    yield ShardPart(RAW_ITEMS.empty_table(), 0, Counter(), batches.report)


def _texts(batch: pa.Table) -> pa.Array:
    column = pc.fill_null(batch.column("text"), "").combine_chunks()
    return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
