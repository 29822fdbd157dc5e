"""Files of recorded answers of one benchmark, read verbatim."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from pydantic import BaseModel, ValidationError

from benchwright.core.errors import InputError
from benchwright.datasets.lm_eval_samples import is_sample_log, read_run, read_samples
from benchwright.datasets.read_only import ReadOnly
from benchwright.datasets.verbatim import (
    json_rows,
    opened,
    read_errors,
    read_parquet,
    require_columns_apart,
    utf8_text,
)
from benchwright.params.benchmark import FieldMapping, SourcesParams
from benchwright.params.responses import FILE_TYPES, ResponseFileParams
from benchwright.source_rows.fields import ascii_surrogates, format_value

_LARGEST_BLOCK = 1 << 30
Params = TypeVar("Params", bound=BaseModel)


@dataclass(frozen=True)
class LoadedFile:
    """A file of answers with its entry in conf."""

    spec: ResponseFileParams  # guessed if conf does not name the file
    # Texts verbatim (a CSV's are all strings, an empty one is missing), of a log of lm-eval the
    # columns of `datasets.lm_eval_samples.SAMPLES`; None if the file is absent.
    table: pa.Table | None
    looked_in: tuple[str, ...] = ()  # the folders that were searched
    # Of a log: how the benchmark's sources are read, the hub's first, whose rows a stock task has.
    mappings: tuple[FieldMapping, ...] = ()

    @property
    def name(self) -> str:
        """Path of the file below the folder of answers."""
        return self.spec.file


class ResponseFiles(ReadOnly[dict[str, LoadedFile]]):
    """The answers recorded for one benchmark: files named in conf first, then others in the folder.

    Read are Parquet, CSV (also gzipped) and JSON lines, never pickle; and sample logs of lm-eval,
    also in folders below, where it writes them. The list `responses` of the benchmark's file names
    files, its `sources` say how a row of a task of lm-eval is read. `folder` is searched first,
    then `<mirror_root>/responses/`.
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
        """Return every file by name: those named in conf in their order, then the others by name.

        Raises:
            InputError: an entry of `responses` is not valid, a named file is absent although a
                mirror is given, a file cannot be read, or a log does not name its model.
        """
        if not isinstance(self._named, list | tuple):
            raise InputError(
                f"responses: expected a list of files, got {format_value(self._named)}"
            )
        named = [_spec(entry, position) for position, entry in enumerate(self._named)]
        names = [spec.file for spec in named]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"responses: {name!r} is named twice; name each file once")
        others = [spec for spec in self._unnamed() if spec.file not in names]
        return {spec.file: self._load_file(spec) for spec in [*named, *others]}

    def _unnamed(self) -> list[ResponseFileParams]:
        """Return files that are in the folder, and logs in folders below it, by name."""
        if not self.place.is_dir():
            return []
        here = [
            ResponseFileParams(file=path.name)
            for path in self.place.iterdir()
            if path.is_file() and path.name.endswith(FILE_TYPES) and not path.name.startswith(".")
        ]
        below = [
            # A name with folders is not for conf to give, so it is set after the others are valid.
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
                f"responses: {spec.file} is not a sample log of lm-eval; omit model: {spec.model}"
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
        raise InputError(f"{place}: {first['msg']}; got {format_value(first['input'])}") from error


def _logs_below(folder: Path) -> Iterator[Path]:
    """Yield sample logs of lm-eval in folders below; no link is followed out of the folder."""
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
    """Complete the entry of a log from the results beside it, else from its folder."""
    run = read_run(path)
    folder = path.parent.name if "/" in spec.file else None
    model = spec.model or run.model or folder
    if model is None:
        raise InputError(
            f"{path}: does not name its model; keep results_<time>.json of the same run beside "
            f"it, or add {{file: {path.name}, layout: lm_eval, model: <name>}} to the "
            "benchmark's responses"
        )
    shots = spec.shots if spec.shots >= 0 else run.shots
    return spec.model_copy(update={"layout": "lm_eval", "model": model, "shots": shots})


def _mappings(sources: Any) -> tuple[FieldMapping, ...]:
    """Return how rows of the benchmark's sources are read: hub, mirror, local file."""
    if not sources:
        return ()
    valid = _validated(SourcesParams, sources, "sources")
    return tuple(source.fields for source in valid.by_kind().values())


def read_table(path: Path) -> pa.Table:
    """Read the cells of a Parquet, CSV, gzipped CSV or JSON lines file.

    Raises:
        InputError: the file is broken, not of its type, not UTF-8, too large (`EXPANSION`), has a
            column twice, or has no rows.
    """
    readers = {".parquet": read_parquet, ".jsonl": _read_json_lines}
    with read_errors(path):
        table = readers.get(path.suffix, _read_csv)(path)
    if table.num_rows == 0 or table.num_columns == 0:
        raise InputError(f"{path}: has no rows; remove the file or add one row per answer")
    return table


def _read_csv(path: Path) -> pa.Table:
    from pyarrow import csv

    with opened(path) as stream:
        content = stream.read()
    if content.count(b'"') % 2:
        raise InputError("a quote is not closed; write a quote inside a cell twice")
    try:
        return _csv_table(content, csv.ReadOptions(block_size=_block(content)))
    except (pa.ArrowInvalid, UnicodeDecodeError):
        utf8_text(content)
        # Read again in one thread, which counts rows.
        options = csv.ReadOptions(block_size=_block(content), use_threads=False)
        return _csv_table(content, options)


def _block(content: bytes) -> int:
    # All bytes are parsed at once, since a cell may be as long as the file.
    return min(max(len(content) + 1, 1 << 20), _LARGEST_BLOCK)


def _csv_table(content: bytes, read: Any) -> pa.Table:
    from pyarrow import csv

    parse = csv.ParseOptions(newlines_in_values=True)
    with csv.open_csv(pa.BufferReader(content), read, parse) as reader:
        names = reader.schema.names
    require_columns_apart(names)
    # Types guessed from the first rows would turn "01" into 1 and "NA" into a gap.
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
    # Mixed types, too large numbers and text that no file can hold become text, as in a CSV.
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        return pa.array([v if v is None else _written(v) for v in values], pa.string())


def _written(value: Any) -> str:
    return ascii_surrogates(value) if isinstance(value, str) else json.dumps(value)
