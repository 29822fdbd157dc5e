"""The base of datasets that are only read."""

from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

from kedro.io import AbstractDataset, DatasetError

Held = TypeVar("Held")


class ReadOnly(AbstractDataset[NoReturn, Held], Generic[Held]):
    """Files that a run reads and never writes: the user's, or those other datasets saved.

    Args:
        folder: the place that is read, which messages name.
        filepath: the same, of a dataset of one file.
        metadata: for plugins.
    """

    def __init__(
        self,
        folder: str | None = None,
        *,
        filepath: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self.place = Path(folder or filepath or "")
        self.metadata = metadata

    def save(self, data: NoReturn) -> NoReturn:
        """Raise DatasetError."""
        raise DatasetError(f"{self.place} is read-only")

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"place": str(self.place)}
