"""How much of a benchmark a perturbation reaches, and why it leaves the rest as it is."""

from typing import Any

import pandas as pd

from benchwright.methods.wicked.comparison.compared_answers import perturbation_of
from benchwright.tables.wicked import DrawCoverage

ALTERED = "altered"


def count_changes(perturbation_changes: pd.DataFrame) -> pd.DataFrame:
    """Count what each transform altered and what it copied, by reason, over all draws.

    Returns:
        A `DrawCoverage` table: items before demonstrations, transforms in their order, what was
        altered first, then the reasons from the most frequent on.
    """
    own = perturbation_changes.assign(
        perturbation=perturbation_changes["condition"].map(perturbation_of),
        outcome=perturbation_changes["reason"].where(~perturbation_changes["altered"], ALTERED),
    )
    rows: list[tuple[Any, ...]] = []
    for (perturbation, role), group in own.groupby(["perturbation", "role"], sort=False):
        for transform, changes in group.groupby("transform", sort=False):
            total = len(changes)
            for outcome, part in sorted(changes.groupby("outcome"), key=_order):
                share, gold = len(part) / total, int(part["gold_removed"].sum())
                different = part["item_id"].nunique()
                rows.append(
                    (perturbation, role, transform, outcome, len(part), different, share, gold)
                )
    return DrawCoverage.from_rows(rows)


def _order(outcome: tuple[Any, pd.DataFrame]) -> tuple[bool, int, str]:
    name, rows = outcome
    return name != ALTERED, -len(rows), str(name)
