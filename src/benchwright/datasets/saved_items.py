"""The items of every benchmark that was ingested before, read when asked for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from kedro.io import AbstractDataset, DatasetError

_TABLES = ("items", "demonstrations", "calibration_items")


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


class SavedItems(AbstractDataset[list[SavedTable], list[SavedTable]]):
    """Every version of `<folder>/<benchmark>/{items,demonstrations,calibration_items}.parquet`.

    Sorted by benchmark, newest version first; nothing is read by loading.
    """

    def __init__(self, *, folder: str, metadata: dict[str, Any] | None = None) -> None:
        """Args:
        folder: of the ingested benchmarks; it need not exist.
        metadata: for kedro-viz.
        """
        self._folder = Path(folder)
        self.metadata = metadata

    def load(self) -> list[SavedTable]:
        """The tables there are."""
        found = [
            SavedTable(path.parents[2].name, path.parent.name, _reader(path))
            for name in _TABLES
            for path in self._folder.glob(f"*/{name}.parquet/*/{name}.parquet")
        ]
        found.sort(key=lambda table: table.version, reverse=True)
        return sorted(found, key=lambda table: table.benchmark)

    def save(self, data: list[SavedTable]) -> None:
        """Refused: the ingestion writes these."""
        raise DatasetError(f"{self._folder} is only read")

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"folder": str(self._folder)}


def _reader(path: Path) -> Callable[[], pd.DataFrame]:
    return lambda: pd.read_parquet(path)
