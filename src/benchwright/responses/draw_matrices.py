"""Answers to altered items as matrices: each draw has options and a gold of its own."""

from dataclasses import replace

import pandas as pd

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.responses.drawn_items import drawn_items
from benchwright.responses.response_matrices import build_response_matrices


def build_draw_matrices(
    live_responses: pd.DataFrame,
    imported_responses: pd.DataFrame,
    wide_matrices: list[ResponseMatrix],
    calibration: pd.DataFrame,
    items: pd.DataFrame,
    draws: pd.DataFrame,
) -> dict[str, ResponseMatrix]:
    """Put the answers to each draw into a matrix, judged by the draw's own gold.

    An answer to an altered item must never be compared with the gold of the item it was made
    from: its options are others, in another order. Live answers come before recorded ones.
    Temperatures are those of the configurations, fitted on unaltered items.

    Args:
        live_responses: a `Responses` table; rows of other conditions are left out.
        imported_responses: the same.
        wide_matrices: recorded answers that came as matrices, likewise.
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
        built = build_response_matrices(
            _of_draw(live_responses, rows, name),
            _of_draw(imported_responses, rows, name),
            [
                replace(matrix, condition="question")
                for matrix in wide_matrices
                if matrix.condition == name
            ],
            calibration,
            drawn_items(items, rows, name),
        ).response_matrix
        matrices[name] = replace(built, condition=name)
    return matrices


def _of_draw(responses: pd.DataFrame, rows: pd.DataFrame, condition: str) -> pd.DataFrame:
    """The answers to a draw's items, as if they were to whole questions."""
    own = responses["condition"] == condition
    return responses[own & responses["item_id"].isin(rows["item_id"])].assign(condition="question")
