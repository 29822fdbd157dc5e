"""Files of recorded answers of one benchmark, read as they are."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from benchwright.core.errors import InputError
from benchwright.datasets.lm_eval_samples import is_sample_log, read_run, read_samples
from benchwright.datasets.read_only import ReadOnly
from benchwright.datasets.unpacked import opened, read_parquet, told_broken, utf8_text
from benchwright.datasets.verbatim import json_rows, require_columns_apart
from benchwright.params.benchmark import FieldMapping, SourcesParams
from benchwright.params.responses import FILE_TYPES, ResponseFileParams
from benchwright.source_rows.fields import ascii_surrogates, shown

_LARGEST_BLOCK = 1 << 30


@dataclass(frozen=True)
class LoadedFile:
    """A file of answers with what conf says of it.

    Attributes:
        spec: its layout and meaning; guessed where it was found and not named. Of a log of lm-eval
            with the model's name and, where known, the shots.
        table: its cells, texts verbatim (a CSV's are all strings, an empty one is missing);
            None where the file is absent. Of a log of lm-eval the columns of
            `datasets.lm_eval_samples.SAMPLES`.
        looked_in: the folders that were searched.
        mappings: of a log of lm-eval: how the benchmark's sources are read, the hub's first, since
            the rows of a stock task are those of the hub.
    """

    spec: ResponseFileParams
    table: pa.Table | None
    looked_in: tuple[str, ...] = ()
    mappings: tuple[FieldMapping, ...] = ()

    @property
    def name(self) -> str:
        """The file's name, after its folders below the folder of answers, if it lies in some."""
        return self.spec.file


class ResponseFiles(ReadOnly[dict[str, LoadedFile]]):
    """The answers recorded for one benchmark: named files first, then what else lies there.

    Read-only. Parquet, CSV (also gzipped) and JSON lines; pickle is never read. Logs of samples of
    lm-eval are found in folders below too, where it writes them.
    """

    def __init__(
        self,
        *,
        benchmark: dict[str, Any],
        folder: str,
        mirror_root: str | None = "",
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Args:
        benchmark: the benchmark's whole file; its list `responses` names files, its `sources` say
            how a row of a task of lm-eval is read.
        folder: where files are looked for first, and where unnamed ones are picked up.
        mirror_root: `<mirror_root>/responses/` is searched next; "" for none.
        metadata: for kedro-viz.
        """
        self._named = benchmark.get("responses") or []
        self._sources = benchmark.get("sources")
        super().__init__(folder, metadata)
        self._mirror = Path(mirror_root) / "responses" if mirror_root else None

    def load(self) -> dict[str, LoadedFile]:
        """Every file by name: the named in their order, then the others by name.

        Raises:
            InputError: an entry of `responses` is not valid, a named file is absent although a
                mirror is given, a file cannot be read, or a log does not say its model.
        """
        if not isinstance(self._named, list | tuple):
            raise InputError(f"responses is {shown(self._named)}; a list of files is accepted")
        named = [_spec(entry, position) for position, entry in enumerate(self._named)]
        names = [spec.file for spec in named]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"responses: {name!r} is named twice; name each file once")
        found = [spec for spec in self._found() if spec.file not in names]
        return {spec.file: self._load_file(spec) for spec in [*named, *found]}

    def _found(self) -> list[ResponseFileParams]:
        """Files that nobody named, by name: those in the folder, and logs in folders below it."""
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
            told = _log_spec(path, spec)
            return LoadedFile(told, read_samples(path), looked_in, _mappings(self._sources))
        if spec.model is not None:
            raise InputError(
                f"responses: {spec.file} is no sample log of lm-eval; only these take model: "
                f"{spec.model}"
            )
        return LoadedFile(spec, read_table(path), looked_in)


def _spec(entry: Any, position: int) -> ResponseFileParams:
    try:
        return ResponseFileParams.model_validate(entry)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"responses[{position}]{'.' if where else ''}{where}: {first['msg']}; "
            f"seen {shown(first['input'])}"
        ) from error


def _logs_below(folder: Path) -> Iterator[Path]:
    """Sample logs of lm-eval in folders below; no link is followed out of the folder."""
    root = folder.resolve()
    for where, folders, files in os.walk(folder):  # which does not go into linked folders
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
    """What is known of a log: from conf, else from the results beside it, else from its folder."""
    run = read_run(path)
    folder = path.parent.name if "/" in spec.file else None
    model = spec.model or run.model or folder
    if model is None:
        raise InputError(
            f"{path}: does not say its model; keep results_<time>.json of the same run beside it, "
            f"or add {{file: {path.name}, layout: lm_eval, model: <name>}} to the benchmark's "
            "responses"
        )
    shots = spec.shots if spec.shots >= 0 else run.shots
    return spec.model_copy(update={"layout": "lm_eval", "model": model, "shots": shots})


def _mappings(sources: Any) -> tuple[FieldMapping, ...]:
    """How rows of the benchmark's sources are read: the hub's, the mirror's, a local file's."""
    if not sources:
        return ()
    try:
        valid = SourcesParams.model_validate(sources)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"sources.{where}: {first['msg']}; seen {shown(first['input'])}"
        ) from error
    return tuple(source.fields for source in valid.by_kind().values())


def read_table(path: Path) -> pa.Table:
    """The cells of a Parquet, CSV, gzipped CSV or JSON lines file.

    Raises:
        InputError: the file is torn, not of its type, not UTF-8, holds far more than its size
            (`datasets.unpacked`), has a column twice, or has no rows.
    """
    readers = {".parquet": read_parquet, ".jsonl": _read_json_lines}
    with told_broken(path):
        table = readers.get(path.suffix, _read_csv)(path)
    if table.num_rows == 0 or table.num_columns == 0:
        raise InputError(f"{path}: has no rows; remove it or give one row per answer")
    return table


def _read_csv(path: Path) -> pa.Table:
    from pyarrow import csv

    with opened(path) as stream:
        content = stream.read()
    if content.count(b'"') % 2:
        raise InputError("a quote is not closed: an odd number of them; write one in a cell twice")
    try:
        return _csv_table(content, csv.ReadOptions(block_size=_block(content)))
    except (pa.ArrowInvalid, UnicodeDecodeError):
        utf8_text(content)
        # Read again in one thread, which counts rows.
        options = csv.ReadOptions(block_size=_block(content), use_threads=False)
        return _csv_table(content, options)


def _block(content: bytes) -> int:
    """Bytes that are parsed at once: all, since a cell may be as long as the file."""
    return min(max(len(content) + 1, 1 << 20), _LARGEST_BLOCK)


def _csv_table(content: bytes, read: Any) -> pa.Table:
    from pyarrow import csv

    parse = csv.ParseOptions(newlines_in_values=True)
    with csv.open_csv(pa.BufferReader(content), read, parse) as reader:
        names = reader.schema.names
    require_columns_apart(names)
    # All text: a type guessed from the first rows turns "01" into 1 and "NA" into nothing.
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
    # Mixed types, numbers beyond any column, text that no file can hold: as text, like a CSV.
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        return pa.array([v if v is None else _written(v) for v in values], pa.string())


def _written(value: Any) -> str:
    return ascii_surrogates(value) if isinstance(value, str) else json.dumps(value)
