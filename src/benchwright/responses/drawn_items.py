"""Items as a draw has them: other questions or options, and a gold of their own."""

import pandas as pd

from benchwright.core.errors import InputError

_OWN = ("subject", "question", "choices", "answer", "answer_text", "explanation", "content_hash")


def drawn_items(items: pd.DataFrame, rows: pd.DataFrame, condition: str) -> pd.DataFrame:
    """All items, those of a draw as the draw has them.

    Args:
        items: an `Items` table; not changed.
        rows: of a `Draws` table, those of one condition and of role `item`.
        condition: its name.

    Returns:
        The same items in the same order. A copy keeps every right option of an item that has
        several; an altered item has the one of the draw.

    Raises:
        InputError: the draw has an item that the benchmark has not, or the same one twice.
    """
    twice = rows.loc[rows["item_id"].duplicated(), "item_id"]
    if len(twice):
        raise InputError(f"draws: {condition} has item {twice.iloc[0]!r} twice")
    unknown = rows.loc[~rows["item_id"].isin(items["item_id"]), "item_id"]
    if len(unknown):
        raise InputError(f"draws: {condition} has item {unknown.iloc[0]!r}, which is not an item")
    drawn = {str(row["item_id"]): row for row in rows.to_dict("records")}
    changed = items.copy()
    for column in _OWN:
        changed[column] = [
            drawn[item_id][column] if item_id in drawn else value
            for item_id, value in zip(items["item_id"], items[column], strict=True)
        ]
    changed["correct_set"] = [
        right if item_id not in drawn or same else [int(drawn[item_id]["answer"])]
        for item_id, right, same in zip(
            items["item_id"],
            items["correct_set"],
            items["content_hash"] == changed["content_hash"],
            strict=True,
        )
    ]
    return changed
