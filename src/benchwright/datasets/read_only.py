"""The base class of read-only datasets."""

from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

from kedro.io import AbstractDataset, DatasetError

Content = TypeVar("Content")


class ReadOnly(AbstractDataset[NoReturn, Content], Generic[Content]):
    """A folder or file that a run only reads, from the user or saved by other datasets."""

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
