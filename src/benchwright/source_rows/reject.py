"""The table of source rows that cannot become items."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.params.benchmark import ADDED_COLUMNS
from benchwright.source_rows.unusable import Row, Unusable, ascii_surrogates, is_missing
from benchwright.tables.items import RejectedItems


class Rejection(NamedTuple):
    """One row of `RejectedItems`, whose `row` is the position in the source."""

    row: int
    rule: str
    detail: str
    raw: str


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return str(value)


def raw_text(row: Row) -> str:
    """A whole source row as JSON, without the columns that the source added and empty cells."""
    cells = {k: v for k, v in row.items() if k not in ADDED_COLUMNS and not is_missing(v)}
    return ascii_surrogates(json.dumps(cells, ensure_ascii=False, default=_plain))


def reject(position: int, row: Row, reason: Unusable) -> Rejection:
    """The row as it goes into the table of rejected rows."""
    return Rejection(position, str(reason.rule), ascii_surrogates(reason.detail), raw_text(row))


def rejected_table(rejections: Sequence[Rejection]) -> pd.DataFrame:
    """`RejectedItems`, in the order of the source; it may be empty."""
    return RejectedItems.from_rows(sorted(rejections))
