"""Documents streamed from shards: JSON lines, Parquet or WARC, compressed or not."""

import glob
import io
import json
from collections.abc import Iterable, Iterator, Mapping
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
from benchwright.datasets.read_only import ReadOnly
from benchwright.datasets.unpacked import BROKEN, TABLE_SLACK, plain
from benchwright.datasets.warc_records import warc_documents
from benchwright.params.mmlu_cf import ReadingParams

COLUMNS = ("doc_id", "url", "domain", "content_type", "text")
SCHEMA = pa.schema([(name, pa.large_string()) for name in COLUMNS])
"""The columns of `Documents` as Arrow types."""

_LINES = (".jsonl", ".ndjson", ".json")
_PACKED = (".gz", ".zst", ".bz2")
_WARC = (".warc", ".warc.gz")
_SLACK = 64 << 20  # bytes that any compressed shard may hold
_NOTED = 100
_LONGEST_REASON = 200  # it may quote the record


Records = Iterator[tuple[int, Mapping[str, Any]]]
"""Records of a shard with their places, from 1."""


class Fault(NamedTuple):
    """A record that was left out: file, line or record number from 1 (0: the file), and why."""

    file: str
    place: int
    reason: str


@dataclass
class ReadingReport:
    """What was read and what was left out.

    Attributes:
        documents: read from each file.
        left_out: records of each file that were not; `faults` has the first hundred of all, `first`
            the first one of each file.
        without_options: documents that were read but passed over, since they show no sign of a
            question (`construction.extraction.prefilter`); whoever looks at them counts them.
    """

    documents: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    first: dict[str, Fault] = field(default_factory=dict)
    without_options: dict[str, int] = field(default_factory=dict)

    def fault(self, file: str, place: int, reason: str) -> None:
        """Notes a record that is left out."""
        reason = reason[:_LONGEST_REASON]
        self.left_out[file] = self.left_out.get(file, 0) + 1
        self.first.setdefault(file, Fault(file, place, reason))
        if len(self.faults) < _NOTED:
            self.faults.append(Fault(file, place, reason))

    def frame(self) -> pd.DataFrame:
        """A row for each file: file, documents, left_out, first_fault, without_options."""
        return pd.DataFrame(
            [
                (
                    file,
                    self.documents.get(file, 0),
                    self.left_out.get(file, 0),
                    f"{self.first[file].place}: {self.first[file].reason}"
                    if file in self.first
                    else "",
                    self.without_options.get(file, 0),
                )
                for file in sorted({*self.documents, *self.left_out})
            ],
            columns=["file", "documents", "left_out", "first_fault", "without_options"],
        )


def joined_reports(reports: Iterable[ReadingReport]) -> ReadingReport:
    """The reports of several shards as one, in their order."""
    total = ReadingReport()
    for one in reports:
        total.documents |= one.documents
        total.left_out |= one.left_out
        total.first |= one.first
        total.without_options |= one.without_options
        total.faults = [*total.faults, *one.faults][:_NOTED]
    return total


class DocumentBatches:
    """Batches of documents (`Documents` as Arrow tables), read as one goes over them.

    Attributes:
        files: the shards, in order.
        report: of the last pass, complete at its end.
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
    """Shards of documents, for reading.

    Args:
        path: a file, a folder (read with its folders) or a pattern such as `crawl/*.jsonl.zst`.
        fields: names in the files, by ours, e.g. `{text: content}`.
        reading: limits, as `ReadingParams`.
        metadata: for plugins.
    """

    def __init__(
        self,
        path: str,
        fields: dict[str, str] | None = None,
        reading: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(path, metadata)
        self._path = path
        self._fields = fields or {}
        self._params = ReadingParams(**(reading or {}))
        if unknown := set(self._fields) - set(COLUMNS):
            raise DatasetError(f"fields: {unknown.pop()!r} is none of {', '.join(COLUMNS)}")

    def load(self) -> DocumentBatches:
        """The batches; nothing is read before one goes over them.

        Raises:
            InputError: there is no shard.
        """
        return DocumentBatches(shard_files(self._path), self._params, self._fields)

    def _exists(self) -> bool:
        try:
            return bool(shard_files(self._path))
        except InputError:
            return False


def shard_files(path: str) -> list[Path]:
    """The shards that a path names, sorted by name.

    Raises:
        InputError: there is none.
    """
    where = Path(path)
    if where.is_file():
        return [where]
    found = where.rglob("*") if where.is_dir() else map(Path, glob.iglob(path, recursive=True))  # noqa: PTH207 - patterns with a root
    files = sorted(one for one in found if one.is_file() and _kind(one))
    if not files:
        raise InputError(
            f"{path}: no shard of documents is there; wanted is a file, a folder or a pattern of "
            f"{', '.join(_LINES)} (also {', '.join(_PACKED)}), .parquet, {', '.join(_WARC)}"
        )
    return files


def shard_documents(
    file: Path,
    params: ReadingParams,
    report: ReadingReport,
    fields: Mapping[str, str] | None = None,
) -> Iterator[tuple[str | None, ...]]:
    """The documents of one shard, as tuples in the order of `COLUMNS`.

    A record that cannot be read is noted in the report and left out; so is the rest of a shard that
    is torn, or larger than its compressed size allows.

    Raises:
        InputError: the shard cannot be opened, or its format is not known.
    """
    name = str(file)
    report.documents.setdefault(name, 0)
    kind = _kind(file)
    if not kind:
        raise InputError(f"{file}: the format is not known by the name")
    names = {one: (fields or {}).get(one, one) for one in COLUMNS}
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
            raise InputError(f"{file} cannot be read: {error.strerror}") from error
        report.fault(name, place + 1, f"the rest is left out: {' '.join(str(error).split())}")


class _TooLargeError(Exception):
    """A compressed shard holds more than its size allows."""


def _kind(file: Path) -> str:
    name = file.name.lower()
    if name.endswith(_WARC):
        return "warc"
    if name.endswith(".parquet"):
        return "parquet"
    for packed in _PACKED:
        name = name.removesuffix(packed)
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
                raise _TooLargeError(f"it holds more than {allowed} bytes")
            if not whole:
                report.fault(str(file), place, f"a line of more than {longest} bytes")
            elif line.strip():
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError) as error:
                    report.fault(str(file), place, f"no JSON: {error}")
                    continue
                if isinstance(record, dict):
                    yield place, record
                else:
                    report.fault(str(file), place, f"not an object but {type(record).__name__}")


def _of_parquet(file: Path, params: ReadingParams, _: ReadingReport) -> Records:
    allowed = params.expansion * file.stat().st_size + TABLE_SLACK
    with pq.ParquetFile(file) as parquet:
        place = held = 0
        for batch in map(plain, parquet.iter_batches(batch_size=min(params.batch_documents, 64))):
            held += batch.nbytes
            if held > allowed:
                raise _TooLargeError(f"it holds more than {allowed} bytes")
            for record in batch.to_pylist():
                place += 1
                yield place, record


def _of_warc(file: Path, params: ReadingParams, report: ReadingReport) -> Records:
    return warc_documents(file, params.document_bytes, partial(report.fault, str(file)))


def _row(
    record: Mapping[str, Any], names: Mapping[str, str], built_id: str, params: ReadingParams
) -> tuple[str | None, ...] | str:
    """A document, or why there is none."""
    text = record.get(names["text"])
    if not isinstance(text, str):
        told = "missing" if text is None else f"a {type(text).__name__}"
        return f"field {names['text']!r} is {told}; wanted is text"
    if len(text) > params.document_bytes:
        return f"a text of more than {params.document_bytes} characters"
    given = {one: _named(record.get(names[one])) for one in COLUMNS}
    url = given["url"]
    doc_id = given["doc_id"] or built_id
    kind = given["content_type"] or _content_type(text)
    return doc_id, url, given["domain"] or _domain(url), kind, _storable(text)


def _named(value: Any) -> str | None:
    """A cell as text that a file can hold; None where there is nothing."""
    return None if value is None or value == "" else _storable(str(value))


def _storable(text: str) -> str:
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
