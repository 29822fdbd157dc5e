"""Documents to raw items, one document at a time, so that batches do not matter."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from benchwright.datasets.document_shards import DocumentBatches, ShardReport
from benchwright.methods.mmlu_cf.extraction.html import html_lines
from benchwright.methods.mmlu_cf.extraction.lines import FoundQuestion, Line
from benchwright.methods.mmlu_cf.extraction.markdown import markdown_lines
from benchwright.methods.mmlu_cf.extraction.plain_text import plain_lines
from benchwright.methods.mmlu_cf.extraction.prefilter import may_hold_questions
from benchwright.methods.mmlu_cf.extraction.questions import questions_of
from benchwright.methods.mmlu_cf.extraction.quiz_files import quiz_file_questions
from benchwright.tables.mmlu_cf import RawItems, arrow_schema

RAW_ITEMS = arrow_schema(RawItems, pa.list_(pa.large_string()))
"""The columns of `RawItems` as Arrow types."""

_DOCUMENT_CHARACTERS = 4_000_000


def page_lines(text: str, content_type: str) -> list[Line]:
    """Return the lines of a document of any type; HTML declared as plain text is recognised."""
    kind = content_type.lower()
    head = text[:1_000].lstrip().lower()
    if "html" in kind or head.startswith(("<!doctype html", "<html")):
        return html_lines(text)
    return markdown_lines(text) if "markdown" in kind else plain_lines(text)


def extract(documents: pa.Table | pa.RecordBatch) -> pa.Table:
    """Extract the multiple-choice questions of `Documents` (MMLU-CF, section 3.2, step 1).

    Only the first 4,000,000 characters of a document are read. Return `RawItems`
    with the schema `RAW_ITEMS`. `answer` is a label, or the option's text if options have no label;
    null if the page gives none.
    """
    names = ("doc_id", "url", "domain", "content_type", "text")
    columns = (documents.column(name).to_pylist() for name in names)
    rows = [
        {"item_id": f"{doc_id}#{number}", "doc_id": doc_id, "number": number}
        | {"url": url, "domain": domain}
        | vars(question)
        for doc_id, url, domain, content_type, text in zip(*columns, strict=True)
        for number, question in enumerate(
            questions_in(text or "", content_type or "text/plain"), start=1
        )
    ]
    return pa.Table.from_pylist(rows, schema=RAW_ITEMS)


def questions_in(text: str, content_type: str) -> list[FoundQuestion]:
    """Return the questions of a document in page order."""
    text = text[:_DOCUMENT_CHARACTERS]
    text = text.encode("utf-8", "replace").decode()  # without surrogates
    marked_up = any(kind in content_type.lower() for kind in ("html", "markdown"))
    found = [] if marked_up else quiz_file_questions(text)
    return found or questions_of(page_lines(text, content_type))


class ShardPart(NamedTuple):
    """The `RawItems` of a batch of documents, and the number of documents, also by domain.

    Skipped documents count; unknown domains are "". The last part has the reports of the shard.
    """

    items: pa.Table
    documents: int
    domains: Counter[str]
    reports: Mapping[str, ShardReport]


def shard_parts(file: Path, fields: Mapping[str, str], largest: int) -> Iterator[ShardPart]:
    """Read a shard batch by batch and extract its multiple-choice questions.

    The shard has the same path on all machines; `fields` names its columns.

    Raises:
        InputError: the shard cannot be opened, or its format is unknown.
    """
    batches = DocumentBatches([file], fields, largest)
    for batch in batches:
        domains = Counter(domain or "" for domain in batch.column("domain").to_pylist())
        texts = pc.fill_null(batch.column("text"), "").combine_chunks()
        hopeful = batch.filter(pa.array(may_hold_questions(texts)))
        batches.reports[str(file)].skipped += batch.num_rows - hopeful.num_rows
        yield ShardPart(extract(hopeful), batch.num_rows, domains, {})
    yield ShardPart(RAW_ITEMS.empty_table(), 0, Counter(), batches.reports)
