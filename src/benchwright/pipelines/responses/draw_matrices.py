"""Answers to altered items as matrices: each draw has options and a gold of its own."""

import pandas as pd

from benchwright.errors import InputError
from benchwright.pipelines.responses.response_matrices import build_response_matrices
from benchwright.response_matrix import ResponseMatrix

_OWN = ("subject", "question", "choices", "answer", "answer_text", "explanation", "content_hash")


def build_draw_matrices(
    live_responses: pd.DataFrame,
    calibration: pd.DataFrame,
    items: pd.DataFrame,
    draws: pd.DataFrame,
) -> dict[str, ResponseMatrix]:
    """Put the answers to each draw into a matrix, judged by the draw's own gold.

    An answer to an altered item must never be compared with the gold of the item it was made
    from: its options are others, in another order. Temperatures are those of the configurations,
    fitted on unaltered items.

    Args:
        live_responses: a `Responses` table; rows of other conditions are left out.
        calibration: the temperature of each configuration.
        items: an `Items` table.
        draws: a `Draws` table; only its rows of role `item` count.

    Returns:
        A matrix over all items by condition, in order of the conditions' names. An item that a
        draw does not have is unanswered there.

    Raises:
        InputError: a draw has an item that the benchmark has not, or the same one twice.
    """
    altered = draws[draws["role"] == "item"]
    matrices = {}
    for condition, rows in altered.groupby("condition", sort=True):
        name = str(condition)
        own = live_responses[live_responses["condition"] == name].assign(condition="question")
        built = build_response_matrices(
            own[own["item_id"].isin(rows["item_id"])],
            live_responses.iloc[:0],
            [],
            calibration,
            _as_items(items, rows, name),
        ).response_matrix
        matrices[name] = ResponseMatrix(
            built.models,
            built.item_ids,
            built.correct,
            built.p_answer,
            built.p_prediction,
            built.prediction,
            name,
        )
    return matrices


def _as_items(items: pd.DataFrame, rows: pd.DataFrame, condition: str) -> pd.DataFrame:
    """The items as the draw has them; in their order."""
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
    # A copy keeps every right option of an item that has several.
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
