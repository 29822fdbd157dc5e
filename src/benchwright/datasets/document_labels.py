"""Labelled questions of documents, to measure extraction on: JSON lines that may not be there."""

from typing import Any

from benchwright.core.errors import InputError
from benchwright.datasets.read_only import ReadOnly
from benchwright.datasets.verbatim import json_rows

_NEEDED = ("doc_id", "style", "question", "choices", "answer", "expected")


class DocumentLabels(ReadOnly[list[dict[str, Any]]]):
    """A label a line (docs/reference/collection.md); an absent file has none.

    Args:
        filepath: a local file; it need not exist.
        metadata: for plugins.
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        super().__init__(filepath, metadata)

    def load(self) -> list[dict[str, Any]]:
        """The labels in their order.

        Raises:
            InputError: a line is no JSON object, or lacks a field.
        """
        if not self.place.exists():
            return []
        try:
            rows = json_rows(self.place.read_text(encoding="utf-8-sig").split("\n"))
        except (InputError, UnicodeDecodeError, OSError) as error:
            raise InputError(f"{self.place}: {error}") from error
        for number, row in enumerate(rows, start=1):
            if missing := [name for name in _NEEDED if name not in row]:
                raise InputError(
                    f"{self.place}: label {number} has no field {missing[0]!r}; wanted are "
                    f"{', '.join(_NEEDED)}"
                )
        return rows
