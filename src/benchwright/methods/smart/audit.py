"""Verdicts, audit of items, coverage and overlap of rules (SMART, Table 1)."""

import logging
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pandas as pd

from benchwright.core.array_types import Bools
from benchwright.core.cells import cells
from benchwright.core.errors import InputError
from benchwright.core.neighbourhood import Neighbourhood
from benchwright.core.option_wording import option_wordings
from benchwright.methods.smart.finding import Finding
from benchwright.tables.smart import (
    RULES,
    Funnel,
    ItemAudit,
    RuleCoverage,
    Verdicts,
)

log = logging.getLogger(__name__)

# Rules that flag items but do not remove them.
_WARNING_RULES = frozenset({"suspect_label", "conflicting_gold"})


def tabulate_verdicts(items: pd.DataFrame, findings: list[Finding]) -> pd.DataFrame:
    """List the verdict of every rule on every item, including items not judged.

    Rules that are switched off have no rows.
    """
    ids = items["item_id"].tolist()
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
    items: pd.DataFrame, findings: list[Finding], neighbours: Neighbourhood
) -> pd.DataFrame:
    """Gather for each item the decision, its reasons in words, and the verdict of every rule.

    The tags also mark items with an option that depends on the others (none or all of the above, a
    reference to other options): such items can neither be shuffled nor get another option.
    """
    removed_by = _gather({each.rule: each.removed for each in findings}, len(items))
    tags = _gather(dict(map(_tag, findings)), len(items))
    reasons: list[list[str]] = [[] for _ in range(len(items))]
    for each in findings:
        for row in np.flatnonzero(each.flagged).tolist():
            reasons[row].append(f"{each.rule}: {each.detail[row]}")
    texts = zip(tags, cells(items["question"]), cells(items["choices"]), strict=True)
    for own, question, choices in texts:
        own.extend(option_wordings(question, choices))
    audit = items[["item_id", "subject"]].copy()
    audit["decision"] = ["removed" if rules else "kept" for rules in removed_by]
    audit["tags"] = [",".join(own) for own in tags]
    audit["removed_by"] = [",".join(rules) for rules in removed_by]
    audit["reasons"] = ["; ".join(of_item) for of_item in reasons]
    ran = {finding.rule: finding for finding in findings if finding.status != "off"}
    for rule in RULES:
        audit[rule] = ran[rule].states() if rule in ran else "off"
    nearest = neighbours.first(1).table().set_index("item_id")
    audit["neighbour"] = audit["item_id"].map(nearest["neighbour"])
    audit["neighbour_distance"] = audit["item_id"].map(nearest["distance"])
    shown = ["question", "choices", "answer"]
    return ItemAudit.of(audit.join(items[shown]))


def _gather(marks: Mapping[str, Bools], n: int) -> list[list[str]]:
    """Return for each of n items the names whose marks (n,) it has."""
    names: list[list[str]] = [[] for _ in range(n)]
    for name, marked in marks.items():
        for row in np.flatnonzero(marked).tolist():
            names[row].append(name)
    return names


def split_items(items: pd.DataFrame, item_audit: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split the items into those that are kept, with their tags, and those that are removed.

    Raises:
        InputError: no item is left.
    """
    removed = items["item_id"].isin(item_audit.loc[item_audit["decision"] == "removed", "item_id"])
    if removed.all():
        counts = Counter(rule for rules in item_audit["removed_by"] for rule in rules.split(","))
        by_rule = ", ".join(f"{rule} {count}" for rule, count in sorted(counts.items()))
        raise InputError(f"filtering: all {len(items)} items are removed ({by_rule})")
    kept = items[~removed].reset_index(drop=True)
    kept["tags"] = kept["item_id"].map(item_audit.set_index("item_id")["tags"])
    return kept, items[removed].reset_index(drop=True)


def _tag(finding: Finding) -> tuple[str, Bools]:
    """Return the tag that a rule gives to items, and which (n,) it gives it to."""
    if finding.rule in _WARNING_RULES:
        return finding.rule, finding.flagged
    retained = finding.flagged & ~finding.removed & finding.rule.startswith("easy")
    return f"retained_{finding.rule}", retained


def measure_coverage(findings: list[Finding]) -> pd.DataFrame:
    """Count the items judged, flagged and removed by rule, with the reason if it did not run.

    A rule whose inputs are missing is `not_run` and has no share, which differs from a share of 0.
    """
    rows = []
    for finding in findings:
        n = len(finding.judged)
        judged = finding.judged.sum()
        flagged = finding.flagged.sum()
        removed = finding.removed.sum()
        status: str = finding.status
        reason = finding.reason
        if status == "ran" and judged < n:
            status = "partial"
            unjudged = f"{n - judged:,} of {n:,} items could not be judged{_most_common(finding)}"
            reason = "; ".join(filter(None, [unjudged, reason]))
        if status in ("partial", "not_run"):
            log.warning("%s: %s: %s", finding.rule, status.replace("_", " "), reason)
        elif status == "ran" and reason and not removed:
            log.warning("%s: removed nothing: %s", finding.rule, reason)
        rows.append(
            {
                "rule": finding.rule,
                "status": status,
                "judged": judged,
                "not_judged": n - judged,
                "flagged": flagged,
                "retained": flagged - removed,
                "removed": removed,
                "share_removed": removed / n if finding.status == "ran" else np.nan,
                "reason": reason,
            }
        )
    return RuleCoverage.from_rows(rows)


def _most_common(finding: Finding) -> str:
    """Return the most frequent reason why an item was not judged, or ""."""
    reasons = pd.Series(finding.detail, dtype="str")[~finding.judged]
    counts = reasons[reasons != ""].value_counts().sort_index(kind="stable")
    return f" (most often: {counts.idxmax()})" if len(counts) else ""


def count_funnel(
    rejected_items: pd.DataFrame,
    items: pd.DataFrame,
    verdicts: pd.DataFrame,
    rule_coverage: pd.DataFrame,
    kept_items: pd.DataFrame,
    limit: int | None = None,
) -> pd.DataFrame:
    """Count the items that each step removed and left.

    The steps are rejected source rows, then the rules in order. With `limit` the first step is the
    items, since the rejected rows are those of the whole benchmark. An item is counted at the first
    rule that removes it, so the steps add up although rules overlap. Rules that are off or removed
    nothing have a step as well.
    """
    left = len(items)
    if limit is None:
        rows = [
            ("source rows", "start", 0, len(rejected_items) + left),
            ("malformed", "removed", len(rejected_items), left),
        ]
    else:
        rows = [("items", "start", 0, left)]
    unexplained = set(items["item_id"]) - set(kept_items["item_id"])
    removals = verdicts[verdicts["removed"]]
    for rule in rule_coverage["rule"]:
        taken = unexplained & set(removals.loc[removals["rule"] == rule, "item_id"])
        unexplained -= taken
        left -= len(taken)
        rows.append((rule, "removed", len(taken), left))
    rows.append(("kept", "end", 0, left))
    return Funnel.from_rows(rows)
