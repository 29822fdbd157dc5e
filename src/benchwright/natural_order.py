"""The order of item ids that a reader expects: `mmlu/anatomy/2` before `mmlu/anatomy/10`."""

import re
from collections.abc import Iterable
from functools import lru_cache

import pandas as pd

_DIGITS = re.compile(r"([0-9]+)")


@lru_cache(maxsize=1 << 17)  # the same ids are sorted many times in a run
def natural_key(item_id: str) -> tuple[tuple[tuple[str, int, str], ...], str]:
    """Sort key in which runs of digits count as numbers; the id itself settles ties."""
    parts = _DIGITS.split(item_id)
    key = []
    for text, digits in zip(parts[::2], [*parts[1::2], ""], strict=True):
        number = digits.lstrip("0")
        key.append((text, len(number), number))  # a longer number is a greater one
    return tuple(key), item_id


def in_order(item_ids: Iterable[str]) -> list[str]:
    """The ids in their natural order."""
    return sorted(item_ids, key=natural_key)


def sort_items(items: pd.DataFrame) -> pd.DataFrame:
    """The rows of `items` in the natural order of their ids, index from 0."""
    ids = items["item_id"].tolist()
    order = sorted(range(len(ids)), key=lambda row: natural_key(ids[row]))
    return items.iloc[order].reset_index(drop=True)
