"""The natural order of item ids: `mmlu/anatomy/2` before `mmlu/anatomy/10`."""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from benchwright.core.array_types import Places

_DIGITS = re.compile("[0-9]+")


def natural_key(item_id: str) -> tuple[str, str]:
    """Return a sort key in which runs of digits count as numbers; the id breaks ties."""
    return _DIGITS.sub(_sorted_by_value, item_id), item_id


def _sorted_by_value(digits: re.Match[str]) -> str:
    number = digits[0].lstrip("0")
    return f"\0{len(number):06}{number}"  # before all text; a longer number is a greater one


def in_order(item_ids: Iterable[str]) -> list[str]:
    """Return the ids in natural order."""
    return sorted(item_ids, key=natural_key)


def sort_items(items: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `items` in the natural order of their ids, index from 0."""
    order = natural_order(items["item_id"].tolist())
    if not (order == np.arange(len(order))).all():  # a copy of a million items takes a gigabyte
        items = items.iloc[order]
    return items.reset_index(drop=True)


def natural_order(ids: Sequence[str]) -> Places:
    """Return the (n,) positions of ids in natural order; equal ids keep their order."""
    keys = [natural_key(item_id) for item_id in ids]
    return np.array(sorted(range(len(ids)), key=keys.__getitem__), dtype=np.intp)
