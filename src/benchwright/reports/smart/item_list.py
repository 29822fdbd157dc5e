"""The list of all items, which can be searched, filtered and sorted."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.natural_order import natural_order
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.wording import clip_text
from benchwright.evidence.panel import Panel
from benchwright.reports.page.parts import ItemTable, Section, Text

LONG_QUESTION = 2_000
LONG_CHOICE = 400
MOST_LISTED = 50_000
"""A page with more items opens slowly or not at all."""
_NUMBERS = (("distance", "Nearest"), ("share", "Right"))
_COLUMNS = (("id", "Item"), ("subject", "Subject"), ("decision", "Decision"), ("", "Question"))


def list_items(item_audit: pd.DataFrame, response_matrix: ResponseMatrix, panel: Panel) -> Section:
    """List all items with the decision, its reasons and the nearest item.

    Removed items come first, each part in natural order of id, 50,000 at most. The list has columns
    instead of rows, so that names are not repeated.
    """
    order = natural_order(item_audit["item_id"].tolist())
    kept = (item_audit["decision"] != "removed").to_numpy()[order]
    listed = item_audit.iloc[np.concatenate([order[~kept], order[kept]])[:MOST_LISTED]]
    ids = _texts(listed["item_id"])
    marks = zip(listed["removed_by"].map(_names), listed["tags"].map(_names), strict=True)
    columns: dict[str, list[Any]] = {
        "id": ids,
        "subject": _texts(listed["subject"]),
        "question": [clip_text(text, LONG_QUESTION) for text in _texts(listed["question"])],
        "choices": listed["choices"].map(clip_choices).tolist(),
        "answer": [int(answer) for answer in listed["answer"]],
        "decision": _texts(listed["decision"]),
        "marks": [removed_by + tags for removed_by, tags in marks],
        "reasons": _texts(listed["reasons"]),
        "neighbour": listed["neighbour"].map(_text).tolist(),
        "distance": _rounded(listed["neighbour_distance"].to_numpy(dtype=np.float64)),
        "share": _rounded(_share_right(ids, response_matrix, panel)),
    }
    known = [number for number in _NUMBERS if set(columns[number[0]]) != {None}]
    n = len(item_audit)
    which = (
        f"The first {len(listed):,} of {n:,} items, removed ones first,"
        if len(listed) < n
        else f"All {n:,} items"
    )
    text = (
        f"{which} with the reason for each decision, as in the dataset `item_audit`. Open an item "
        "for its options and its nearest item. Nearest: cosine distance to it. Right: share of the "
        "panel's models that answer correctly. The address of this page holds the search and the "
        "filters."
    )
    names = sorted({name for marks in columns["marks"] for name in marks})
    table = ItemTable({"items": columns}, names, [*_COLUMNS, *known])
    return Section("All items", [Text(text), table], "items", open=True)


def _share_right(
    ids: list[str], response_matrix: ResponseMatrix, panel: Panel
) -> NDArray[np.float64]:
    """Return the share of the panel's models that are right; NaN where none answered."""
    known = set(response_matrix.models)
    everyone = response_matrix.select_models([model for model in panel.models if model in known])
    right = everyone.select_items(ids).correct.astype(np.float64)
    answered = (~np.isnan(right)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(right, axis=0) / answered)


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 3) for value in values]


def clip_choices(choices: Iterable[Any]) -> list[str]:
    """Return options as texts, long ones cut."""
    return [clip_text(str(choice), LONG_CHOICE) for choice in choices]


def _texts(column: "pd.Series[Any]") -> list[str]:
    return [str(value) for value in column]


def _text(value: Any) -> str:
    return "" if pd.isna(value) else str(value)


def _names(value: Any) -> list[str]:
    return [name for name in _text(value).split(",") if name]
