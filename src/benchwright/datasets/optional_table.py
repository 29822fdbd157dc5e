"""Tables of the user's that may not be there: then they have columns and no rows."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from benchwright.core.errors import InputError
from benchwright.datasets.read_only import ReadOnly
from benchwright.datasets.review_csv import read_spreadsheet
from benchwright.datasets.unpacked import read_parquet, told_broken
from benchwright.datasets.verbatim import listed, no_rows, read_csv


class _OptionalTable(ReadOnly[pd.DataFrame]):
    """A local table with given columns; an absent file is a table without rows."""

    def __init__(
        self,
        *,
        filepath: str,
        columns: list[str],
        optional: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Args:
        filepath: a local file; it need not exist.
        columns: columns that it must have where it exists.
        optional: columns that are read where it has them, and are "" otherwise.
        metadata: for kedro-viz.
        """
        super().__init__(filepath, metadata)
        self._columns, self._optional = list(columns), list(optional or ())

    def load(self) -> pd.DataFrame:
        """The table, or no rows. Raises InputError where it cannot be read or lacks a column."""
        there = self.place.exists()
        return self._read() if there else no_rows([*self._columns, *self._optional])

    def _read(self) -> pd.DataFrame:
        raise NotImplementedError


class OptionalReviewCsv(_OptionalTable):
    """An optional CSV file, perhaps saved by a spreadsheet program (`read_spreadsheet`)."""

    def _read(self) -> pd.DataFrame:
        return read_spreadsheet(self.place, self._columns, self._optional)


class OptionalCsvTable(OptionalReviewCsv):
    """An optional CSV file, cells as texts; blank lines are none."""

    def _read(self) -> pd.DataFrame:
        # A type guessed from the cells would turn the model "01" into 1 and "1e5" into a number.
        table = super()._read()
        return table[(table != "").any(axis=1)].reset_index(drop=True)


class OptionalParquetTable(_OptionalTable):
    """An optional Parquet file; one that cannot be read counts as absent (it is only a cache)."""

    def _read(self) -> pd.DataFrame:
        try:
            frame = pd.read_parquet(self.place)
        except (OSError, ValueError, pa.ArrowException):
            return no_rows(self._columns)
        if missing := [name for name in self._columns if name not in frame.columns]:
            raise InputError(
                f"{self.place}: no column {missing[0]!r}; it has {listed(frame.columns)}"
            )
        return frame[self._columns]


class NamedTable(ReadOnly[pd.DataFrame]):
    """A CSV or Parquet file that a parameter names, with given columns; others are passed over.

    Cells of a CSV file are texts as they stand, so that ids keep their zeros.
    """

    def __init__(
        self,
        *,
        filepath: str | None,
        columns: list[str],
        named_by: str,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Args:
        filepath: ends in .parquet, or else is CSV; None where no file is named.
        columns: that it must have.
        named_by: the parameter, for messages.
        metadata: for kedro-viz.
        """
        super().__init__(filepath, metadata)
        self._is_named = filepath is not None
        self._columns, self._named_by = list(columns), named_by

    def load(self) -> pd.DataFrame:
        """The table, or no rows where no file is named.

        Raises:
            InputError: the file cannot be read, has no rows, or lacks a column.
        """
        if not self._is_named:
            return no_rows(self._columns)
        told = f"{self._named_by}: {self.place}"
        try:
            frame = _table(self.place)
        except InputError as error:
            raise InputError(f"{self._named_by}: {error}") from None
        for name in self._columns:
            if name not in frame.columns:
                raise InputError(
                    f"{told} has no column {name!r}; {', '.join(self._columns)} are needed, it "
                    f"has {listed(frame.columns)}"
                )
        if frame.empty:
            raise InputError(f"{told} has no rows; leave {self._named_by} out to name no file")
        return frame[self._columns]


def _table(path: Path) -> pd.DataFrame:
    if path.suffix.lower() == ".parquet":
        with told_broken(path):
            return pd.DataFrame(read_parquet(path).to_pandas())
    # A row that is short lacks its last cells: blank, as a spreadsheet shows them.
    return read_csv(path).fillna("")


class PublishedScores(NamedTable):
    """Scores of models as a leaderboard published them; no rows where no file is named.

    A CSV or Parquet file with columns `name` and `avg`.

    Args:
        file: its name below `mirror_root`/responses, or a path; None or "" where there is none.
        mirror_root: the folder of the mirror, "" where there is none.
        metadata: for plugins.
    """

    def __init__(
        self, *, file: str | None, mirror_root: str = "", metadata: dict[str, Any] | None = None
    ) -> None:
        below = Path(mirror_root) / "responses" / (file or "")
        super().__init__(
            filepath=str(below) if mirror_root and below.is_file() else file or None,
            columns=["name", "avg"],
            named_by="sampling.published_scores",
            metadata=metadata,
        )

    def load(self) -> pd.DataFrame:
        """Columns name (text) and avg (number), models as the file has them.

        Raises:
            InputError: the file cannot be read, lacks a column, or an average is no number.
        """
        table = super().load()
        try:
            return table.assign(name=table["name"].astype(str), avg=table["avg"].astype(float))
        except ValueError as error:
            raise InputError(f"{self._named_by}: {self.place}, column 'avg': {error}") from None

    def _exists(self) -> bool:
        return not self._is_named or self.place.is_file()
