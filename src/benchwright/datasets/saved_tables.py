"""Tables as earlier runs left them: `<folder>/<version>/<name of the folder>`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.datasets.read_only import ReadOnly
from benchwright.datasets.unpacked import read_parquet
from benchwright.datasets.verbatim import no_rows

_INGESTED = ("items", "demonstrations", "calibration_items")


def _versions(folder: Path) -> list[Path]:
    """The saved versions of a table, oldest first."""
    return sorted(folder.glob(f"*/{folder.name}"))


def _read_version(file: Path, columns: list[str]) -> pd.DataFrame:
    try:
        return pd.DataFrame(read_parquet(file, columns).select(columns).to_pandas())
    except InputError as error:
        raise InputError(f"{error}; remove its folder if it is of no use") from error


class LastSavedTable(ReadOnly[pd.DataFrame]):
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
        super().__init__(folder, metadata)
        self._columns = list(columns)

    def load(self) -> pd.DataFrame:
        """The table.

        Raises:
            InputError: the newest version cannot be read or lacks a column.
        """
        versions = _versions(self.place)
        return _read_version(versions[-1], self._columns) if versions else no_rows(self._columns)


class SavedAssignments(ReadOnly[list[str]]):
    """The keyed ids of items that any earlier run closed; none where there was no run.

    Args:
        folder: of the versions of one saved `SplitAssignment`; it need not exist.
        metadata: for plugins.
    """

    def __init__(self, *, folder: str, metadata: dict[str, Any] | None = None) -> None:
        super().__init__(folder, metadata)

    def load(self) -> list[str]:
        """Ids in order, each once.

        Raises:
            InputError: a version cannot be read.
        """
        closed: set[str] = set()
        for file in _versions(self.place):
            table = _read_version(file, ["item_id", "half"])
            closed.update(table.loc[table["half"].eq("test"), "item_id"].astype(str))
        return sorted(closed)


class SavedTable(NamedTuple):
    """One table that a run saved.

    Attributes:
        benchmark: whose items.
        version: of the save; later ones sort after earlier ones.
        read: the table; a file that cannot be read raises OSError or ValueError.
    """

    benchmark: str
    version: str
    read: Callable[[], pd.DataFrame]


class SavedItems(ReadOnly[list[SavedTable]]):
    """Every version of `<folder>/<benchmark>/{items,demonstrations,calibration_items}.parquet`.

    Sorted by benchmark, newest version first; nothing is read by loading.

    Args:
        folder: of the ingested benchmarks; it need not exist.
        metadata: for plugins.
    """

    def __init__(self, *, folder: str, metadata: dict[str, Any] | None = None) -> None:
        super().__init__(folder, metadata)

    def load(self) -> list[SavedTable]:
        """The tables there are."""
        found = [
            SavedTable(path.parents[2].name, path.parent.name, partial(pd.read_parquet, path))
            for name in _INGESTED
            for path in self.place.glob(f"*/{name}.parquet/*/{name}.parquet")
        ]
        found.sort(key=lambda table: table.version, reverse=True)
        return sorted(found, key=lambda table: table.benchmark)
