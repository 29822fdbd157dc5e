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


Columns = tuple[tuple[Any, ...], ...]
"""Types with the names of their columns, in order, of a table that only a run itself reads."""


def table_of(columns: Columns, rows: Iterable[Any] = ()) -> pd.DataFrame:
    """Return a table of tuples (in column order) or mappings, possibly empty."""
    types = {name: kind for kind, *names in columns for name in names}
    return pd.DataFrame(list(rows), columns=list(types)).astype(types)


class NotEmpty(Table):
    """A table that must have rows."""

    @pa.dataframe_check(error="the table is empty")
    def has_rows(self, frame: pd.DataFrame) -> bool:  # pandera passes the class
        return len(frame) > 0
