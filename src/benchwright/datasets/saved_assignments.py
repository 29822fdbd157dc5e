"""What earlier runs closed: their keyed assignments, all versions."""

from pathlib import Path
from typing import Any, NoReturn

from kedro.io import AbstractDataset

from benchwright.core.errors import InputError
from benchwright.datasets.unpacked import read_parquet


class SavedAssignments(AbstractDataset[NoReturn, list[str]]):
    """The keyed ids of items that any earlier run closed; none where there was no run.

    Args:
        folder: of the versions of one saved `SplitAssignment`; it need not exist.
        metadata: for plugins.
    """

    def __init__(self, *, folder: str, metadata: dict[str, Any] | None = None) -> None:
        self.folder = Path(folder)
        self.metadata = metadata

    def load(self) -> list[str]:
        """Ids in order, each once.

        Raises:
            InputError: a version cannot be read.
        """
        closed: set[str] = set()
        for file in sorted(self.folder.glob(f"*/{self.folder.name}")):
            try:
                table = read_parquet(file, ["item_id", "half"]).to_pandas()
            except InputError as error:
                raise InputError(f"{error}; remove its folder if it is of no use") from error
            closed.update(table.loc[table["half"].eq("test"), "item_id"].astype(str))
        return sorted(closed)

    def save(self, data: NoReturn) -> NoReturn:
        """Assignments are saved by the runs."""
        raise InputError(f"{self.folder} is only read here")

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"folder": str(self.folder)}
