"""Kedro's datasets, writing aside and renaming: a killed run never leaves half a file."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kedro_datasets.json import JSONDataset
from kedro_datasets.pandas import CSVDataset, ParquetDataset
from kedro_datasets.plotly import JSONDataset as PlotlyJSONDataset
from kedro_datasets.text import TextDataset


@contextmanager
def written_aside(target: str | Path) -> Iterator[Path]:
    """A temporary path beside `target` that becomes it when the block ends without an error."""
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        yield aside
        with aside.open("rb") as written:
            os.fsync(written.fileno())
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


class AsideFileSystem:
    """A local fsspec file system whose files opened for writing appear only when complete."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def __getattr__(self, name: str) -> Any:
        if name == "_wrapped":  # not there yet while unpickling
            raise AttributeError(name)
        return getattr(self._wrapped, name)

    @contextmanager
    def open(self, path: str, mode: str = "rb", **arguments: Any) -> Iterator[Any]:
        """As fsspec's, but a file opened for writing replaces the old one only at the end."""
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
    """Mix-in: on a local disk, writes go through `AsideFileSystem`."""

    _fs: Any
    _protocol: str

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        if self._protocol == "file":
            self._fs = AsideFileSystem(self._fs)


class ParquetTable(_WritesAside, ParquetDataset):
    """A table in one Parquet file."""


class CsvTable(_WritesAside, CSVDataset):
    """A table in one CSV file."""


class JsonDocument(_WritesAside, JSONDataset):
    """A JSON document."""


class PlotlyFigure(_WritesAside, PlotlyJSONDataset):
    """A Plotly figure as JSON, shown by kedro-viz."""


class TextFile(_WritesAside, TextDataset):
    """A text file (the HTML report)."""
