"""Documents in, raw items out: one document at a time, so any batches give the same."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from benchwright.core.errors import InputError
from benchwright.datasets.document_shards import DocumentBatches, ReadingReport
from benchwright.methods.mmlu_cf.extraction.html import html_page
from benchwright.methods.mmlu_cf.extraction.lines import PageText
from benchwright.methods.mmlu_cf.extraction.plain_text import plain_page
from benchwright.methods.mmlu_cf.extraction.prefilter import may_hold_questions
from benchwright.methods.mmlu_cf.extraction.question_tables import FoundQuestion
from benchwright.methods.mmlu_cf.extraction.questions import questions_of
from benchwright.params.mmlu_cf import ExtractionParams, ReadingParams
from benchwright.tables.mmlu_cf import RawItems, arrow_schema


def page_text(text: str, content_type: str) -> PageText:
    """The lines of a document.

    Args:
        text: the document.
        content_type: `text/html`, `text/markdown` or `text/plain` (anything else is read as that),
            with or without parameters; HTML that is declared as plain text is found out.
    """
    kind = content_type.partition(";")[0].strip().lower()
    head = text[:1_000].lstrip().lower()
    if "html" in kind or head.startswith(("<!doctype html", "<html")):
        return html_page(text)
    return plain_page(text, markdown="markdown" in kind)


RAW_ITEMS = arrow_schema(RawItems, pa.list_(pa.large_string()))
"""The columns of `RawItems` as Arrow types."""

_NEEDED = ("doc_id", "url", "domain", "content_type", "text")


def extract(
    documents: pd.DataFrame | pa.Table | pa.RecordBatch, params: ExtractionParams
) -> pa.Table:
    """The multiple-choice questions of documents (MMLU-CF, section 3.2, step 1).

    Pure, and of each document by itself: the result does not depend on the batches. A document
    longer than `params.document_characters` is read up to there. Ids of items are
    `<doc_id>#<number>`, numbered from 1 in each document.

    Args:
        documents: table `Documents`.
        params: limits.

    Returns:
        `RawItems` (the schema is `RAW_ITEMS`). `answer` is what the page gives: a label, or the
        option's text where options have no label; null without key.

    Raises:
        InputError: a column is missing.
    """
    columns: dict[str, list[Any]] = {name: [] for name in RAW_ITEMS.names}
    for doc_id, url, domain, content_type, text in _rows(documents):
        for number, found in enumerate(questions_in(text, content_type, params), start=1):
            values = (
                f"{doc_id}#{number}", doc_id, number, url, domain, found.layout, found.question,
                found.choices, found.labels, found.answer, found.explanation, found.passage,
                found.start, found.end,
            )  # fmt: skip
            for name, value in zip(RAW_ITEMS.names, values, strict=True):
                columns[name].append(value)
    return pa.Table.from_pydict(columns, schema=RAW_ITEMS)


def questions_in(text: str, content_type: str, params: ExtractionParams) -> list[FoundQuestion]:
    """The questions of one document, in page order."""
    if len(text) > params.document_characters:
        text = text[: params.document_characters]
    text = text.encode("utf-8", "replace").decode()  # without surrogates
    return questions_of(page_text(text, content_type), params.line_characters)


def _rows(documents: pd.DataFrame | pa.Table | pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    if isinstance(documents, pd.DataFrame):
        given = {str(name): documents[name].tolist() for name in documents if name in _NEEDED}
    else:
        present = [name for name in documents.schema.names if name in _NEEDED]
        given = {name: documents.column(name).to_pylist() for name in present}
    for name in _NEEDED:
        if name not in given:
            raise InputError(f"documents have no column {name!r}; wanted are {', '.join(_NEEDED)}")
    for row in zip(*(given[name] for name in _NEEDED), strict=True):
        doc_id, url, domain, content_type, text = (
            None if isinstance(one, float) and isnan(one) else one for one in row
        )
        yield doc_id, url, domain, content_type or "text/plain", text or ""


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
            texts = pc.fill_null(batch.column("text"), "").combine_chunks()
            if isinstance(texts, pa.ChunkedArray):
                texts = pa.concat_arrays(texts.chunks)
            some = batch.filter(pa.array(may_hold_questions(texts)))
            passed_over += batch.num_rows - some.num_rows
        yield ShardPart(extract(some, extraction), batch.num_rows, domains)
    if passed_over:
        batches.report.without_options[str(file)] = passed_over
    yield ShardPart(RAW_ITEMS.empty_table(), 0, Counter(), batches.report)
