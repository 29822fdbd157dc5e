"""From source rows to kept items, step by step."""

from typing import Any

import pandas as pd

from benchwright.tables.smart import Funnel

OTHER = "other"
"""The step of items that are gone although no rule says so."""


def count_funnel(
    rejected_items: pd.DataFrame,
    items: pd.DataFrame,
    verdicts: pd.DataFrame,
    rule_coverage: pd.DataFrame,
    kept_items: pd.DataFrame,
) -> pd.DataFrame:
    """Count what each step took from what the steps before it had left.

    Source rows, less those that could not become items, less what each rule took, in the order of
    the rules: an item counts at the first rule that removes it, so the steps add up although rules
    overlap. Rules that are off or took nothing have their step too. Items that are gone without a
    verdict make a step of their own, which is left out where there are none.
    """
    left = len(rejected_items) + len(items)
    rows: list[tuple[Any, ...]] = [("source rows", "start", 0, left)]

    def take(step: str, removed: int) -> None:
        nonlocal left
        left -= removed
        rows.append((step, "removed", removed, left))

    take("malformed", len(rejected_items))
    unexplained = set(items["item_id"]) - set(kept_items["item_id"])
    removals = verdicts[verdicts["removed"]]
    for rule in rule_coverage["rule"]:
        taken = unexplained & set(removals.loc[removals["rule"] == rule, "item_id"])
        unexplained -= taken
        take(str(rule), len(taken))
    if unexplained:
        take(OTHER, len(unexplained))
    rows.append(("kept", "end", 0, left))
    return Funnel.from_rows(rows)
