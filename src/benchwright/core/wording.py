"""Tables as rows for a template, and counts and metrics in words."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from benchwright.core.cells import is_missing


def rows_of(table: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the rows with every missing value as None."""
    rows = table.to_dict("records")
    for row in rows:
        for name, value in row.items():
            if is_missing(value):
                row[name] = None
    return rows


def percent(value: Any, digits: int = 1) -> str:
    """Return 0.1443 as `14.4%`; — where it is missing."""
    return "—" if is_missing(value) else f"{value:.{digits}%}"


def number(value: Any, digits: int = 0) -> str:
    """Return 14042 as `14,042`; — where it is missing."""
    return "—" if is_missing(value) else f"{value:,.{digits}f}"


def words_of(names: dict[str, str], name: str) -> str:
    """Return a name in words; an unknown one with spaces instead of underscores."""
    return names.get(name, name.replace("_", " "))


def count(n: int, thing: str) -> str:
    """Return `1 model`, `1,200 models`, `2 copies`."""
    things = f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}s"
    return f"{n:,} {thing if n == 1 else things}"


def joined(parts: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def coefficient(value: float | None, digits: int = 3) -> str:
    """Return a metric with a true minus sign; — where it is missing; zero has no sign."""
    if value is None or is_missing(value):
        return "—"
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def bounds(low: float | None, high: float | None, digits: int = 3) -> str:
    """Return `[0.823, 0.881]`; "" where one bound is missing."""
    if is_missing(low) or is_missing(high):
        return ""
    return f"[{coefficient(low, digits)}, {coefficient(high, digits)}]"


def p_value(p: float | None) -> str:
    """Return `0.012`, `< 0.001`, or — where the value is missing."""
    if p is None or is_missing(p):
        return "—"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def points(share: float | None, *, signed: bool = True) -> str:
    """Return 0.0904 as `+9.0`, with a true minus sign; — where it is missing."""
    if share is None or is_missing(share):
        return "—"
    rounded = round(float(100 * share), 1)
    sign = "+" if signed and rounded > 0 else ""
    return sign + coefficient(rounded, 1)


def interval(low: float | None, high: float | None, *, signed: bool = True) -> str:
    """Return bounds in points, as `[−10.9, −7.1]`; "" where one is missing."""
    if is_missing(low) or is_missing(high):
        return ""
    return f"[{points(low, signed=signed)}, {points(high, signed=signed)}]"


def clip_text(text: str, most: int) -> str:
    """Return the text, cut to at most `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
