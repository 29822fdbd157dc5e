"""Tables that may not be there: an absent file reads as a table without rows."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from kedro.io import AbstractDataset, DatasetError

from benchwright.core.errors import InputError
from benchwright.datasets.review_csv import read_spreadsheet
from benchwright.datasets.verbatim import listed


class _OptionalTable(AbstractDataset[pd.DataFrame, pd.DataFrame]):
    """A read-only local table with given columns; an absent file is an empty table."""

    def __init__(
        self, *, filepath: str, columns: list[str], metadata: dict[str, Any] | None = None
    ) -> None:
        """Args:
        filepath: a local file; it need not exist.
        columns: the columns that it must have where it exists.
        metadata: for kedro-viz.
        """
        self._path = Path(filepath)
        self._columns = list(columns)
        self.metadata = metadata

    def _read(self) -> pd.DataFrame:
        raise NotImplementedError

    def load(self) -> pd.DataFrame:
        """The table, or no rows. Raises InputError where a column is missing."""
        if not self._path.exists():
            return pd.DataFrame({name: pd.Series(dtype="object") for name in self._columns})
        frame = self._read()
        missing = [name for name in self._columns if name not in frame.columns]
        if missing:
            raise InputError(
                f"{self._path}: no column {missing[0]!r}; it has {listed(frame.columns)}"
            )
        return frame[self._columns]

    def save(self, data: pd.DataFrame) -> None:
        """Refused: this file is the user's, or another dataset's."""
        raise DatasetError(f"{self._path} is only read")

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._path), "columns": self._columns}


class OptionalCsvTable(_OptionalTable):
    """An optional CSV file, cells as texts (`read_spreadsheet`); blank lines are none."""

    def _read(self) -> pd.DataFrame:
        # A type guessed from the cells would turn the model "01" into 1 and "1e5" into a number.
        table = read_spreadsheet(self._path, self._columns)
        return table[(table != "").any(axis=1)].reset_index(drop=True)


class OptionalParquetTable(_OptionalTable):
    """An optional Parquet file; one that cannot be read counts as absent (it is only a cache)."""

    def _read(self) -> pd.DataFrame:
        try:
            return pd.read_parquet(self._path)
        except (OSError, ValueError, pa.ArrowException):
            return pd.DataFrame({name: pd.Series(dtype="object") for name in self._columns})
