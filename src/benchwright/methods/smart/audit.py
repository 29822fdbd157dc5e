"""Why each item stays or goes: the verdicts, the audit and the two halves of the benchmark."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.natural_order import in_order, sort_items
from benchwright.core.option_wording import option_wordings
from benchwright.methods.smart.finding import Finding
from benchwright.tables.smart import RULES, ItemAudit, Verdicts

# Flags that do not remove an item but should be seen.
_WARNING_RULES = ("suspect_label", "conflicting_gold")


def tabulate_verdicts(items: pd.DataFrame, findings: list[Finding]) -> pd.DataFrame:
    """Lists every rule's word on every item, also where the rule could not judge.

    Rules that are switched off have no rows.
    """
    ids = in_order(items["item_id"])
    frames = [
        pd.DataFrame(
            {
                "item_id": ids,
                "rule": finding.rule,
                "state": finding.states(),
                "removed": finding.removed,
                "value": finding.value,
                "detail": list(finding.detail),
            }
        )
        for finding in findings
        if finding.status != "off"
    ]
    return pd.concat(frames, ignore_index=True) if frames else Verdicts.empty()


def audit_items(
    items: pd.DataFrame, findings: list[Finding], neighbours: pd.DataFrame
) -> pd.DataFrame:
    """Gathers for each item the decision, its reasons in words, and what every rule said.

    This is the table to open to ask why an item went. Its tags also say which items have an option
    that depends on the others (none or all of the above, a reference to some), since such items
    take neither a shuffle nor another option.
    """
    items = sort_items(items)
    n = len(items)
    removed_by = [
        [finding.rule for finding in findings if finding.removed[row]] for row in range(n)
    ]
    audit = items[["item_id", "subject"]].copy()
    audit["decision"] = ["removed" if rules else "kept" for rules in removed_by]
    audit["tags"] = [
        ",".join((*_tags(findings, row), *option_wordings(question, choices)))
        for row, question, choices in zip(
            range(n), items["question"], items["choices"], strict=True
        )
    ]
    audit["removed_by"] = [",".join(rules) for rules in removed_by]
    audit["reasons"] = [
        "; ".join(f"{finding.rule}: {finding.detail[row]}" for finding in _flagging(findings, row))
        for row in range(n)
    ]
    states = {finding.rule: finding.states() for finding in findings if finding.status != "off"}
    for rule in RULES:
        audit[rule] = states.get(rule, np.full(n, "off"))
    nearest = neighbours.sort_values(["item_id", "distance"], kind="stable")
    nearest = nearest.drop_duplicates("item_id").set_index("item_id")
    audit["neighbour"] = audit["item_id"].map(nearest["neighbour"])
    audit["neighbour_distance"] = audit["item_id"].map(nearest["distance"])
    return audit.assign(
        question=items["question"], choices=items["choices"], answer=items["answer"]
    )[ItemAudit.columns()]


def split_items(items: pd.DataFrame, item_audit: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Splits the items into those that are kept and those that are removed.

    Raises:
        InputError: no item is left.
    """
    items = sort_items(items)
    removed = items["item_id"].isin(item_audit.loc[item_audit["decision"] == "removed", "item_id"])
    if removed.all():
        counts = Counter(rule for rules in item_audit["removed_by"] for rule in rules.split(","))
        by_rule = ", ".join(f"{rule} {count}" for rule, count in sorted(counts.items()))
        raise InputError(f"filtering: all {len(items)} items are removed ({by_rule})")
    return (
        items[~removed].reset_index(drop=True),
        items[removed].reset_index(drop=True),
    )


def _flagging(findings: Sequence[Finding], row: int) -> list[Finding]:
    return [finding for finding in findings if finding.flagged[row]]


def _tags(findings: Sequence[Finding], row: int) -> list[str]:
    tags = []
    for finding in _flagging(findings, row):
        if finding.rule in _WARNING_RULES:
            tags.append(finding.rule)
        elif finding.rule.startswith("easy") and not finding.removed[row]:
            tags.append(f"retained_{finding.rule}")
    return tags
