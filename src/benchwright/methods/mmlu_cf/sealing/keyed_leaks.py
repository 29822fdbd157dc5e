"""Leaking pairs that may be saved."""

import pandas as pd

from benchwright.methods.mmlu_cf.sealing.key import KeyedNames, SealKey
from benchwright.tables.mmlu_cf import LeakPairs


def keyed_leak_pairs(
    pairs: pd.DataFrame, assignment: pd.DataFrame, key: SealKey, name: str
) -> pd.DataFrame:
    """A `LeakPairs` table in which only public items have their own ids.

    Items that were dropped have keyed ids as well: one may say what a closed item says.

    Args:
        pairs: a `LeakPairs` table with the items' own ids.
        assignment: the `SplitAssignment` of the items that stayed, with their own ids.
        key: of the sealed benchmark.
        name: of the benchmark.

    Returns:
        The pairs by their new ids, each in order.
    """
    if pairs.empty:
        return LeakPairs.empty()
    names = KeyedNames(key, name)
    public = set(assignment.loc[assignment["half"].eq("validation"), "item_id"])

    def told(item_id: str) -> str:
        return item_id if item_id in public or not item_id else names.item_id(item_id)

    ids = [
        sorted((told(first), told(second)))
        for first, second in zip(pairs["item_id"], pairs["other"], strict=True)
    ]
    keyed = pairs.assign(
        item_id=[first for first, _ in ids],
        other=[second for _, second in ids],
        removed=[told(gone) for gone in pairs["removed"]],
    )
    keyed = keyed.sort_values(["item_id", "other"], ignore_index=True)
    return pd.DataFrame(LeakPairs.validate(keyed))
