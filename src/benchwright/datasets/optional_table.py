"""Optional files of the user; a missing file is a table or list without rows."""

from typing import Any

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.verbatim import BROKEN, json_rows, no_rows, read_errors, utf8_text
from benchwright.datasets.read_only import ReadOnly
from benchwright.datasets.review_csv import read_spreadsheet
from benchwright.datasets.vector_table import read_vectors

_REQUIRED = ("doc_id", "style", "question", "choices", "answer", "expected")


class OptionalReviewCsv(ReadOnly[pd.DataFrame]):
    """An optional CSV file that a spreadsheet program may have saved (`read_spreadsheet`).

    It has `columns`, and `optional` columns that are "" if missing.
    """

    def __init__(
        self,
        *,
        filepath: str,
        columns: list[str],
        optional: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(filepath=filepath, metadata=metadata)
        self._columns = list(columns)
        self._optional = list(optional or ())

    def load(self) -> pd.DataFrame:
        """Return the table; InputError if the file cannot be read or lacks a column."""
        if self.place.exists():
            return self._read()
        return no_rows([*self._columns, *self._optional])

    def _read(self) -> pd.DataFrame:
        return read_spreadsheet(self.place, self._columns, self._optional)


class OptionalCsvTable(OptionalReviewCsv):
    """An optional CSV file with text cells; blank lines are skipped."""

    def _read(self) -> pd.DataFrame:
        # Type inference would turn the models "01" and "1e5" into numbers.
        table = super()._read()
        return table[(table != "").any(axis=1)].reset_index(drop=True)


class RatingsFile(OptionalCsvTable):
    """An optional CSV file of human ratings: model, rating and date ("" without dates).

    `file` of the parameters `ratings` (`settings`) replaces `filepath` and must exist.
    """

    def __init__(
        self, *, filepath: str, settings: dict[str, Any], metadata: dict[str, Any] | None = None
    ) -> None:
        self._named = settings.get("file") or ""
        super().__init__(
            filepath=self._named or filepath,
            columns=["model", "rating"],
            optional=["date"],
            metadata=metadata,
        )

    def load(self) -> pd.DataFrame:
        """Return the table; InputError if the file cannot be read or lacks a column."""
        if self._named and not self.place.is_file():
            raise InputError(f"ratings.file: {self.place} is not a file")
        return super().load()


class OptionalParquetTable(OptionalReviewCsv):
    """An optional Parquet file, used as a cache: an unreadable or other file counts as missing."""

    def _read(self) -> pd.DataFrame:
        try:
            return read_vectors(self.place)[self._columns]
        except (*BROKEN, KeyError):
            return no_rows(self._columns)


class DocumentLabels(ReadOnly[list[dict[str, Any]]]):
    """Labelled questions of documents as JSON lines (docs/reference/collection.md)."""

    def load(self) -> list[dict[str, Any]]:
        """Return the labels in order; none if the file is missing.

        Raises:
            InputError: a line is not a JSON object, or lacks a field.
        """
        if not self.place.exists():
            return []
        with read_errors(self.place):
            rows = json_rows(utf8_text(self.place.read_bytes()).split("\n"))
            for number, row in enumerate(rows, start=1):
                missing = [name for name in _REQUIRED if name not in row]
                if missing:
                    raise InputError(
                        f"label {number}: no field {missing[0]!r}; expected {', '.join(_REQUIRED)}"
                    )
        return rows
