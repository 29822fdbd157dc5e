"""Scores of models as a leaderboard published them, where parameters name a file of them."""

from pathlib import Path
from typing import Any, NoReturn

import pandas as pd
from kedro.io import AbstractDataset

from benchwright.core.errors import InputError
from benchwright.datasets.named_table import NamedTable

COLUMNS = ["name", "avg"]


class PublishedScores(AbstractDataset[NoReturn, pd.DataFrame]):
    """A CSV or Parquet file with columns `name` and `avg`; no rows where no file is named.

    Args:
        file: its name below `mirror_root`/responses, or a path; None or "" where there is none.
        mirror_root: the folder of the mirror, "" where there is none.
        metadata: for plugins.
    """

    def __init__(
        self, *, file: str | None, mirror_root: str = "", metadata: dict[str, Any] | None = None
    ) -> None:
        self._path: Path | None = None
        if file:
            below = Path(mirror_root) / "responses" / file
            self._path = below if mirror_root and below.is_file() else Path(file)
        self.metadata = metadata

    def load(self) -> pd.DataFrame:
        """Columns name (text) and avg (number), models as the file has them.

        Raises:
            InputError: the file cannot be read, lacks a column, or an average is no number.
        """
        table = NamedTable(
            filepath=None if self._path is None else str(self._path),
            columns=COLUMNS,
            named_by="sampling.published_scores",
        ).load()[COLUMNS]
        try:
            return table.assign(name=table["name"].astype(str), avg=table["avg"].astype(float))
        except ValueError as error:
            raise InputError(
                f"sampling.published_scores: {self._path}, column 'avg': {error}"
            ) from None

    def save(self, data: NoReturn) -> NoReturn:
        """The file is the user's."""
        raise InputError("published scores are only read here")

    def _exists(self) -> bool:
        return self._path is None or self._path.is_file()

    def _describe(self) -> dict[str, Any]:
        return {"file": None if self._path is None else str(self._path)}
