"""Tables of earlier runs: `<folder>/<version>/<name of the folder>`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.verbatim import no_rows, read_parquet
from benchwright.datasets.read_only import ReadOnly
from benchwright.runs.saved_runs import saved_versions

_ASSIGNMENT = "public_split_assignment.parquet"
_INGESTED = ("items", "demonstrations", "calibration_items")


def _read_version(file: Path, columns: list[str]) -> pd.DataFrame:
    try:
        return pd.DataFrame(read_parquet(file, columns).select(columns).to_pandas())
    except InputError as error:
        raise InputError(f"{error}; remove this version if you do not need it") from error


class LastSavedTable(ReadOnly[pd.DataFrame]):
    """The newest version of a saved Parquet table; without rows if there is none.

    A node that creates a new version uses this input to load the old one. Columns other than
    `columns` are ignored.
    """

    def __init__(
        self, *, folder: str, columns: list[str], metadata: dict[str, Any] | None = None
    ) -> None:
        super().__init__(folder, metadata=metadata)
        self._columns = list(columns)

    def load(self) -> pd.DataFrame:
        """Return the table; InputError if the newest version cannot be read or lacks a column."""
        versions = saved_versions(self.place)
        return _read_version(versions[-1], self._columns) if versions else no_rows(self._columns)


class SavedAssignments(ReadOnly[list[str]]):
    """The keyed ids of items that an earlier run below a folder put into the closed half."""

    def load(self) -> list[str]:
        """Return the distinct ids, sorted; InputError if a version cannot be read."""
        closed: set[str] = set()
        for file in sorted(self.place.glob(f"**/{_ASSIGNMENT}/*/{_ASSIGNMENT}")):
            table = _read_version(file, ["item_id", "half"])
            closed.update(table.loc[table["half"].eq("test"), "item_id"].astype(str))
        return sorted(closed)


class SavedTable(NamedTuple):
    """A table that a run saved; `read` raises OSError or ValueError if the file is invalid."""

    benchmark: str
    version: str
    read: Callable[[], pd.DataFrame]


class SavedItems(ReadOnly[list[SavedTable]]):
    """Every version of `<folder>/<benchmark>/{items,demonstrations,calibration_items}.parquet`.

    Those of runs with a limit or another seed than 0 are not among them.
    """

    def load(self) -> list[SavedTable]:
        """Return the tables without reading them, by benchmark, the newest version first."""
        tables = [
            SavedTable(path.parents[2].name, path.parent.name, partial(pd.read_parquet, path))
            for name in _INGESTED
            for path in self.place.glob(f"*/{name}.parquet/*/{name}.parquet")
        ]
        tables.sort(key=lambda table: table.version, reverse=True)
        return sorted(tables, key=lambda table: table.benchmark)
