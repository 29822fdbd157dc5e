"""Which options depend on the others: a list to read, for every benchmark."""

from collections.abc import Hashable
from typing import Any

import pandas as pd

from benchwright.core.natural_order import sort_items
from benchwright.core.option_wording import kinds_of_options, refers_to_options
from benchwright.tables import OptionWordings


def list_option_wordings(items: pd.DataFrame, demonstrations: pd.DataFrame) -> pd.DataFrame:
    """List the options that say none or all of the above, or name others by letter or place.

    Where it is the question that names options ("choose A if …"), `place` is −1 and `text` the
    question.

    Returns:
        An `OptionWordings` table in natural order of the ids, items first.
    """
    return OptionWordings.from_rows(
        [
            row
            for role, table in (("item", items), ("demonstration", demonstrations))
            for item in sort_items(table).to_dict("records")
            for row in _rows(role, item)
        ]
    )


def _rows(role: str, item: dict[Hashable, Any]) -> list[tuple[object, ...]]:
    kinds = kinds_of_options(item["question"], item["choices"])
    found: list[tuple[object, ...]] = [
        (role, item["item_id"], item["subject"], place, kind, text, place == item["answer"])
        for place, (kind, text) in enumerate(zip(kinds, item["choices"], strict=True))
        if kind != "plain"
    ]
    if "refers_to_options" not in kinds and refers_to_options(item["question"], item["choices"]):
        stem = (role, item["item_id"], item["subject"], -1, "refers_to_options")
        found.insert(0, (*stem, item["question"], False))
    return found
