"""Labelled questions of documents, to measure extraction on: JSON lines that may not be there."""

from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset, DatasetError

from benchwright.core.errors import InputError
from benchwright.datasets.verbatim import json_rows

_NEEDED = ("doc_id", "style", "question", "choices", "answer", "expected")


class DocumentLabels(AbstractDataset[None, list[dict[str, Any]]]):
    """A label a line (docs/collection.md); an absent file has none. Read only."""

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        """Args:
        filepath: a local file; it need not exist.
        metadata: for kedro-viz.
        """
        self._path = Path(filepath)
        self.metadata = metadata

    def load(self) -> list[dict[str, Any]]:
        """The labels in their order.

        Raises:
            InputError: a line is no JSON object, or lacks a field.
        """
        if not self._path.exists():
            return []
        try:
            rows = json_rows(self._path.read_text(encoding="utf-8-sig").split("\n"))
        except (InputError, UnicodeDecodeError, OSError) as error:
            raise InputError(f"{self._path}: {error}") from error
        for number, row in enumerate(rows, start=1):
            if missing := [name for name in _NEEDED if name not in row]:
                raise InputError(
                    f"{self._path}: label {number} has no field {missing[0]!r}; wanted are "
                    f"{', '.join(_NEEDED)}"
                )
        return rows

    def save(self, data: None) -> None:
        """Refused: labels are the user's."""
        raise DatasetError(f"{self._path} is only read")

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._path)}
