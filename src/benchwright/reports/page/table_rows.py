"""Tables as rows for a template, and figures as text."""

import math
from typing import Any

import pandas as pd


def rows_of(table: pd.DataFrame) -> list[dict[Any, Any]]:
    """The rows with every missing value as None."""
    return [
        {name: None if is_missing(value) else value for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def is_missing(value: Any) -> bool:
    """None, NaN and pandas' NA."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def percent(value: Any, digits: int = 1, none: str = "—") -> str:
    """0.1443 as `14.4%`; `none` where it is missing."""
    return none if is_missing(value) else f"{value:.{digits}%}"


def number(value: Any, digits: int = 0, none: str = "—") -> str:
    """14042 as `14,042`; `none` where it is missing."""
    return none if is_missing(value) else f"{value:,.{digits}f}"
