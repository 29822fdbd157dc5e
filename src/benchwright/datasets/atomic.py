"""Kedro datasets that write atomically, so that killed runs leave no partial files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from textwrap import shorten
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from kedro.io import DatasetError, Version
from kedro_datasets._typing import TablePreview
from kedro_datasets.json import JSONDataset
from kedro_datasets.pandas import ParquetDataset
from kedro_datasets.plotly import JSONDataset as PlotlyJSONDataset
from kedro_datasets.text import TextDataset

from benchwright.core.atomic_files import folder_aside, written_aside
from benchwright.core.errors import InputError
from benchwright.core.kedro_internals import (
    LocalFile,
    loaded_from,
    open_loaded,
    wrap_local_file_system,
)
from benchwright.core.verbatim import BROKEN


class AsideFileSystem:
    """A local fsspec file system whose files appear only when completely written."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def __getattr__(self, name: str) -> Any:
        if name == "_wrapped":  # missing while unpickling
            raise AttributeError(name)
        return getattr(self._wrapped, name)

    @contextmanager
    def open(self, path: str, mode: str = "rb", **arguments: Any) -> Iterator[Any]:
        """Open a file as fsspec does; a written file replaces the old one when it is closed."""
        if "w" not in mode:
            with self._wrapped.open(path, mode=mode, **arguments) as stream:
                yield stream
            return
        with (
            written_aside(path) as aside,
            self._wrapped.open(str(aside), mode=mode, **arguments) as stream,
        ):
            yield stream


class _WritesAside:
    """A mix-in that writes local files through `AsideFileSystem` and names broken ones."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        wrap_local_file_system(self, AsideFileSystem)

    def load(self) -> Any:
        """Return the content; InputError if the file is incomplete or of another format."""
        try:
            return super().load()  # type: ignore[misc]
        except DatasetError as error:
            cause, file = error.__cause__, loaded_from(self)
            if not isinstance(cause, BROKEN) or file is None or not file.is_file():
                raise
            what = " ".join(str(cause).split())[:200] or type(cause).__name__
            raise InputError(
                f"{file}: cannot be read: {what}; remove it, or run again what made it"
            ) from cause


def _preview_cell(value: Any) -> bool | int | float | str | None:
    if value is None or value != value:  # noqa: PLR0124 (NaN)
        return None
    return value if isinstance(value, bool | int | float) else shorten(str(value), 200)


class ParquetTable(_WritesAside, ParquetDataset):
    """A table in one Parquet file.

    With `keep` it is read once in a run and then shared, for a table that many nodes read.
    """

    def __init__(self, *, keep: bool = False, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._keep = keep
        self._kept: Any = None

    def load(self) -> Any:
        """Return the table."""
        if self._kept is None:
            table = super().load()
            if not self._keep:
                return table
            self._kept = _numbers_shared(table)
        return self._kept.copy(deep=False)  # a node's changes are its own

    def save(self, data: Any) -> None:
        """Write the table atomically."""
        self.let_go()
        super().save(data)

    def let_go(self) -> None:
        """Read the table again when it is next loaded."""
        self._kept = None

    def _release(self) -> None:
        self.let_go()
        super()._release()

    def preview(self, nrows: int = 5) -> TablePreview:
        """Return the first rows for Kedro-Viz, with lists and long texts shortened."""
        import pyarrow.parquet as pq

        with open_loaded(self) as stream:
            file = pq.ParquetFile(stream)
            first = next(file.iter_batches(batch_size=nrows), None)
            rows = first.to_pylist() if first is not None else []
            names = file.schema_arrow.names
        data = [[_preview_cell(row[name]) for name in names] for row in rows]
        return TablePreview({"index": list(range(len(data))), "columns": names, "data": data})


def _numbers_shared(table: pd.DataFrame) -> pd.DataFrame:
    """Let equal lists of numbers be one object: a small array takes more than 100 bytes."""
    for name in table.select_dtypes("object"):
        known: dict[bytes, Any] = {}
        if all(getattr(cell, "dtype", None) == np.int64 for cell in table[name]):
            cells = [known.setdefault(cell.tobytes(), cell) for cell in table[name]]
            for cell in known.values():
                cell.flags.writeable = False
            table[name] = pd.Series(cells, index=table.index, dtype=object)
    return table


class JsonDocument(_WritesAside, JSONDataset):
    """A JSON document."""


class PlotlyJson(_WritesAside, PlotlyJSONDataset):
    """A Plotly plot as JSON, shown by kedro-viz."""


class TextFile(_WritesAside, TextDataset):
    """A text file in UTF-8, in any locale."""

    DEFAULT_FS_ARGS: ClassVar[dict[str, Any]] = {
        "open_args_save": {"mode": "w", "encoding": "utf-8", "newline": "\n"},
        "open_args_load": {"mode": "r", "encoding": "utf-8", "newline": ""},
    }


class SealedFolder(LocalFile[Mapping[str, bytes]]):
    """The files of a sealed benchmark as bytes, in `<folder>/<version>/<name of the folder>/`."""

    content_name = "sealed benchmarks"

    def __init__(
        self, *, folder: str, version: Version | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        super().__init__(filepath=folder, version=version, metadata=metadata)

    def load(self) -> dict[str, bytes]:
        """Return the files by name."""
        return {path.name: path.read_bytes() for path in sorted(self.load_path().iterdir())}

    def save(self, data: Mapping[str, bytes]) -> None:
        """Write all files atomically.

        Raises:
            InputError: the disk is full, or the folder cannot be written.
        """
        with folder_aside(self.save_path()) as aside:
            for name, content in data.items():
                (aside / name).write_bytes(content)
