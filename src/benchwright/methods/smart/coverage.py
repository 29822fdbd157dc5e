"""What each rule could judge, what it found, and how much the rules overlap (SMART, Table 1)."""

import logging
from itertools import combinations

import numpy as np
import pandas as pd

from benchwright.methods.smart.finding import Finding
from benchwright.tables.smart import Overlaps, RuleCoverage

log = logging.getLogger(__name__)

_NEVER_REMOVE = ("suspect_label", "conflicting_gold")


def measure_coverage(findings: list[Finding]) -> pd.DataFrame:
    """Counts for each rule the items judged, flagged and removed, and says why one did not run.

    A rule whose inputs are missing is `not_run` and has no share: that is not "nothing found".
    """
    rows = []
    for finding in findings:
        n = len(finding.judged)
        judged = int(finding.judged.sum())
        status, reason = _status(finding, n - judged, n)
        if status in ("partial", "not_run"):
            log.warning("%s: %s: %s", finding.rule, status.replace("_", " "), reason)
        flagged, removed = int(finding.flagged.sum()), int(finding.removed.sum())
        share = removed / n if finding.status == "ran" else np.nan
        rows.append(
            (
                finding.rule,
                status,
                judged,
                n - judged,
                flagged,
                flagged - removed,
                removed,
                share,
                reason,
            )
        )
    return RuleCoverage.from_rows(rows)


def measure_overlaps(findings: list[Finding]) -> pd.DataFrame:
    """Counts the items that two rules both remove, as a share of all items."""
    removing = [
        finding
        for finding in findings
        if finding.status == "ran" and finding.rule not in _NEVER_REMOVE
    ]
    return Overlaps.from_rows(
        [
            (a.rule, b.rule, int(both.sum()), float(both.mean()))
            for a, b in combinations(removing, 2)
            for both in [a.removed & b.removed]
        ]
    )


def _status(finding: Finding, not_judged: int, n: int) -> tuple[str, str]:
    if finding.status != "ran":
        return finding.status, finding.reason
    if not_judged:
        unjudged = f"{not_judged:,} of {n:,} items could not be judged{_most_common(finding)}"
        return "partial", "; ".join(filter(None, [unjudged, finding.reason]))
    return "ran", finding.reason


def _most_common(finding: Finding) -> str:
    """The most frequent reason in words why an item was not judged, or ""."""
    reasons = pd.Series(finding.detail, dtype="str")[~finding.judged]
    counts = reasons[reasons != ""].value_counts().sort_index(kind="stable")
    return f" (most often: {counts.idxmax()})" if len(counts) else ""
