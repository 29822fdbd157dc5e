"""Base classes of all tables."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import pandera.pandas as pa


class Table(pa.DataFrameModel):
    """Base of all tables: exactly these columns, in this order, coerced to their types."""

    class Config:
        strict = True
        ordered = True
        coerce = True

    @classmethod
    def columns(cls) -> list[str]:
        """Return the column names in order."""
        return list(cls.to_schema().columns)

    @classmethod
    def empty(cls, *_: Any) -> pd.DataFrame:  # type: ignore[override]
        """Return a table with the right columns and types and no rows."""
        schema = cls.to_schema()
        return pd.DataFrame(
            {name: pd.Series(dtype=str(column.dtype)) for name, column in schema.columns.items()}
        )

    @classmethod
    def from_rows(cls, rows: Sequence[Any]) -> pd.DataFrame:
        """Return a validated table of tuples (in column order) or mappings, possibly empty."""
        if not rows:
            return cls.empty()
        frame = pd.DataFrame(list(rows), columns=cls.columns())
        return pd.DataFrame(cls.validate(frame))


class Columns:
    """The columns of a table that runs alone make and read: types with names, in order."""

    def __init__(self, *groups: tuple[Any, ...]) -> None:
        self._types = {name: kind for kind, *names in groups for name in names}

    def columns(self) -> list[str]:
        """Return the column names in order."""
        return list(self._types)

    def empty(self) -> pd.DataFrame:
        """Return a table with the right columns and types and no rows."""
        return self.from_rows([])

    def from_rows(self, rows: Iterable[Any]) -> pd.DataFrame:
        """Return a table of tuples (in column order) or mappings, possibly empty."""
        return self.of(pd.DataFrame(list(rows), columns=self.columns()))

    def of(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return these columns of a table, in order and with their types."""
        return table[self.columns()].astype(self._types)


class NotEmpty(Table):
    """A table that must have rows."""

    @pa.dataframe_check(error="the table is empty")
    def has_rows(self, frame: pd.DataFrame) -> bool:  # pandera passes the class
        return len(frame) > 0
