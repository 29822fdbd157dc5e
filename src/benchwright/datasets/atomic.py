"""Kedro datasets that write atomically, so that killed runs leave no partial files."""

import json
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

import pandas as pd
from kedro_datasets._typing import JSONPreview, PlotlyPreview, TablePreview

from benchwright.core.atomic_files import folder_aside, written_aside
from benchwright.core.errors import InputError, in_short
from benchwright.core.kedro_internals import LocalFile
from benchwright.core.verbatim import BROKEN


class _WholeFile(LocalFile[Any]):
    """A file that is replaced when it is written to the end; subclasses read and write it."""

    def load(self) -> Any:
        """Return the content; InputError if the file is incomplete or of another format."""
        file = self.load_path()
        try:
            return self._read(file)
        except BROKEN as error:
            if not file.is_file():
                raise
            raise InputError(
                f"{file}: cannot be read: {in_short(error)}; remove it, or run again what made it"
            ) from error

    def save(self, data: Any) -> None:
        """Write the content atomically."""
        with written_aside(self.save_path()) as aside:
            self._write(data, aside)

    @abstractmethod
    def _read(self, file: Path) -> Any: ...

    @abstractmethod
    def _write(self, data: Any, file: Path) -> None: ...


def _preview_cell(value: Any) -> bool | int | float | str | None:
    if value is None or value != value:  # noqa: PLR0124 (NaN)
        return None
    return value if isinstance(value, bool | int | float) else shorten(str(value), 200)


class ParquetTable(_WholeFile):
    """A table in one Parquet file."""

    def _read(self, file: Path) -> pd.DataFrame:
        return pd.read_parquet(file)

    def _write(self, data: pd.DataFrame, file: Path) -> None:
        data.to_parquet(file)

    def preview(self, nrows: int = 5) -> TablePreview:
        """Return the first rows for Kedro-Viz, with lists and long texts shortened."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.load_path()) as file:
            first = next(file.iter_batches(batch_size=nrows), None)
            rows = first.to_pylist() if first is not None else []
            names = file.schema_arrow.names
        data = [[_preview_cell(row[name]) for name in names] for row in rows]
        return TablePreview({"index": list(range(len(data))), "columns": names, "data": data})


class JsonDocument(_WholeFile):
    """A JSON document."""

    def _read(self, file: Path) -> Any:
        return json.loads(file.read_text(encoding="utf-8"))

    def _write(self, data: Any, file: Path) -> None:
        file.write_text(json.dumps(data, indent=2), encoding="utf-8")

    def preview(self) -> JSONPreview:
        """Return the document for Kedro-Viz."""
        return JSONPreview(json.dumps(self.load()))


class PlotlyJson(JsonDocument):
    """A plot as Plotly's JSON, shown by kedro-viz."""

    def _write(self, data: Any, file: Path) -> None:
        import plotly.graph_objects as go

        file.write_text(go.Figure(data).to_json(), encoding="utf-8")

    def preview(self) -> PlotlyPreview:
        """Return the plot for Kedro-Viz."""
        return PlotlyPreview(self.load())


class TextFile(_WholeFile):
    """A text file in UTF-8, in any locale."""

    def _read(self, file: Path) -> str:
        return file.read_bytes().decode()

    def _write(self, data: str, file: Path) -> None:
        file.write_bytes(data.encode())


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
