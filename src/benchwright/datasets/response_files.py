"""Files of recorded responses to one benchmark, read verbatim."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from pydantic import BaseModel, ValidationError

from benchwright.core.errors import InputError
from benchwright.core.verbatim import (
    check_header,
    json_rows,
    opened,
    read_errors,
    read_parquet,
    utf8_text,
)
from benchwright.datasets.lm_eval_samples import is_sample_log, read_run, read_samples
from benchwright.datasets.read_only import ReadOnly
from benchwright.params.benchmark import FieldMapping, SourcesParams
from benchwright.params.responses import FILE_TYPES, ResponseFileParams
from benchwright.source_rows.fields import ascii_surrogates, format_value

_LARGEST_BLOCK = 1 << 30
Params = TypeVar("Params", bound=BaseModel)


@dataclass(frozen=True)
class LoadedFile:
    """A file of responses with its entry in the benchmark's `responses`."""

    spec: ResponseFileParams  # with defaults if the file has no entry
    # Values are verbatim (CSV cells are strings; empty ones are missing). A log of lm-eval has the
    # columns of `datasets.lm_eval_samples.SAMPLES`. None if the file is missing.
    table: pa.Table | None
    looked_in: tuple[str, ...] = ()  # searched folders
    # For a log: the field mappings of the benchmark's sources, the hub's first, as in stock tasks.
    mappings: tuple[FieldMapping, ...] = ()

    @property
    def name(self) -> str:
        """Path of the file in the folder of responses."""
        return self.spec.file


class ResponseFiles(ReadOnly[dict[str, LoadedFile]]):
    """The recorded responses to one benchmark: configured files first, then others in the folder.

    Files are Parquet, CSV (also gzipped) or JSON lines, or sample logs of lm-eval, also in
    subfolders. The benchmark's `responses` lists files, and its `sources` define how rows of
    lm-eval tasks are read. `folder` is searched first, then `<mirror_root>/responses/`.
    """

    def __init__(
        self,
        *,
        benchmark: dict[str, Any],
        folder: str,
        mirror_root: str | None = "",
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._named = benchmark.get("responses") or []
        self._sources = benchmark.get("sources")
        super().__init__(folder, metadata=metadata)
        self._mirror = Path(mirror_root) / "responses" if mirror_root else None

    def load(self) -> dict[str, LoadedFile]:
        """Return every file by name: configured files in their order, then the others by name.

        Raises:
            InputError: an entry of `responses` is invalid, a configured file is neither in the
                folder nor in the mirror, a file cannot be read, or the model of a log is unknown.
        """
        if not isinstance(self._named, list | tuple):
            raise InputError(
                f"responses: expected a list of files, got {format_value(self._named)}"
            )
        configured = [_spec(entry, position) for position, entry in enumerate(self._named)]
        names = [spec.file for spec in configured]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"responses: {name!r} is listed more than once")
        others = [spec for spec in self._unnamed() if spec.file not in names]
        return {spec.file: self._load_file(spec) for spec in [*configured, *others]}

    def _unnamed(self) -> list[ResponseFileParams]:
        """Return the files in the folder and logs in its subfolders, by name."""
        if not self.place.is_dir():
            return []
        here = [
            ResponseFileParams(file=path.name)
            for path in self.place.iterdir()
            if path.is_file() and path.name.endswith(FILE_TYPES) and not path.name.startswith(".")
        ]
        below = [
            # Entries may not have folders in their names, so the path is set after validation.
            ResponseFileParams(file=path.name, layout="lm_eval").model_copy(
                update={"file": path.relative_to(self.place).as_posix()}
            )
            for path in _logs_below(self.place)
        ]
        return sorted([*here, *below], key=lambda spec: spec.file)

    def _load_file(self, spec: ResponseFileParams) -> LoadedFile:
        folders = [self.place] + ([self._mirror] if self._mirror else [])
        looked_in = tuple(str(folder) for folder in folders)
        for folder in folders:
            if (folder / spec.file).is_file():
                return self._load_path(folder / spec.file, spec, looked_in)
        if self._mirror:
            raise InputError(f"responses: {spec.file} is neither in {' nor in '.join(looked_in)}")
        return LoadedFile(spec, None, looked_in)

    def _load_path(
        self, path: Path, spec: ResponseFileParams, looked_in: tuple[str, ...]
    ) -> LoadedFile:
        auto = spec.layout == "auto" and path.name.endswith(".jsonl")
        if spec.layout == "lm_eval" or (auto and is_sample_log(path)):
            log_spec = _log_spec(path, spec)
            return LoadedFile(log_spec, read_samples(path), looked_in, _mappings(self._sources))
        if spec.model is not None:
            raise InputError(
                f"responses: {spec.file} is not a sample log of lm-eval; remove model: {spec.model}"
            )
        return LoadedFile(spec, read_table(path), looked_in)


def _spec(entry: Any, position: int) -> ResponseFileParams:
    return _validated(ResponseFileParams, entry, f"responses[{position}]")


def _validated(kind: type[Params], value: Any, where: str) -> Params:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, (where, *first["loc"])))
        problem = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{place}: {problem}; got {format_value(first['input'])}") from error


def _logs_below(folder: Path) -> Iterator[Path]:
    """Yield sample logs of lm-eval in subfolders, without following links out of the folder."""
    root = folder.resolve()
    for where, folders, files in os.walk(folder):  # does not enter linked folders
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(where, name)
            if (
                path.parent != folder
                and name.startswith("samples_")
                and name.endswith(".jsonl")
                and path.is_file()
                and path.resolve().is_relative_to(root)
            ):
                yield path


def _log_spec(path: Path, spec: ResponseFileParams) -> ResponseFileParams:
    """Complete the entry of a log from its results file, else from its folder."""
    run = read_run(path)
    folder = path.parent.name if "/" in spec.file else None
    model = spec.model or run.model or folder
    if model is None:
        raise InputError(
            f"{path}: unknown model; keep results_<time>.json of the run in the same folder, or "
            f"add {{file: {path.name}, layout: lm_eval, model: <name>}} to the "
            "benchmark's responses"
        )
    shots = spec.shots if spec.shots >= 0 else run.shots
    return spec.model_copy(update={"layout": "lm_eval", "model": model, "shots": shots})


def _mappings(sources: Any) -> tuple[FieldMapping, ...]:
    """Return the field mappings of the benchmark's sources: hub, mirror, local file."""
    if not sources:
        return ()
    valid = _validated(SourcesParams, sources, "sources")
    return tuple(source.fields for source in valid.by_kind().values())


def read_table(path: Path) -> pa.Table:
    """Read the cells of a Parquet, CSV, gzipped CSV or JSON lines file.

    Raises:
        InputError: the file is broken, has another type or encoding, expands too far
            (`EXPANSION`), repeats a column, or has no rows.
    """
    readers = {".parquet": read_parquet, ".jsonl": _read_json_lines}
    with read_errors(path):
        table = readers.get(path.suffix, _read_csv)(path)
    if table.num_rows == 0 or table.num_columns == 0:
        raise InputError(f"{path}: no rows; remove the file or add a row per response")
    return table


def _read_csv(path: Path) -> pa.Table:
    from pyarrow import csv

    with opened(path) as stream:
        content = stream.read()
    if content.count(b'"') % 2:
        raise InputError("unclosed quote; double the quotes inside cells")
    try:
        return _csv_table(content, csv.ReadOptions(block_size=_block(content)))
    except (pa.ArrowInvalid, UnicodeDecodeError):
        utf8_text(content)
        # One thread counts rows, for the error message.
        options = csv.ReadOptions(block_size=_block(content), use_threads=False)
        return _csv_table(content, options)


def _block(content: bytes) -> int:
    # The file is one block, since a cell may be as long as the file.
    return min(max(len(content) + 1, 1 << 20), _LARGEST_BLOCK)


def _csv_table(content: bytes, read: Any) -> pa.Table:
    from pyarrow import csv

    parse = csv.ParseOptions(newlines_in_values=True)
    with csv.open_csv(pa.BufferReader(content), read, parse) as reader:
        names = reader.schema.names
    check_header(names)
    # Type inference would turn "01" into 1 and "NA" into a missing value.
    texts = csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=[""],
    )
    return csv.read_csv(pa.BufferReader(content), read, parse, texts)


def _read_json_lines(path: Path) -> pa.Table:
    rows = json_rows(utf8_text(path.read_bytes()).split("\n"))
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: _json_column([row.get(name) for row in rows]) for name in names})


def _json_column(values: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(values)
    # Mixed types, large numbers and invalid Unicode become text, as in a CSV file.
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        return pa.array([v if v is None else _written(v) for v in values], pa.string())


def _written(value: Any) -> str:
    return ascii_surrogates(value) if isinstance(value, str) else json.dumps(value)
