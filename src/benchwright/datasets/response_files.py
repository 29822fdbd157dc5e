"""Files of recorded responses to one benchmark, read verbatim."""

import json
import logging
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import pyarrow as pa
from pydantic import BaseModel, ValidationError

from benchwright.core.errors import InputError, first_problem
from benchwright.core.progress import progress_bar
from benchwright.core.values import ascii_surrogates, format_value
from benchwright.core.verbatim import listed, read_parquet, read_verbatim
from benchwright.datasets.hub_files import HubFiles
from benchwright.datasets.read_only import ReadOnly
from benchwright.datasets.response_matrix import ResponseMatrixDataset, is_response_matrix
from benchwright.logs.find import Found, find_logs, logs_in
from benchwright.logs.sample import Log
from benchwright.params.benchmark import FieldMapping, SourcesParams
from benchwright.params.responses import TABLE_TYPES, TIDY_COLUMNS, ResponseFileParams

logger = logging.getLogger(__name__)

ITEM_COLUMNS = ("item_id", "content_hash", "question")
VALUE_COLUMNS = ("correct", "score", "prediction", "logprobs")
COMPRESSED = (".json.gz", ".jsonl.gz", ".json.zst", ".jsonl.zst")

_LOCAL = re.compile(r"[/\\~]|\.{1,2}[/\\]|[A-Za-z]:[/\\]")
_CACHED = re.compile(
    r"(?:.*[/\\])?models--(?P<name>[^/\\]+)(?:[/\\]snapshots[/\\](?P<revision>[^/\\]+).*)?"
)
_HASH = re.compile(r"[0-9a-f-]{16,}", re.IGNORECASE)

Params = TypeVar("Params", bound=BaseModel)


@dataclass(frozen=True)
class LoadedFile:
    """A file of responses with its entry in the benchmark's `responses`."""

    spec: ResponseFileParams  # with defaults if the file has no entry
    # Values are verbatim (CSV cells are strings; empty ones are missing). None for a log.
    table: pa.Table | None
    log: Log | None = None
    problem: str = ""  # why the file cannot be used; then there is neither table nor log
    # For a log: the field mappings of the benchmark's sources, the hub's first, as in stock tasks.
    mappings: tuple[FieldMapping, ...] = ()

    @property
    def name(self) -> str:
        """Path of the file in the folder of responses, with the model if it has several logs."""
        return self.spec.file

    @property
    def columns(self) -> dict[str, str]:
        """The standard column names of a tidy file, with their names in this one."""
        renamed: dict[str, str] = {str(ours): name for ours, name in self.spec.columns.items()}
        return {name: renamed.get(name, name) for name in TIDY_COLUMNS}

    @property
    def is_tidy(self) -> bool:
        """Whether there are columns for the model and the item, or for a value of responses."""
        names = self.columns
        present = set() if self.table is None else set(self.table.column_names)
        has_item = not present.isdisjoint(names[name] for name in ITEM_COLUMNS)
        has_value = not present.isdisjoint(names[name] for name in VALUE_COLUMNS)
        return has_value or (has_item and names["model"] in present)

    @property
    def has_answers(self) -> bool:
        """Whether a table is tidy or wide by its columns."""
        names = [] if self.table is None else self.table.column_names
        return "item_id" in names or names[:1] == ["model"] or self.is_tidy


class ResponseFiles(ReadOnly[dict[str, LoadedFile]]):
    """The recorded responses to one benchmark: configured files first, then others in the folder.

    Files are tables (Parquet, CSV, also gzipped, or JSON lines), or logs of evaluation tools, also
    in subfolders. The benchmark's `responses` lists files, and its `sources` define how the source
    rows in logs are read. `folder` is searched first, then `<mirror_root>/responses/`. Datasets of
    the hub are read from `mirror_root`, the hub or its cache.
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
        self._mirror_root = mirror_root or ""
        self._mirror = Path(mirror_root) / "responses" if mirror_root else None

    def load(self) -> dict[str, LoadedFile]:
        """Return every file by name: configured files in their order, then the others by name.

        Raises:
            InputError: an entry of `responses` is invalid, a configured file is neither in the
                folder nor in the mirror, or one of them cannot be read. Other files that cannot be
                read have a `problem`.
        """
        if not isinstance(self._named, list | tuple):
            got = format_value(self._named)
            raise InputError(f"responses: expected a list of files, got {got}")
        configured = [
            _validated(ResponseFileParams, entry, f"responses[{position}]")
            for position, entry in enumerate(self._named)
        ]
        names = [spec.file for spec in configured]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"responses: {name!r} is listed more than once")
        loaded = [file for spec in configured for file in self._load_file(spec)]
        loaded += self._unnamed({(self.place / name).resolve() for name in names})
        return {file.name: file for file in told_apart(loaded)}

    def _unnamed(self, named: set[Path]) -> list[LoadedFile]:
        """Return the logs in the folder and below, and the tables in it, by name."""
        if not self.place.is_dir():
            return []
        mappings = self._mappings()  # a mistake in conf is none of a file
        found = find_logs([self.place])
        tables = [path for path in found.others if path.parent == self.place]
        if below := [path.relative_to(self.place) for path in found.others if path not in tables]:
            logger.warning("%s: not recognised as logs: %s", self.place, listed(below))

        def entry(path: Path) -> ResponseFileParams:
            # Not validated: entries may not have folders in their names.
            name = path.relative_to(self.place).as_posix()
            return ResponseFileParams.model_construct(file=name)

        files, _ = load_found(found._replace(others=tables), entry, tables)
        files = [file for file in files if (self.place / file.name).resolve() not in named]
        for file in files:
            if file.problem:
                logger.warning("%s", file.problem)
        known = (replace(file, mappings=mappings) for file in files)
        return sorted(known, key=lambda file: self.place / file.name)

    def _from_hub(self, spec: ResponseFileParams) -> Iterator[LoadedFile]:
        """Yield the logs of each model in `spec`; a model without any has a `problem`."""
        hub = HubFiles(self._mirror_root)
        with progress_bar("answers from the hub", "model", len(spec.models)) as bar:
            for entry in spec.models:
                model, _, revision = entry.partition("@")
                dataset = str(spec.hub).format(model=model.replace("/", "__"))
                of_model = spec.model_copy(update={"model": model, "file": f"{model}/{spec.file}"})
                try:
                    for path in hub.find(dataset, revision or "main", spec.file):
                        of_file = of_model.model_copy(update={"file": f"{model}/{path.name}"})
                        yield from self._log_at(path, of_file)
                except InputError as error:
                    logger.warning("%s is left out: %s", model, error)
                    yield LoadedFile(of_model, None, problem=str(error))
                bar.update()

    def _load_file(self, spec: ResponseFileParams) -> list[LoadedFile]:
        if spec.hub is not None:
            return list(self._from_hub(spec))
        folders = [self.place] + ([self._mirror] if self._mirror else [])
        path = next((f / spec.file for f in folders if (f / spec.file).is_file()), None)
        where = f"responses: {spec.file}"
        if path is None:
            raise InputError(f"{where} is not in {' and not in '.join(map(str, folders))}")
        if spec.layout in ("auto", "log") and (logs := self._log_at(path, spec)):
            return logs
        if spec.layout == "log":
            raise InputError(f"{where} is not a log that benchwright reads")
        if spec.model is not None:
            raise InputError(f"{where} is not a log; remove model: {spec.model}")
        return [LoadedFile(spec, read_table(path))]

    def _log_at(self, path: Path, spec: ResponseFileParams) -> list[LoadedFile]:
        logs = logs_in(path) or []
        return [replace(log_file(log, spec), mappings=self._mappings()) for log in logs]

    def _mappings(self) -> tuple[FieldMapping, ...]:
        if not self._sources:
            return ()
        sources = _validated(SourcesParams, self._sources, "sources").by_kind()
        return tuple(source.fields for source in sources.values())


def log_file(log: Log, spec: ResponseFileParams) -> LoadedFile:
    """Return a log with its entry, completed by what the log says.

    Raises:
        InputError: the model is unknown.
    """
    name, revision = hub_model(log.model)
    log = replace(log, model=name, revision=log.revision or revision)
    folder = str(log.files[0].parent.absolute()) if "/" in spec.file else ""
    model = spec.model or log.model or folder
    if not model:
        raise InputError(
            f"{log.files[0]}: unknown model; keep the file with the results of the run beside it, "
            f"or add {{file: {log.files[0].name}, layout: log, model: <name>}} to the benchmark's "
            "responses"
        )
    shots = spec.shots if spec.shots >= 0 else log.shots
    completed = spec.model_copy(update={"layout": "log", "model": model, "shots": shots})
    return LoadedFile(completed, None, log=log)


def load_found(
    found: Found, entry: Callable[[Path], ResponseFileParams], stated: Collection[Path]
) -> tuple[list[LoadedFile], list[Path]]:
    """Return the tables and logs of answers that were found, and the other files.

    Tables that are not `stated` are of answers if their columns say so. A file that cannot be used
    has its problem.

    Args:
        found: what was found.
        entry: the settings of a file.
        stated: files that must have answers.
    """
    files, others = [], []
    for path in found.others:
        table = _load_table(path, entry(path))
        if table is not None and (path in stated or table.problem or table.has_answers):
            files.append(table)
        else:
            others.append(path)
    files += [LoadedFile(entry(path), None, problem=why) for path, why in found.unusable]
    for log in found.logs:
        spec = entry(log.files[0])
        try:
            files.append(log_file(log, spec))
        except InputError as error:
            files.append(LoadedFile(spec, None, problem=str(error)))
    return files, others


def _load_table(path: Path, spec: ResponseFileParams) -> LoadedFile | None:
    """Return a table, also that of a saved matrix, or its problem; None for other files."""
    if path.name.endswith(COMPRESSED):
        return LoadedFile(spec, None, problem=f"{path}: compressed; unpack it")
    if not path.name.endswith(TABLE_TYPES):
        return None
    try:
        if not is_response_matrix(path):
            return LoadedFile(spec, read_table(path))
        matrix = ResponseMatrixDataset(filepath=str(path)).load()
    except InputError as error:
        return LoadedFile(spec, None, problem=str(error))
    cells = pd.DataFrame(matrix.correct, matrix.models, matrix.item_ids).rename_axis("model")
    return LoadedFile(spec, pa.Table.from_pandas(cells.reset_index(), preserve_index=False))


def told_apart(files: Sequence[LoadedFile]) -> list[LoadedFile]:
    """Give different names to logs of one file, and to models of several tools or revisions.

    Tools ask in different ways, so answers of one model in two of them are two configurations, and
    two revisions are two models. A local model is named by the end of its path.
    """
    short = short_names({str(file.spec.model) for file in files if file.log is not None})
    tools: dict[str, set[str]] = defaultdict(set)
    revisions: dict[str, set[str]] = defaultdict(set)
    for file in files:
        if file.log is not None:
            tools[short[str(file.spec.model)]].add(file.log.format)
            revisions[short[str(file.spec.model)]] |= {file.log.revision} - {""}
    names: Counter[str] = Counter()
    out = []
    for file in files:
        changes: dict[str, Any] = {}
        model, log = short.get(str(file.spec.model), ""), file.log
        if log is not None:
            changes["model"] = model
            several = len(tools[model]) > 1, len(revisions[model]) > 1
            named = (log.format * several[0], log.revision[:12] * several[1])
            if any(named):
                changes["model"] = f"{model} ({', '.join(filter(None, named))})"
        names[file.name] += 1
        if names[file.name] > 1:
            changes["file"] = f"{file.name} #{names[file.name]}"
        out.append(replace(file, spec=file.spec.model_copy(update=changes)))
    return out


def _validated(kind: type[Params], value: Any, where: str) -> Params:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        got = format_value(error.errors()[0]["input"])
        raise InputError(f"{first_problem(error, where)}; got {got}") from error


def read_table(path: Path) -> pa.Table:
    """Read the cells of a Parquet, CSV, gzipped CSV or JSON lines file.

    Raises:
        InputError: the file is broken, has another type or encoding, is too large, repeats a
            column, or has no rows.
    """
    if path.suffix == ".parquet":
        table = _read_parquet(path)
    else:
        cells = read_verbatim(path)
        cells = cells if path.suffix == ".jsonl" else cells.replace({"": None})
        table = pa.table({str(name): _json_column(cells[name].tolist()) for name in cells})
    if table.num_rows == 0 or table.num_columns == 0:
        raise InputError(f"{path}: no rows; remove the file or add a row per response")
    return table


def _read_parquet(path: Path) -> pa.Table:
    """Read the table with each text once in memory: ids and models repeat."""
    table = read_parquet(path)
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if pa.types.is_string(column.type):
            # Whole, since each part of a column would have a dictionary of its own.
            whole = column.cast(pa.large_string()).combine_chunks().dictionary_encode()
            table = table.set_column(place, name, whole)
    return table


def _json_column(values: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(values)
    # Mixed types, large numbers and invalid Unicode become text, as in a CSV file.
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        texts = [v if isinstance(v, str | None) else json.dumps(v) for v in values]
        return pa.array([v and ascii_surrogates(v) for v in texts], pa.string())


def hub_model(model: str) -> tuple[str, str]:
    """Return name and revision of a model in a cache of the Hugging Face hub, else `model` and "".

    >>> hub_model("/data/hub/models--org--m/snapshots/0123abc")
    ('org/m', '0123abc')
    """
    found = _CACHED.fullmatch(model.rstrip("/\\"))
    if found is None:
        return model, ""
    return found["name"].replace("--", "/", 1), found["revision"] or ""


def short_names(models: Collection[str]) -> dict[str, str]:
    """Return the name of each model: a local path by as many of its last parts as tell it apart.

    Parts that are hashes alone are no name.

    >>> short_names(["/data/a/step-5", "/data/b/step-5", "/data/c", "org/m"])["/data/a/step-5"]
    'a/step-5'
    """
    parts = {model: tuple(re.split(r"[/\\]+", model.strip("/\\"))) for model in models}
    ends = Counter(own[-n:] for own in set(parts.values()) for n in range(1, len(own) + 1))
    names = {}
    for model, own in parts.items():
        lengths = range(1, len(own) + 1) if _LOCAL.match(model) else ()
        clear = (
            own[-n:]
            for n in lengths
            if ends[own[-n:]] == 1 and not all(map(_HASH.fullmatch, own[-n:]))
        )
        names[model] = "/".join(next(clear, ())) or model
    return names
