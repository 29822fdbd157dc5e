"""Tables of SMART filtering: verdicts, audit, groups, funnel and reviews."""

import pandera.pandas as pa
from pandera.typing import Series

from benchwright.tables.base import Table

RULES = (
    "anomalous",
    "easy",
    "easy_unanimous",  # in place of easy where answers have no probabilities
    "answer_only",
    "suspect_label",
    "conflicting_gold",
    "duplicate",
    "option_superset",
    "similar",
)
"""The filters' rules, in the order in which tables and pages list them."""


class Groups(Table):
    """Groups of redundant items, with the members that are kept."""

    group_id: Series[str]
    item_id: Series[str]
    kind: Series[str] = pa.Field(
        isin=["duplicate", "option_superset", "conflicting_gold", "similar"]
    )
    kept: Series[bool]


class Verdicts(Table):
    """The verdict of a rule on an item; key (item_id, rule).

    `flagged`: the rule applies; `removed`: the item goes because of it (easy items that are
    retained are flagged and not removed). `not_judged`: an input was missing for this item.
    """

    item_id: Series[str]
    rule: Series[str]
    state: Series[str] = pa.Field(isin=["flagged", "clear", "not_judged"])
    removed: Series[bool]
    value: Series[float] = pa.Field(nullable=True)
    detail: Series[str]


class ItemAudit(Table):
    """One row per item: each rule's state, and the final decision with its reasons."""

    item_id: Series[str]
    subject: Series[str]
    decision: Series[str] = pa.Field(isin=["kept", "removed"])
    tags: Series[str]  # comma-joined, e.g. retained_easy, suspect_label
    removed_by: Series[str]  # comma-joined rule names
    reasons: Series[str]  # in words
    anomalous: Series[str]
    easy: Series[str]
    easy_unanimous: Series[str]  # in place of easy where answers have no probabilities
    answer_only: Series[str]
    suspect_label: Series[str]
    conflicting_gold: Series[str]
    duplicate: Series[str]
    option_superset: Series[str]
    similar: Series[str]
    neighbour: Series[str] = pa.Field(nullable=True)
    neighbour_distance: Series[float] = pa.Field(nullable=True)
    # share of rotations that change the chosen option, mean over models; NaN if none was asked
    position_sensitivity: Series[float] = pa.Field(nullable=True)
    question: Series[str]
    choices: Series[object]
    answer: Series[int]


class RuleCoverage(Table):
    """Status of each rule, and items judged, flagged and removed (shares of all items, 0–1)."""

    rule: Series[str] = pa.Field(unique=True)
    status: Series[str] = pa.Field(isin=["ran", "partial", "not_run", "off"])
    judged: Series[int]
    not_judged: Series[int]
    flagged: Series[int]
    retained: Series[int]
    removed: Series[int]
    share_removed: Series[float] = pa.Field(nullable=True)
    reason: Series[str]  # why it did not run, or ""


class RulesBySubject(Table):
    """What each rule that ran does to each subject (SMART, section 4.1); key (subject, rule).

    Shares are of all items of the subject (0–1). Retained easy items are flagged, not removed.
    """

    subject: Series[str]
    rule: Series[str]
    items: Series[int]
    judged: Series[int]
    flagged: Series[int]
    removed: Series[int]
    share_flagged: Series[float]
    share_removed: Series[float]


class Funnel(Table):
    """From source rows to kept items: items removed and left by each step."""

    step: Series[str] = pa.Field(unique=True)  # source rows (or items), malformed, <rule> …, kept
    kind: Series[str] = pa.Field(isin=["start", "removed", "end"])
    removed: Series[int]
    left: Series[int]


class FilterModelAblation(Table):
    """Items removed with a subset of the filter models (SMART, section 5.1 and Table 6)."""

    n_models: Series[int]
    models: Series[str]  # comma-joined
    removed: Series[int]
    share_removed: Series[float]
    easy: Series[int]  # removed by the rule about easy items (net of retained ones)
    answer_only: Series[int]


class NeighbourConvergence(Table):
    """The threshold δ by the number k of nearest neighbours (SMART, Figure 5)."""

    k: Series[int] = pa.Field(unique=True)
    peaks: Series[int]
    branch: Series[str]
    threshold: Series[float] = pa.Field(nullable=True)
    items_within: Series[int]
    share_within: Series[float]


class LabelErrorRates(Table):
    """Rates of wrong labels among checked items: kept, removed, and by rule."""

    items: Series[str]  # all, kept, removed, removed by <rule>, suspect_label, 50 most suspect, …
    checked: Series[int]
    wrong: Series[int]
    rate: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)


class ReviewSheet(Table):
    """Items for manual review; the reviewer fills in `verdict` (SMART, section 5.3)."""

    item_id: Series[str]
    rule: Series[str]
    subject: Series[str]
    question: Series[str]
    choices: Series[str]  # one per line, lettered
    answer: Series[str]
    reason: Series[str]
    neighbour: Series[str]  # the text of the item it is like, "" for other rules
    verdict: Series[str]  # agree, borderline, disagree; empty until judged
    note: Series[str]


class ReviewAgreement(Table):
    """Agreement of the reviewer with each rule, with a 95% interval."""

    rule: Series[str] = pa.Field(unique=True)
    reviewed: Series[int]
    agree: Series[int]
    borderline: Series[int]
    disagree: Series[int]
    share_agree: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
