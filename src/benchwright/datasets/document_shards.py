"""Documents streamed from shards: JSON lines, Parquet or WARC, optionally compressed."""

import codecs
import glob
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from kedro.io import DatasetError

from benchwright.core.errors import InputError
from benchwright.core.verbatim import BROKEN, TABLE_SLACK, plain
from benchwright.datasets.read_only import ReadOnly
from benchwright.params.mmlu_cf import ReadingParams

COLUMNS = ("doc_id", "url", "domain", "content_type", "text")
SCHEMA = pa.schema([(name, pa.large_string()) for name in COLUMNS])
"""The Arrow schema of `Documents`."""

_LINES = (".jsonl", ".ndjson", ".json")
_COMPRESSED = (".gz", ".zst", ".bz2")
_WARC = (".warc", ".warc.gz")
_SLACK = 64 << 20  # bytes that any compressed shard may expand to
_MAX_FAULTS = 100
_LONGEST_REASON = 200  # reasons may quote the record


Records = Iterator[tuple[int, Mapping[str, Any]]]
"""Records of a shard with their numbers, from 1."""
_KINDS = ("text/html", "application/xhtml+xml", "text/plain", "text/markdown")
_PAGES = re.compile(r"utf-(?:8|16|32)|ascii|cp\d|iso|koi8|mac-|big5|gb|euc|shift|johab|hz|tis|ptcp")
_CHARSET = re.compile(rb"""charset\s?=\s?["']?([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)


class Fault(NamedTuple):
    """A skipped record: file, line or record number from 1 (0: the file), and the reason."""

    file: str
    place: int
    reason: str


@dataclass
class ReadingReport:
    """Counts of documents read and skipped, by file."""

    documents: dict[str, int] = field(default_factory=dict)
    unreadable: dict[str, int] = field(default_factory=dict)  # records that cannot be read
    faults: list[Fault] = field(default_factory=list)  # of all files, at most 100
    first: dict[str, Fault] = field(default_factory=dict)  # the first fault of each file
    # Documents without any sign of a question (`collection.extraction.prefilter`).
    skipped: dict[str, int] = field(default_factory=dict)

    def fault(self, file: str, place: int, reason: str) -> None:
        """Add a skipped record."""
        fault = Fault(file, place, reason[:_LONGEST_REASON])
        self.unreadable[file] = self.unreadable.get(file, 0) + 1
        self.first.setdefault(file, fault)
        if len(self.faults) < _MAX_FAULTS:
            self.faults.append(fault)

    def frame(self) -> pd.DataFrame:
        """Return a row for each file."""
        files = sorted({*self.documents, *self.unreadable})
        first = [self.first.get(file) for file in files]
        return pd.DataFrame(
            {
                "file": files,
                "documents": [self.documents.get(file, 0) for file in files],
                "unreadable": [self.unreadable.get(file, 0) for file in files],
                "first_fault": [
                    f"{fault.place}: {fault.reason}" if fault else "" for fault in first
                ],
                "skipped": [self.skipped.get(file, 0) for file in files],
            }
        )


def joined_reports(reports: Iterable[ReadingReport]) -> ReadingReport:
    """Join the reports of several shards, in their order."""
    total = ReadingReport()
    for report in reports:
        total.documents |= report.documents
        total.unreadable |= report.unreadable
        total.first |= report.first
        total.skipped |= report.skipped
        total.faults = [*total.faults, *report.faults][:_MAX_FAULTS]
    return total


class DocumentBatches:
    """Batches of documents (`Documents` as Arrow tables), read during iteration.

    `report` describes the last iteration and is complete at its end.
    """

    def __init__(
        self, files: list[Path], params: ReadingParams, fields: Mapping[str, str] | None = None
    ) -> None:
        self.files = files
        self.params = params
        self.fields = dict(fields or {})
        self.report = ReadingReport()

    def __iter__(self) -> Iterator[pa.Table]:
        self.report = ReadingReport()
        rows: list[tuple[str | None, ...]] = []
        size = 0
        for file in self.files:
            for row in shard_documents(file, self.params, self.report, self.fields):
                length = len(row[-1] or "")
                full = len(rows) >= self.params.batch_documents
                if rows and (full or size + length > self.params.batch_bytes):
                    yield _table(rows)
                    rows, size = [], 0
                rows.append(row)
                size += length
        if rows:
            yield _table(rows)


class DocumentShards(ReadOnly[DocumentBatches]):
    """Shards of documents: a file, a folder (read recursively) or a pattern (`crawl/*.jsonl.zst`).

    `fields` maps column names to names in the files, e.g. `{text: content}`; `reading` has the
    limits (`ReadingParams`).
    """

    def __init__(
        self,
        path: str,
        fields: dict[str, str] | None = None,
        reading: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(path, metadata=metadata)
        self._path = path
        self._fields = fields or {}
        self._params = ReadingParams(**(reading or {}))
        if unknown := set(self._fields) - set(COLUMNS):
            raise DatasetError(
                f"fields: unknown column {unknown.pop()!r}; expected one of {', '.join(COLUMNS)}"
            )

    def load(self) -> DocumentBatches:
        """Return the batches, read during iteration; InputError if there is no shard."""
        return DocumentBatches(shard_files(self._path), self._params, self._fields)

    def _exists(self) -> bool:
        try:
            return bool(shard_files(self._path))
        except InputError:
            return False


def shard_files(path: str) -> list[Path]:
    """Return the shards at a path or pattern, by name; InputError if there is none."""
    where = Path(path)
    if where.is_file():
        return [where]
    paths = where.rglob("*") if where.is_dir() else map(Path, glob.iglob(path, recursive=True))  # noqa: PTH207 - patterns with a root
    files = sorted(path for path in paths if path.is_file() and _kind(path))
    if not files:
        raise InputError(
            f"{path}: no document shards found; expected a file, folder or pattern of "
            f"{', '.join(_LINES)} (also {', '.join(_COMPRESSED)}), .parquet, {', '.join(_WARC)}"
        )
    return files


def shard_documents(
    file: Path,
    params: ReadingParams,
    report: ReadingReport,
    fields: Mapping[str, str] | None = None,
) -> Iterator[tuple[str | None, ...]]:
    """Yield the documents of one shard as tuples in the order of `COLUMNS`.

    The report lists unreadable records, and where a shard is broken or expands too far.

    Raises:
        InputError: the shard cannot be opened, or its format is unknown.
    """
    name = str(file)
    report.documents.setdefault(name, 0)
    kind = _kind(file)
    if not kind:
        raise InputError(f"{file}: unknown file type")
    names = {column: (fields or {}).get(column, column) for column in COLUMNS}
    reader = {"lines": _of_lines, "parquet": _of_parquet, "warc": _of_warc}[kind]
    place = 0
    try:
        for place, record in reader(file, params, report):
            row = _row(record, names, f"{file.name}:{place}", params)
            if isinstance(row, str):
                report.fault(name, place, row)
            else:
                report.documents[name] += 1
                yield row
    except (*BROKEN, MemoryError, _TooLargeError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise InputError(f"{file}: cannot be read: {error.strerror}") from error
        report.fault(
            name, place + 1, f"the rest of the file is skipped: {' '.join(str(error).split())}"
        )


class _TooLargeError(Exception):
    """A compressed shard expands beyond the limit."""


def _kind(file: Path) -> str:
    name = file.name.lower()
    if name.endswith(_WARC):
        return "warc"
    if name.endswith(".parquet"):
        return "parquet"
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    return "lines" if name.endswith(_LINES) else ""


def _of_lines(file: Path, params: ReadingParams, report: ReadingReport) -> Records:
    allowed = params.expansion * file.stat().st_size + _SLACK
    longest = 6 * params.document_bytes + 65_536  # escaped, with the other fields
    read = 0
    with io.BufferedReader(pa.input_stream(str(file), compression="detect"), 1 << 20) as stream:
        place = 0
        while line := stream.readline(longest + 1):
            place += 1
            read += len(line)
            whole = line.endswith(b"\n") or len(line) <= longest
            while not line.endswith(b"\n") and len(line) > longest:
                line = stream.readline(longest + 1)
                read += len(line)
                if read > allowed:
                    break
            if read > allowed:
                raise _TooLargeError(f"more than {allowed} bytes uncompressed")
            if not whole:
                report.fault(str(file), place, f"line longer than {longest} bytes")
            elif line.strip():
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError) as error:
                    report.fault(str(file), place, f"invalid JSON: {error}")
                    continue
                if isinstance(record, dict):
                    yield place, record
                else:
                    report.fault(
                        str(file), place, f"expected an object, got {type(record).__name__}"
                    )


def _of_parquet(file: Path, params: ReadingParams, _: ReadingReport) -> Records:
    allowed = params.expansion * file.stat().st_size + TABLE_SLACK
    with pq.ParquetFile(file) as parquet:
        place = n_bytes = 0
        for batch in map(plain, parquet.iter_batches(batch_size=min(params.batch_documents, 64))):
            n_bytes += batch.nbytes
            if n_bytes > allowed:
                raise _TooLargeError(f"more than {allowed} bytes uncompressed")
            for record in batch.to_pylist():
                place += 1
                yield place, record


def _of_warc(file: Path, params: ReadingParams, report: ReadingReport) -> Records:
    return warc_documents(file, params.document_bytes, partial(report.fault, str(file)))


def _row(
    record: Mapping[str, Any], names: Mapping[str, str], built_id: str, params: ReadingParams
) -> tuple[str | None, ...] | str:
    """Return a document, or the reason why the record has none."""
    text = record.get(names["text"])
    if not isinstance(text, str):
        value = "nothing" if text is None else type(text).__name__
        return f"field {names['text']!r}: expected text, got {value}"
    if len(text) > params.document_bytes:
        return f"text longer than {params.document_bytes} characters"
    doc_id, url, domain, kind = (_cell(record.get(names[name])) for name in COLUMNS[:-1])
    kind = kind or _content_type(text)
    return doc_id or built_id, url, domain or _domain(url), kind, _valid_unicode(text)


def _cell(value: Any) -> str | None:
    """Return a cell as valid Unicode text, None if empty."""
    return None if value is None or value == "" else _valid_unicode(str(value))


def _valid_unicode(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _domain(url: str | None) -> str | None:
    try:
        return urlsplit(url).hostname if url else None
    except ValueError:
        return None


def _content_type(text: str) -> str:
    head = text[:500].lstrip().lower()
    return "text/html" if head.startswith("<") and ">" in head else "text/plain"


def _table(rows: list[tuple[str | None, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    return pa.Table.from_arrays(
        [pa.array(column, pa.large_string()) for column in columns], schema=SCHEMA
    )


def warc_documents(
    file: Path, max_bytes: int, fault: Callable[[int, str], None]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield number (from 1) and fields (doc_id, url, content_type, text) of each page.

    Other records (requests, images, responses other than 200) are skipped; pages that expand to
    more than `max_bytes` are reported to `fault`.

    Raises:
        InputError: warcio is not installed.
        OSError: the file is broken or not a WARC file.
    """
    try:
        from warcio.archiveiterator import ArchiveIterator
        from warcio.exceptions import ArchiveLoadFailed
    except ImportError as error:
        raise InputError(
            f"{file}: WARC files need the package warcio (`pip install warcio`)"
        ) from error
    place = 0
    with file.open("rb") as stream:
        try:
            for place, record in enumerate(ArchiveIterator(stream), start=1):
                kind = _page_type(record)
                if not kind:
                    continue
                content = record.content_stream().read(max_bytes + 1)
                if len(content) > max_bytes:
                    fault(place, f"page longer than {max_bytes} bytes")
                    continue
                headers = record.rec_headers
                yield (
                    place,
                    {
                        "doc_id": headers.get_header("WARC-Record-ID"),
                        "url": headers.get_header("WARC-Target-URI"),
                        "content_type": kind,
                        "text": _decoded(content, _declared(record)),
                    },
                )
        # warcio raises these for invalid records, e.g. a response without a URL.
        except (ArchiveLoadFailed, ValueError, LookupError, AttributeError, TypeError) as error:
            raise OSError(f"record {place + 1}: {error}") from error


def _page_type(record: Any) -> str:
    """Return the content type of a page, "" for other records."""
    if record.rec_type == "conversion":  # text extracted by the crawl
        return "text/plain"
    if record.rec_type not in {"response", "resource"}:
        return ""
    headers = record.http_headers
    if headers is not None and not (headers.get_statuscode() or "200").startswith("200"):
        return ""
    kind = _declared(record).partition(";")[0].strip().lower()
    return kind if kind in _KINDS else ""


def _declared(record: Any) -> str:
    headers = record.http_headers if record.http_headers is not None else record.rec_headers
    return headers.get_header("Content-Type") or ""


def _decoded(content: bytes, declared: str) -> str:
    charset = _CHARSET.search(declared.encode("utf-8", "replace")) or _CHARSET.search(
        content[:2_048]
    )
    try:
        name = codecs.lookup(charset[1].decode() if charset else "utf-8").name
    except (LookupError, ValueError):
        name = "utf-8"
    # Some Python codecs are not charsets: punycode takes hours, "undefined" fails.
    return content.decode(name if _PAGES.match(name) else "utf-8", "replace")
