"""Files of recorded answers of one benchmark, read as they are."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from kedro.io import AbstractDataset, DatasetError
from pydantic import ValidationError

from benchwright.datasets.verbatim import json_rows
from benchwright.errors import InputError
from benchwright.params.responses import FILE_TYPES, ResponseFileParams


@dataclass(frozen=True)
class LoadedFile:
    """A file of answers with what conf says of it.

    Attributes:
        spec: its layout and meaning; guessed where it was found and not named.
        table: its cells, texts verbatim (a CSV's are all strings, an empty one is missing);
            None where the file is absent.
        looked_in: the folders that were searched.
    """

    spec: ResponseFileParams
    table: pa.Table | None
    looked_in: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The bare file name."""
        return self.spec.file


class ResponseFiles(AbstractDataset[None, dict[str, LoadedFile]]):
    """The answers recorded for one benchmark: named files first, then what else lies there.

    Read-only. Parquet, CSV (also gzipped) and JSON lines; pickle is never read.
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
        benchmark: the benchmark's whole file; its list `responses` names files.
        folder: where files are looked for first, and where unnamed ones are picked up.
        mirror_root: `<mirror_root>/responses/` is searched next; "" for none.
        metadata: for kedro-viz.
        """
        self._named = benchmark.get("responses") or []
        self._folder = Path(folder)
        self._mirror = Path(mirror_root) / "responses" if mirror_root else None
        self.metadata = metadata

    def load(self) -> dict[str, LoadedFile]:
        """Every file by name: the named in their order, then the others by name.

        Raises:
            InputError: an entry of `responses` is not valid, a named file is absent although a
                mirror is given, or a file cannot be read.
        """
        named = [_spec(entry, position) for position, entry in enumerate(self._named)]
        names = [spec.file for spec in named]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"responses: {name!r} is named twice; name each file once")
        found = [
            ResponseFileParams(file=path.name)
            for path in self._in_folder()
            if path.name not in names
        ]
        return {spec.file: self._load_file(spec) for spec in [*named, *found]}

    def _in_folder(self) -> list[Path]:
        if not self._folder.is_dir():
            return []
        return sorted(
            path
            for path in self._folder.iterdir()
            if path.is_file() and path.name.endswith(FILE_TYPES) and not path.name.startswith(".")
        )

    def _load_file(self, spec: ResponseFileParams) -> LoadedFile:
        folders = [self._folder] + ([self._mirror] if self._mirror else [])
        looked_in = tuple(str(folder) for folder in folders)
        for folder in folders:
            if (folder / spec.file).is_file():
                return LoadedFile(spec, read_table(folder / spec.file), looked_in)
        if self._mirror:
            raise InputError(f"responses: {spec.file} is neither in {' nor in '.join(looked_in)}")
        return LoadedFile(spec, None, looked_in)

    def save(self, data: None) -> None:
        """Refused: these files are the user's."""
        raise DatasetError(f"{self._folder} is only read")

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"folder": str(self._folder), "mirror": str(self._mirror or "")}


def _spec(entry: Any, position: int) -> ResponseFileParams:
    try:
        return ResponseFileParams.model_validate(entry)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"responses[{position}]{'.' if where else ''}{where}: {first['msg']}; "
            f"seen {first['input']!r}"
        ) from error


def read_table(path: Path) -> pa.Table:
    """The cells of a Parquet, CSV, gzipped CSV or JSON lines file.

    Raises:
        InputError: the file is torn, not of its type, not UTF-8, or has no rows.
    """
    try:
        table = _reader(path)(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: cannot be read: {' '.join(str(error).split())}") from error
    if table.num_rows == 0 or table.num_columns == 0:
        raise InputError(f"{path}: has no rows; remove it or give one row per answer")
    return table


def _reader(path: Path) -> Any:
    if path.name.endswith(".parquet"):
        return _read_parquet
    return _read_json_lines if path.name.endswith(".jsonl") else _read_csv


def _read_parquet(path: Path) -> pa.Table:
    import pyarrow.parquet as pq

    # ParquetFile, not read_table: a folder named `model=x` must not become a column.
    with pq.ParquetFile(path) as file:
        return file.read()


def _read_csv(path: Path) -> pa.Table:
    from pyarrow import csv

    parse = csv.ParseOptions(newlines_in_values=True)
    with csv.open_csv(path, parse_options=parse) as reader:
        names = reader.schema.names
    # All text: a type guessed from the first rows turns "01" into 1 and "NA" into nothing.
    texts = csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=[""],
    )
    return csv.read_csv(path, parse_options=parse, convert_options=texts)


def _read_json_lines(path: Path) -> pa.Table:
    with path.open(encoding="utf-8-sig", newline="\n") as lines:
        try:
            rows = json_rows(lines)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: _json_column([row.get(name) for row in rows]) for name in names})


def _json_column(values: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # mixed types: as text, like a CSV
        return pa.array(
            [v if v is None or isinstance(v, str) else json.dumps(v) for v in values], pa.string()
        )
