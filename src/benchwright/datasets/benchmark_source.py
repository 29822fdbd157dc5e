"""The rows of a benchmark from its source: a mirror, a local file, or the hub.

For a copy in the hub's layout, the library `datasets` only tells which files make a split. Its
readers guess types, cast to the card's types, and cache by the card's patterns, so that they
confuse copies of two benchmarks.
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from pydantic import ValidationError

from benchwright.core.errors import InputError, first_problem, in_short
from benchwright.core.verbatim import listed, no_rows, read_verbatim, verbatim_table
from benchwright.datasets.read_only import ReadOnly
from benchwright.ingestion.hub_files import copy_of
from benchwright.params.benchmark import (
    ADDED_COLUMNS,
    CONFIG_COLUMN,
    SPLIT_COLUMN,
    SUBJECT_COLUMN,
    BenchmarkParams,
    FileSource,
    HubSource,
    SourceKind,
    SplitName,
)

_ADVICE = "a copy needs the hub's card, README.md"


class _Read(NamedTuple):
    frame: pd.DataFrame
    origin: str
    splits: list[str]  # all splits of the source, in its spelling


class BenchmarkSource(ReadOnly[pd.DataFrame]):
    """A benchmark's rows, texts verbatim, from its first available source.

    The sources are the mirror (`<mirror_root>/benchmarks/<file>`, if `mirror_root` is set), a local
    file in `raw_folder`, and the hub, or its copy `<mirror_root>/<owner>/<name>`. Columns are as in
    the source (all CSV cells are text), with `_split` (canonical), `_config` (of the hub) and
    `_subject` (from a split's name); the index is the position in the source. The rows are those of
    splits that the benchmark uses, or that are unknown, which ingestion rejects. A local source's
    `folder` is below `data_root`, by default the root of `raw_folder`.
    """

    def __init__(
        self,
        *,
        benchmark: dict[str, Any],
        raw_folder: str,
        mirror_root: str = "",
        data_root: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(raw_folder, metadata=metadata)
        self._benchmark = benchmark
        self._mirror_root = mirror_root or ""
        self._data_root = Path(data_root) if data_root else self.place.parent.parent

    def load(self) -> pd.DataFrame:
        """Return the rows of the splits in use.

        Raises:
            DatasetError: caused by an InputError that names the missing file, column or split and
                the existing ones, or alternatives to the hub.
        """
        benchmark = self._params()
        kind, source, folder = self._chosen(benchmark)
        if isinstance(source, HubSource):
            copy = copy_of(source.id, self._mirror_root)
            copy = Path(source.id) if copy is None and Path(source.id).is_dir() else copy
            frame, origin, source_splits = _read_hub(benchmark, source, copy)
        else:
            missing = _missing(source, folder)
            if missing and source.made_by is not None:
                raise InputError(
                    f"{missing[0]} is missing; create it in the same data_root with kedro run "
                    f"--pipeline {source.made_by} --params benchmark={benchmark.name}"
                )
            frame, origin, source_splits = _read_files(benchmark, source, folder)
        if frame.empty and {*source_splits} <= {*benchmark.splits.evaluation}:
            raise InputError(f"{origin}: the file has no rows")
        counts = frame[SPLIT_COLUMN].value_counts()
        if not any(split in counts for split in benchmark.splits.evaluation):
            raise InputError(
                f"{origin}: no row of split {listed(benchmark.splits.evaluation)}, which benchmark "
                f"{benchmark.name} evaluates; the source has {listed(dict.fromkeys(source_splits))}"
            )
        _require_columns(frame, source.fields.columns(), origin)
        frame.attrs["source"] = {
            "kind": kind,
            "origin": origin,
            "rows": len(frame),
            "rows_by_split": {str(split): int(count) for split, count in counts.items()},
        }
        return frame

    def _params(self) -> BenchmarkParams:
        try:
            return BenchmarkParams.model_validate(self._benchmark)
        except ValidationError as error:
            name = self._benchmark.get("name")
            raise InputError(f"benchmark {name!r}: {first_problem(error)}") from error

    def _chosen(
        self, benchmark: BenchmarkParams
    ) -> tuple[SourceKind, HubSource | FileSource, Path]:
        """Return the first source that is available, and the folder of its files."""
        sources = benchmark.sources
        mirror, local, hub = sources.mirror, sources.local, sources.hub
        if self._mirror_root and mirror is not None:
            return "mirror", mirror, Path(self._mirror_root) / "benchmarks"
        if local is not None:
            folder = self.place if local.folder is None else self._data_root / local.folder
            if hub is None or not _missing(local, folder):
                return "local", local, folder
        if hub is not None:
            return "hub", hub, self.place
        raise InputError(
            f"benchmark {benchmark.name} needs {listed(mirror.names() if mirror else ())}; set the "
            "folder above benchmarks/ with --params mirror_root=…"
        )

    def _exists(self) -> bool:
        _, source, folder = self._chosen(self._params())
        # Only a request shows whether the hub is available.
        return isinstance(source, HubSource) or not _missing(source, folder)


def _missing(source: FileSource, folder: Path) -> list[Path]:
    return [folder / name for name in source.names() if not (folder / name).is_file()]


def _require_columns(frame: pd.DataFrame, wanted: Iterable[str], origin: str) -> None:
    columns = [name for name in frame.columns if name not in ADDED_COLUMNS]
    for name in wanted:
        if name not in frame.columns and name.split(".")[0] not in frame.columns:
            raise InputError(f"{origin}: no column {name!r}; it has {listed(columns)}")


def _read_files(benchmark: BenchmarkParams, source: FileSource, folder: Path) -> _Read:
    used = benchmark.splits.used()
    if source.file is None:
        files = {split: folder / name for split, name in source.files.items() if split in used}
        frames = []
        for split, path in files.items():
            frames.append(read_verbatim(path).assign(**{SPLIT_COLUMN: split}))
        return _Read(_stacked(frames), listed(files.values()), list(source.files))
    path = folder / source.file
    frame = read_verbatim(path)
    if source.all_rows is not None:
        return _Read(frame.assign(**{SPLIT_COLUMN: source.all_rows}), str(path), [source.all_rows])
    _require_columns(frame, [str(source.split_column)], str(path))
    known: dict[str, SplitName | None] = {}
    splits: list[str | None] = []
    subjects: list[str | None] = []
    kept: list[bool] = []
    for cell in frame[source.split_column]:
        name = None
        if isinstance(cell, str):
            if cell not in known:
                known[cell] = source.split_name(cell)
            name = known[cell]
        if name is None:  # ingestion rejects the row
            splits.append(cell if isinstance(cell, str | None) else repr(cell))
            subjects.append(None)
            kept.append(True)
        else:
            splits.append(name.split)
            subjects.append(name.subject)
            kept.append(name.split in used)
    frame[SPLIT_COLUMN] = pd.Series(splits, dtype=object)
    if any(subjects):
        frame[SUBJECT_COLUMN] = pd.Series(subjects, dtype=object)
    return _Read(frame[kept], str(path), sorted(known))


def _stacked(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True) if frames else no_rows([SPLIT_COLUMN])


def _read_hub(benchmark: BenchmarkParams, source: HubSource, copy: Path | None) -> _Read:
    """Read the splits in use from every configuration, of the copy if there is one."""
    frames = []
    spellings: list[str] = []
    for config in source.configs or (None,):
        if copy is None:
            splits = _splits_of_the_hub(benchmark, source, config)
        else:
            files = split_files(copy, config)
            splits = {split: partial(read_copied, paths) for split, paths in files.items()}
        for spelling, read in splits.items():
            spellings.append(spelling)
            name = source.split_name(spelling)
            if name is None or name.split not in benchmark.splits.used():
                continue
            rows = read().assign(**{SPLIT_COLUMN: name.split})
            if config is not None:
                rows[CONFIG_COLUMN] = config
            if name.subject is not None:
                rows[SUBJECT_COLUMN] = name.subject
            frames.append(rows)
    return _Read(_stacked(frames), source.id if copy is None else str(copy), spellings)


def _splits_of_the_hub(
    benchmark: BenchmarkParams, source: HubSource, config: str | None
) -> dict[str, Callable[[], pd.DataFrame]]:
    import datasets

    try:
        loaded = datasets.load_dataset(source.id, name=config, revision=source.revision)
    except Exception as error:
        part = "" if config is None else f" (configuration {config})"
        local = benchmark.sources.local
        files = f", or {listed(local.names())} into 01_raw/{benchmark.name}" if local else ""
        raise InputError(
            f"{source.id}{part} could not be read: {in_short(error)}; without the hub, put a copy "
            f"of the dataset into FOLDER/{source.id} and set --params mirror_root=FOLDER{files}"
        ) from error
    return {
        str(split): partial(lambda rows: verbatim_table(rows[:]), rows)
        for split, rows in loaded.items()
    }


def split_files(copy: Path, config: str | None) -> dict[str, list[Path]]:
    """Return the files of one configuration (None: the default one) by split.

    `datasets` finds them by the card, or by their names: `data/test-00000-of-00001.parquet`.

    Raises:
        InputError: the card cannot be read, or has no such configuration, or there is no split.
    """
    import datasets

    try:
        with tempfile.TemporaryDirectory() as scratch:  # for the lock that `datasets` leaves
            builder = datasets.load_dataset_builder(str(copy), name=config, cache_dir=scratch)
    except Exception as error:  # `datasets` raises many kinds of errors
        raise InputError(f"{copy}: cannot be read: {in_short(error)}; {_ADVICE}") from error
    files: Mapping[Any, Iterable[str]] = builder.config.data_files or {}
    return {str(split): [Path(str(path)) for path in paths] for split, paths in files.items()}


def read_copied(files: Sequence[Path]) -> pd.DataFrame:
    """Read the rows of a split's files, cells as objects.

    A column that a file lacks is None in its rows. InputError as in `read_verbatim`.
    """
    tables = [read_verbatim(path) for path in files]
    columns: dict[str, list[Any]] = {str(name): [] for table in tables for name in table.columns}
    for table in tables:
        for name, cells in columns.items():
            cells.extend(table[name] if name in table else repeat(None, len(table)))
    return verbatim_table(columns)
