"""The base of datasets that are only read."""

from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

from kedro.io import AbstractDataset, DatasetError

Held = TypeVar("Held")


class ReadOnly(AbstractDataset[NoReturn, Held], Generic[Held]):
    """What a run reads and never writes: files of the user's, or what other datasets saved.

    `place` names it in messages; `metadata` is for plugins.
    """

    def __init__(self, place: str | None, metadata: dict[str, Any] | None = None) -> None:
        self.place = Path(place or "")
        self.metadata = metadata

    def save(self, data: NoReturn) -> NoReturn:
        """Refused."""
        raise DatasetError(f"{self.place} is only read")

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"place": str(self.place)}
