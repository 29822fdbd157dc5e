"""Kedro datasets that write atomically, so that killed runs leave no partial files."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from textwrap import shorten
from typing import Any, ClassVar

from fsspec.implementations.local import LocalFileSystem
from kedro.io import DatasetError
from kedro_datasets._typing import TablePreview
from kedro_datasets.json import JSONDataset
from kedro_datasets.pandas import ParquetDataset
from kedro_datasets.plotly import JSONDataset as PlotlyJSONDataset
from kedro_datasets.text import TextDataset

from benchwright.core.atomic_files import folder_aside, written_aside
from benchwright.core.errors import InputError, in_short
from benchwright.core.kedro_internals import (
    LocalFile,
    loaded_from,
    open_loaded,
    wrap_local_file_system,
)
from benchwright.core.verbatim import BROKEN

_LOCAL = LocalFileSystem(auto_mkdir=True)


class AtomicFileSystem(LocalFileSystem):
    """The local file system; a written file replaces the old one when it is closed."""

    @contextmanager
    def open(self, path: str, mode: str = "rb", **arguments: Any) -> Iterator[Any]:
        """Open a file as fsspec does."""
        if "w" not in mode:
            with _LOCAL.open(path, mode=mode, **arguments) as stream:
                yield stream
            return
        with (
            written_aside(path) as aside,
            _LOCAL.open(str(aside), mode=mode, **arguments) as stream,
        ):
            yield stream


class _WritesAside:
    """A mix-in that writes local files through `AtomicFileSystem` and names broken ones."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        wrap_local_file_system(self, lambda _: AtomicFileSystem(auto_mkdir=True))

    def load(self) -> Any:
        """Return the content; InputError if the file is incomplete or of another format."""
        try:
            return super().load()  # type: ignore[misc]
        except DatasetError as error:
            cause, file = error.__cause__, loaded_from(self)
            if not isinstance(cause, BROKEN) or file is None or not file.is_file():
                raise
            raise InputError(
                f"{file}: cannot be read: {in_short(cause)}; remove it, or run again what made it"
            ) from cause


def _preview_cell(value: Any) -> bool | int | float | str | None:
    if value is None or value != value:  # noqa: PLR0124 (NaN)
        return None
    return value if isinstance(value, bool | int | float) else shorten(str(value), 200)


class ParquetTable(_WritesAside, ParquetDataset):
    """A table in one Parquet file."""

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


class JsonDocument(_WritesAside, JSONDataset):
    """A JSON document."""


class PlotlyJson(_WritesAside, PlotlyJSONDataset):
    """A plot as Plotly's JSON, shown by kedro-viz."""

    def load(self) -> Any:
        """Return the plot as plain JSON."""
        return json.loads(super().load().to_json())

    def save(self, data: Any) -> None:
        """Check and write a plot."""
        import plotly.graph_objects as go

        super().save(go.Figure(data))


class TextFile(_WritesAside, TextDataset):
    """A text file in UTF-8, in any locale."""

    DEFAULT_FS_ARGS: ClassVar[dict[str, Any]] = {
        "open_args_save": {"mode": "w", "encoding": "utf-8", "newline": "\n"},
        "open_args_load": {"mode": "r", "encoding": "utf-8", "newline": ""},
    }


class SealedFolder(LocalFile[Mapping[str, bytes]]):
    """The files of a sealed benchmark as bytes, in `<filepath>/<version>/<its name>/`."""

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
