"""What models remember, in sentences that can be quoted."""

from typing import Any

import pandas as pd

from benchwright.reports.page.wording import is_missing, rows_of

_NAMED = 3  # models in a headline


def write_headline(memorisation_summary: pd.DataFrame) -> list[str]:
    """Who remembers items, a sentence each, the most first; else that nobody does.

    Where nobody does, a second sentence says up to which share that would not have been seen.
    """
    rows = rows_of(memorisation_summary)
    found = sorted(
        (row for row in rows if row["remembers"]), key=lambda row: (-row["fuzzy"], row["model"])
    )
    if found:
        more = len(found) - _NAMED
        rest = [f"So {'does 1 more' if more == 1 else f'do {more:,} more'}."] if more > 0 else []
        return [*map(_remembers, found[:_NAMED]), *rest]
    if not any(row["compared"] for row in rows):
        return ["Nothing can be said: no item has another one of its subject to compare with."]
    beyond = "the options of these items beyond what it writes of other items'"
    who = "No model remembers" if len(rows) > 1 else f"{rows[0]['model']} does not remember"
    return [f"{who} {beyond}.", _unseen(rows)]


def _remembers(row: dict[Any, Any]) -> str:
    # A model cannot be found to remember without controls.
    return (
        f"{row['model']} writes all options of {row['fuzzy']:.1%} of items in place "
        f"[{row['fuzzy_low']:.1%}, {row['fuzzy_high']:.1%}], of another item of the subject "
        f"{row['control_whole']:.1%}."
    )


def _unseen(rows: list[dict[Any, Any]]) -> str:
    widest = max(rows, key=lambda row: row["fuzzy_high"])
    counts = sorted({row["items"] for row in rows})
    items = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}–{counts[-1]:,}"
    return (
        f"With {items} items, up to {widest['fuzzy_high']:.1%} remembered whole would still agree "
        "with what was seen."
    )


def say_test(row: dict[Any, Any]) -> str:
    """The test of one model in words: the two counts and the corrected p-value."""
    if is_missing(row["p_holm"]):
        return str(row["reason"])
    p = "p < 0.0001" if row["p_holm"] < 1e-4 else f"p = {row['p_holm']:.4f}"
    return f"{row['only_own']:,} items whole against {row['only_control']:,} controls, {p}"
