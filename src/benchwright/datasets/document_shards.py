"""Documents streamed from shards: JSON lines, Parquet or WARC, optionally compressed."""

import glob
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from benchwright.core.errors import InputError, in_short
from benchwright.core.verbatim import BROKEN
from benchwright.datasets.read_only import ReadOnly

COLUMNS = ("doc_id", "url", "domain", "content_type", "text")
SCHEMA = pa.schema([(name, pa.large_string()) for name in COLUMNS])
"""The Arrow schema of `Documents`."""

LARGEST_DOCUMENT = 8 << 20  # bytes
_BATCH_DOCUMENTS = 1_000
_BATCH_CHARACTERS = 64 << 20
_PARQUET_ROWS = 64  # read at once
_LINES = (".jsonl", ".ndjson", ".json")
_COMPRESSED = (".gz", ".zst", ".bz2")
_WARC = (".warc", ".warc.gz")
_LONGEST_REASON = 200  # reasons may quote the record
_KINDS = ("text/html", "application/xhtml+xml", "text/plain", "text/markdown")
_CHARSET = re.compile(rb"""charset\s?=\s?["']?([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)

Records = Iterator[tuple[int, Mapping[str, Any] | str]]
"""Records of a shard by number, from 1; a text says why a record cannot be read."""


@dataclass
class ShardReport:
    """Counts of documents read and skipped in one shard."""

    documents: int = 0
    unreadable: int = 0  # records that cannot be read
    first_fault: str = ""  # place and reason of the first of them
    skipped: int = 0  # documents without any sign of a question

    def fault(self, place: int, reason: str) -> None:
        """Add an unreadable record: line or record number from 1, and the reason."""
        self.unreadable += 1
        self.first_fault = self.first_fault or f"{place}: {reason[:_LONGEST_REASON]}"


class DocumentBatches:
    """Batches of documents (`Documents` as Arrow tables), read during iteration.

    `reports` describe the files of the last iteration and are complete at its end.
    """

    def __init__(
        self,
        files: list[Path],
        fields: Mapping[str, str] | None = None,
        largest: int = LARGEST_DOCUMENT,
    ) -> None:
        self.files = files
        self.largest = largest
        self.fields = dict(fields or {})
        self.reports: dict[str, ShardReport] = {}

    def __iter__(self) -> Iterator[pa.Table]:
        self.reports = {str(file): ShardReport() for file in self.files}
        rows: list[tuple[str | None, ...]] = []
        size = 0
        for file in self.files:
            report = self.reports[str(file)]
            for row in _documents(file, self.largest, report, self.fields):
                length = len(row[-1] or "")
                if rows and (len(rows) >= _BATCH_DOCUMENTS or size + length > _BATCH_CHARACTERS):
                    yield _table(rows)
                    rows = []
                    size = 0
                rows.append(row)
                size += length
        if rows:
            yield _table(rows)


def _table(rows: list[tuple[str | None, ...]]) -> pa.Table:
    return pa.table(list(zip(*rows, strict=True)), schema=SCHEMA)


class DocumentShards(ReadOnly[DocumentBatches]):
    """Shards of documents: a file, a folder (read recursively) or a pattern (`crawl/*.jsonl.zst`).

    `fields` maps column names to names in the files, e.g. `{text: content}`; larger documents than
    `largest` bytes are skipped and counted.
    """

    def __init__(
        self,
        path: str,
        fields: dict[str, str] | None = None,
        largest: int = LARGEST_DOCUMENT,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(path, metadata=metadata)
        self._path = path
        self._fields = fields or {}
        self._largest = largest

    def load(self) -> DocumentBatches:
        """Return the batches, read during iteration; InputError if there is no shard."""
        return DocumentBatches(shard_files(self._path), self._fields, self._largest)


def shard_files(path: str) -> list[Path]:
    """Return the shards at a path or pattern, by name; InputError if there is none."""
    where = Path(path)
    if where.is_file():
        return [where]
    paths = where.rglob("*") if where.is_dir() else map(Path, glob.iglob(path, recursive=True))  # noqa: PTH207 - patterns with a root
    files = sorted(path for path in paths if path.is_file() and _reader(path))
    if not files:
        raise InputError(
            f"{path}: no document shards found; expected a file, folder or pattern of "
            f"{', '.join(_LINES)} (also {', '.join(_COMPRESSED)}), .parquet, {', '.join(_WARC)}"
        )
    return files


def _reader(file: Path) -> Callable[[Path, int], Records] | None:
    name = file.name.lower()
    if name.endswith(_WARC):
        return _of_warc
    if name.endswith(".parquet"):
        return _of_parquet
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    return _of_lines if name.endswith(_LINES) else None


def _documents(
    file: Path, largest: int, report: ShardReport, fields: Mapping[str, str]
) -> Iterator[tuple[str | None, ...]]:
    """Yield the documents of one shard as tuples in the order of `COLUMNS`."""
    reader = _reader(file)
    if reader is None:
        raise InputError(f"{file}: unknown file type")
    names = {column: fields.get(column, column) for column in COLUMNS}
    place = 0
    try:
        for place, record in reader(file, largest):
            row = _row(record, names, f"{file.name}:{place}", largest)
            if isinstance(row, str):
                report.fault(place, row)
            else:
                report.documents += 1
                yield row
    except BROKEN as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise InputError(f"{file}: cannot be read: {error.strerror}") from error
        report.fault(place + 1, f"the rest of the file is skipped: {in_short(error)}")


def _of_lines(file: Path, largest: int) -> Records:
    longest = 6 * largest + 65_536  # escaped, with the other fields
    with io.BufferedReader(pa.input_stream(str(file), compression="detect"), 1 << 20) as stream:
        place = 0
        while line := stream.readline(longest + 1):
            place += 1
            if len(line) > longest:
                yield place, f"line longer than {longest} bytes"
                while line and not line.endswith(b"\n"):
                    line = stream.readline(longest)
            elif line.strip():
                yield place, _object(line)


def _object(line: bytes) -> Mapping[str, Any] | str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"invalid JSON: {error}"
    kind = type(record).__name__
    return record if isinstance(record, dict) else f"expected an object, got {kind}"


def _of_parquet(file: Path, _largest: int) -> Records:
    with pq.ParquetFile(file) as parquet:
        batches = parquet.iter_batches(_PARQUET_ROWS)
        yield from enumerate((row for batch in batches for row in batch.to_pylist()), start=1)


def _row(
    record: Mapping[str, Any] | str, names: Mapping[str, str], built_id: str, largest: int
) -> tuple[str | None, ...] | str:
    """Return a document, or the reason why the record has none."""
    if isinstance(record, str):
        return record
    text = record.get(names["text"])
    if not isinstance(text, str):
        value = "nothing" if text is None else type(text).__name__
        return f"field {names['text']!r}: expected text, got {value}"
    if len(text) > largest:
        return f"text longer than {largest} characters"
    doc_id, url, domain, kind = (_cell(record.get(names[name])) for name in COLUMNS[:-1])
    if kind is None:
        head = text[:500].lstrip()
        kind = "text/html" if head.startswith("<") and ">" in head else "text/plain"
    return doc_id or built_id, url, domain or _domain(url), kind, _valid_unicode(text)


def _cell(value: Any) -> str | None:
    return None if value is None or value == "" else _valid_unicode(str(value))


def _valid_unicode(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _domain(url: str | None) -> str | None:
    try:
        return urlsplit(url).hostname if url else None
    except ValueError:
        return None


def _of_warc(file: Path, largest: int) -> Records:
    """Yield pages; other records (requests, images, responses other than 200) are skipped."""
    from warcio.archiveiterator import ArchiveIterator
    from warcio.exceptions import ArchiveLoadFailed

    place = 0
    with file.open("rb") as stream:
        try:
            for place, record in enumerate(ArchiveIterator(stream), start=1):
                kind = _page_type(record)
                if kind:
                    content = record.content_stream().read(largest + 1)
                    fields = {
                        "doc_id": record.rec_headers.get_header("WARC-Record-ID"),
                        "url": record.rec_headers.get_header("WARC-Target-URI"),
                        "content_type": kind,
                        "text": _decoded(content, _content_type(record)),
                    }
                    is_short = len(content) <= largest
                    yield place, fields if is_short else f"page longer than {largest} bytes"
        # warcio raises these for invalid records, e.g. a response without a URL.
        except (ArchiveLoadFailed, ValueError, LookupError, AttributeError, TypeError) as error:
            raise OSError(f"record {place + 1}: {error}") from error


def _page_type(record: Any) -> str:
    if record.rec_type == "conversion":  # text extracted by the crawl
        return "text/plain"
    headers = record.http_headers
    status = headers.get_statuscode() if headers is not None else None
    if record.rec_type not in {"response", "resource"} or not (status or "200").startswith("200"):
        return ""
    kind = _content_type(record).partition(";")[0].strip().lower()
    return kind if kind in _KINDS else ""


def _content_type(record: Any) -> str:
    headers = record.http_headers if record.http_headers is not None else record.rec_headers
    return headers.get_header("Content-Type") or ""


def _decoded(content: bytes, declared: str) -> str:
    charset = _CHARSET.search(declared.encode("utf-8", "replace") + b" " + content[:2_048])
    try:
        return content.decode(charset[1].decode() if charset else "utf-8", "replace")
    except (LookupError, ValueError):  # no charset that Python knows
        return content.decode("utf-8", "replace")
