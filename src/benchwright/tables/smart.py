"""Tables of SMART filtering: verdicts, audit, groups, funnel and reviews."""

from benchwright.tables.base import Columns

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


Groups = Columns(
    (str, "group_id", "item_id", "kind"),  # duplicate, option_superset, conflicting_gold, similar
    (bool, "kept"),
)
"""Groups of redundant items, with the members that are kept."""


Verdicts = Columns(
    (str, "item_id", "rule", "state"),  # flagged, clear, not_judged
    (bool, "removed"),
    (float, "value"),
    (str, "detail"),
)
"""The verdict of a rule on an item; key (item_id, rule).

`flagged`: the rule applies; `removed`: the item goes because of it (easy items that are
retained are flagged and not removed). `not_judged`: an input was missing for this item.
"""


ItemAudit = Columns(
    # decision: kept or removed; tags, e.g. retained_easy, and rules are joined by commas
    (str, "item_id", "subject", "decision", "tags", "removed_by", "reasons", *RULES, "neighbour"),
    (float, "neighbour_distance"),
    (str, "question"),
    (object, "choices"),
    (int, "answer"),
)
"""One row per item: each rule's state, and the final decision with its reasons in words."""


RuleCoverage = Columns(
    (str, "rule", "status"),
    (int, "judged", "not_judged", "flagged", "retained", "removed"),
    (float, "share_removed"),
    (str, "reason"),
)
"""Status of each rule, and items judged, flagged and removed (shares of all items, 0–1)."""


Funnel = Columns(
    (str, "step", "kind"),  # step: source rows (or items), malformed, <rule> …, kept
    (int, "removed", "left"),
)
"""From source rows to kept items: items removed and left by each step."""

LabelErrorRates = Columns(
    # items: all, kept, removed, removed by <rule>, suspect_label, 50 most suspect, …
    (str, "items"),
    (int, "checked", "wrong"),
    (float, "rate", "low", "high"),
)
"""Rates of wrong labels among checked items: kept, removed, and by rule."""

ReviewSheet = Columns(
    # neighbour: the text of the item it is like, "" for other rules
    (str, "item_id", "rule", "subject", "question", "choices", "answer", "reason", "neighbour"),
    (str, "verdict", "note"),  # verdict: agree, borderline, disagree; empty until judged
)
"""Items for manual review; the reviewer fills in `verdict` (SMART, section 5.3)."""

ReviewAgreement = Columns(
    (str, "rule"),
    (int, "reviewed", "agree", "borderline", "disagree"),
    (float, "share_agree", "low", "high"),
)
"""Agreement of the reviewer with each rule, with a 95% interval."""
