"""A table of the user's that a parameter names; where none is named, a table without rows."""

from pathlib import Path
from typing import Any

import pandas as pd
from kedro.io import AbstractDataset, DatasetError

from benchwright.core.errors import InputError
from benchwright.datasets.unpacked import read_parquet, told_broken
from benchwright.datasets.verbatim import listed, read_csv


class NamedTable(AbstractDataset[pd.DataFrame, pd.DataFrame]):
    """A read-only CSV or Parquet file with given columns; other columns are passed over.

    Cells of a CSV file are texts as they stand, so that ids keep their zeros.
    """

    def __init__(
        self,
        *,
        filepath: str | None,
        columns: list[str],
        named_by: str,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Args:
        filepath: ends in .parquet, or else is CSV; None where no file is named.
        columns: that it must have.
        named_by: the parameter, for messages.
        metadata: for kedro-viz.
        """
        self._path = None if filepath is None else Path(filepath)
        self._columns = list(columns)
        self._named_by = named_by
        self.metadata = metadata

    def load(self) -> pd.DataFrame:
        """The table, or no rows where no file is named.

        Raises:
            InputError: the file cannot be read, has no rows, or lacks a column.
        """
        if self._path is None:
            return pd.DataFrame({name: pd.Series(dtype="object") for name in self._columns})
        told = f"{self._named_by}: {self._path}"
        try:
            frame = _table(self._path)
        except InputError as error:
            raise InputError(f"{self._named_by}: {error}") from None
        for name in self._columns:
            if name not in frame.columns:
                raise InputError(
                    f"{told} has no column {name!r}; {', '.join(self._columns)} are needed, it "
                    f"has {listed(frame.columns)}"
                )
        if frame.empty:
            raise InputError(f"{told} has no rows; leave {self._named_by} out to name no file")
        return frame[self._columns]

    def save(self, data: pd.DataFrame) -> None:
        """Refused: this file is the user's."""
        raise DatasetError(f"{self._path} is only read")

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._path), "columns": self._columns}


def _table(path: Path) -> pd.DataFrame:
    if path.suffix.lower() == ".parquet":
        with told_broken(path):
            return pd.DataFrame(read_parquet(path).to_pandas())
    # A row that is short lacks its last cells: blank, as a spreadsheet shows them.
    return read_csv(path).fillna("")
