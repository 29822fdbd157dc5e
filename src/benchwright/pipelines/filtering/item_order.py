"""The order of items: by id, numbers in it as numbers, never by row."""

import re
from collections.abc import Iterable

import pandas as pd

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(item_id: str) -> tuple[object, ...]:
    """A sort key that puts `arc/2` before `arc/10`; equal for no two different ids."""
    parts = _DIGITS.split(item_id)
    # A number is compared by length, then digits: int() refuses numbers of over 4,300 digits.
    numbers = ((len(n), n) for n in (part.lstrip("0") for part in parts[1::2]))
    keys: list[object] = [parts[0]]
    for number, text in zip(numbers, parts[2::2], strict=True):
        keys += [number, text]
    return (tuple(keys), item_id)


def in_order(item_ids: Iterable[str]) -> list[str]:
    """The ids in their natural order."""
    return sorted(item_ids, key=natural_key)


def sort_items(items: pd.DataFrame) -> pd.DataFrame:
    """The rows of `items` in the natural order of their ids, index from 0."""
    ids = items["item_id"].tolist()
    order = sorted(range(len(ids)), key=lambda row: natural_key(ids[row]))
    return items.iloc[order].reset_index(drop=True)
