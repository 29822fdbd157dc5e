"""Documents in, raw items out: one document at a time, so any batches give the same."""

from collections.abc import Iterator
from math import isnan
from typing import Any

import pandas as pd
import pyarrow as pa

from benchwright.core.errors import InputError
from benchwright.methods.mmlu_cf.extraction.found_questions import FoundQuestion
from benchwright.methods.mmlu_cf.extraction.page_text import page_text
from benchwright.methods.mmlu_cf.extraction.questions import questions_of
from benchwright.params.collection import ExtractionParams

TEXTS = pa.list_(pa.large_string())
RAW_ITEMS = pa.schema(
    [
        ("item_id", pa.large_string()),
        ("doc_id", pa.large_string()),
        ("number", pa.int64()),
        ("url", pa.large_string()),
        ("domain", pa.large_string()),
        ("layout", pa.large_string()),
        ("question", pa.large_string()),
        ("choices", TEXTS),
        ("labels", TEXTS),
        ("answer", pa.large_string()),
        ("explanation", pa.large_string()),
        ("passage", pa.large_string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
    ]
)
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
    text = text.encode("utf-8", "replace").decode() if _surrogates(text) else text
    return questions_of(page_text(text, content_type), params.line_characters)


def _surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


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
        doc_id, url, domain, content_type, text = (None if _missing(one) else one for one in row)
        yield doc_id, url, domain, content_type or "text/plain", text or ""


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))
