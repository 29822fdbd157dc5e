"""A table as an earlier run left it."""

from pathlib import Path
from typing import Any, NoReturn

import pandas as pd
from kedro.io import AbstractDataset

from benchwright.core.errors import InputError
from benchwright.datasets.unpacked import read_parquet


class LastSavedTable(AbstractDataset[NoReturn, pd.DataFrame]):
    """The newest version of a saved Parquet table; columns without rows where there is none.

    A node that makes a new version loads the old one by taking this as an input.

    Args:
        folder: of the versions.
        columns: of the table; others are passed over.
        metadata: for plugins.
    """

    def __init__(
        self, *, folder: str, columns: list[str], metadata: dict[str, Any] | None = None
    ) -> None:
        self.folder = Path(folder)
        self._columns = list(columns)
        self.metadata = metadata

    def load(self) -> pd.DataFrame:
        """The table.

        Raises:
            InputError: the newest version cannot be read or lacks a column.
        """
        versions = sorted(self.folder.glob(f"*/{self.folder.name}"))
        if not versions:
            return pd.DataFrame({name: pd.Series(dtype="object") for name in self._columns})
        try:
            table = read_parquet(versions[-1], self._columns).select(self._columns)
        except InputError as error:
            raise InputError(f"{error}; remove its folder if it is of no use") from error
        return pd.DataFrame(table.to_pandas())

    def save(self, data: NoReturn) -> NoReturn:
        """Versions are saved by the runs."""
        raise InputError(f"{self.folder} is only read here")

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"folder": str(self.folder)}
