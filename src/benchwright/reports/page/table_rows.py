"""Tables as rows for a template."""

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
    """None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))
