"""What changed between two refinements of a benchmark: which items came in, went out, and why."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.content_hash import content_hash
from benchwright.core.natural_order import natural_key

Row = dict[str, Any]
Pair = tuple[int | None, int | None, str]

ITEM_COLUMNS = (
    "change",
    "item_id",
    "item_id_before",
    "item_id_after",
    "joined_by",
    "changed_fields",
    "subject",
    "decision_before",
    "decision_after",
    "removed_by_before",
    "removed_by_after",
    "rules_stopped",
    "rules_started",
    "why",
    "reasons_before",
    "reasons_after",
    "question_before",
    "question_after",
    "choices_before",
    "choices_after",
    "answer_before",
    "answer_after",
)
RULE_COLUMNS = (
    "rule",
    "judged_before",
    "judged_after",
    "flagged_before",
    "flagged_after",
    "removed_before",
    "removed_after",
    "stopped",
    "started",
)
# States of a rule in an audit, and beyond them: the audit has no such column.
_ABSENT = "absent"
_STOPPED = {
    "clear": "no longer applies",
    "not_judged": "could not be judged any more",
    "flagged": "still applies, but the item stays",
    "off": "is switched off",
    _ABSENT: "is not in the later audit",
}
_STARTED = {
    "clear": "applies now",
    "not_judged": "applies now, and could not be judged before",
    "flagged": "applied before too, but the item stayed",
    "off": "was switched off before",
    _ABSENT: "was not in the earlier audit",
}


class RefinementDiff(NamedTuple):
    """The differences of two item audits.

    Attributes:
        items: one row per item that differs in decision, in the rules that remove it or in its
            text, and per item that only one audit has; columns `ITEM_COLUMNS`. `change` is
            `added`, `gone`, `came_in` (removed → kept), `went_out` (kept → removed) or `same`
            (the same decision, for other reasons or with another text).
        rules: one row per rule; columns `RULE_COLUMNS`. `stopped` and `started` count items of
            both audits that the rule removes in one of them only.
        counts: items_before, items_after, kept_before, kept_after, common, renamed (joined by
            content under another id), added, gone, changed_text, came_in, went_out, other_rules.
    """

    items: pd.DataFrame
    rules: pd.DataFrame
    counts: dict[str, int]


def diff_audits(before: pd.DataFrame, after: pd.DataFrame) -> RefinementDiff:
    """Compare two tables `item_audit`.

    An item is the same if its id and its text (question and choices) are equal; then, if its text
    is equal under another id, so that renumbered items find each other; last, if its id is equal,
    and its text has changed. Rules are the audit's columns from after `reasons` to before
    `neighbour`; the two audits need not have the same ones. The order of rows does not matter.
    """
    rules = [*dict.fromkeys((*_rules(before), *_rules(after)))]
    old, new = _rows(before), _rows(after)
    pairs = match_items(old, new)
    compared = [_compare(_at(old, i), _at(new, j), by, rules) for i, j, by in pairs]
    differing = [row for row in compared if row["change"] != "same" or _differs(row)]
    differing.sort(key=lambda row: (_ORDER[row["change"]], natural_key(row["item_id"])))
    items = pd.DataFrame(differing, columns=list(ITEM_COLUMNS))
    return RefinementDiff(
        items, _count_rules(old, new, compared, rules), _count(old, new, compared)
    )


_ORDER = {"came_in": 0, "went_out": 1, "added": 2, "gone": 3, "same": 4}


def match_items(old: Sequence[Row], new: Sequence[Row]) -> list[Pair]:
    """Positions of equal items in both lists, None where one list has no such item.

    The third entry says by what they were joined: `id`, `content`, `id_only` or "". Each item is
    in exactly one pair. Of several items with the same text the first by id go together.
    """
    pairs: list[Pair] = []
    left, right = list(range(len(old))), list(range(len(new)))
    steps: list[tuple[str, Callable[[Row], Hashable]]] = [
        ("id", lambda row: (row["item_id"], row["content"])),
        ("content", lambda row: (row["content"], row["answer"])),
        ("content", lambda row: row["content"]),
        ("id_only", lambda row: row["item_id"]),
    ]
    for by, key in steps:
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for j in reversed(right):
            waiting[key(new[j])].append(j)
        joined: dict[int, int] = {}
        for i in left:
            if same := waiting[key(old[i])]:
                joined[i] = same.pop()
        pairs += [(i, j, by) for i, j in joined.items()]
        taken = set(joined.values())
        left = [i for i in left if i not in joined]
        right = [j for j in right if j not in taken]
    return pairs + [(i, None, "") for i in left] + [(None, j, "") for j in right]


def _rules(audit: pd.DataFrame) -> list[str]:
    columns = list(audit.columns)
    return columns[columns.index("reasons") + 1 : columns.index("neighbour")]


def _rows(audit: pd.DataFrame) -> list[Row]:
    """The audit's rows in the order of their ids, with choices as a tuple and `content`."""
    rows: list[Row] = []
    for record in audit.to_dict("records"):
        choices = record["choices"]
        row: Row = {str(key): value for key, value in record.items()}
        row["choices"] = () if choices is None else tuple(str(choice) for choice in choices)
        row["content"] = content_hash(str(row["question"]), row["choices"])
        row["rules"] = [rule for rule in str(row["removed_by"]).split(",") if rule]
        rows.append(row)
    return sorted(rows, key=lambda row: natural_key(row["item_id"]))


def _at(rows: list[Row], position: int | None) -> Row | None:
    return None if position is None else rows[position]


def _compare(old: Row | None, new: Row | None, by: str, rules: list[str]) -> Row:
    there = new or old or {}
    row: Row = {
        "change": _change(old, new),
        "item_id": there["item_id"],
        "joined_by": by,
        "changed_fields": ", ".join(_changed_fields(old, new)) if old and new else "",
        "subject": there["subject"],
    }
    for side, item in (("before", old), ("after", new)):
        row[f"item_id_{side}"] = item["item_id"] if item else ""
        row[f"decision_{side}"] = item["decision"] if item else ""
        row[f"removed_by_{side}"] = item["removed_by"] if item else ""
        row[f"reasons_{side}"] = item["reasons"] if item else ""
        row[f"question_{side}"] = item["question"] if item else ""
        row[f"choices_{side}"] = list(item["choices"]) if item else []
        row[f"answer_{side}"] = int(item["answer"]) if item else -1
    stopped, started = _switched(old, new, rules) if old and new else ([], [])
    row["rules_stopped"], row["rules_started"] = ",".join(stopped), ",".join(started)
    row["why"] = "; ".join(_why(old, new, stopped, started)) if old and new else ""
    return row


def _change(old: Row | None, new: Row | None) -> str:
    if old is None:
        return "added"
    if new is None:
        return "gone"
    if old["decision"] == new["decision"]:
        return "same"
    return "came_in" if new["decision"] == "kept" else "went_out"


def _changed_fields(old: Row, new: Row) -> list[str]:
    changed = ["question"] if old["question"] != new["question"] else []
    reordered = sorted(old["choices"]) == sorted(new["choices"])
    if old["choices"] != new["choices"]:
        changed.append("order of choices" if reordered else "choices")
    if _gold(old) != _gold(new):
        changed.append("answer")
    return changed


def _gold(row: Row) -> Any:
    """The text of the right choice; the index where there are no choices."""
    answer = int(row["answer"])
    return row["choices"][answer] if 0 <= answer < len(row["choices"]) else answer


def _switched(old: Row, new: Row, rules: list[str]) -> tuple[list[str], list[str]]:
    """Rules that removed the item before only, and those that remove it now only."""
    order = [*rules, *sorted({*old["rules"], *new["rules"]} - set(rules))]
    return (
        [rule for rule in order if rule in old["rules"] and rule not in new["rules"]],
        [rule for rule in order if rule in new["rules"] and rule not in old["rules"]],
    )


def _why(old: Row, new: Row, stopped: list[str], started: list[str]) -> list[str]:
    said = [f"{rule} {_STOPPED.get(new.get(rule, _ABSENT), 'stopped')}" for rule in stopped]
    said += [f"{rule} {_STARTED.get(old.get(rule, _ABSENT), 'started')}" for rule in started]
    return said


def _differs(row: Row) -> bool:
    return bool(row["rules_stopped"] or row["rules_started"] or row["changed_fields"])


def _count_rules(
    old: list[Row], new: list[Row], compared: list[Row], rules: list[str]
) -> pd.DataFrame:
    table = []
    for rule in rules:
        row: Row = {"rule": rule}
        for side, items in (("before", old), ("after", new)):
            states = [item.get(rule, _ABSENT) for item in items]
            row[f"judged_{side}"] = sum(state in ("flagged", "clear") for state in states)
            row[f"flagged_{side}"] = states.count("flagged")
            row[f"removed_{side}"] = sum(rule in item["rules"] for item in items)
        row["stopped"] = sum(rule in row["rules_stopped"].split(",") for row in compared)
        row["started"] = sum(rule in row["rules_started"].split(",") for row in compared)
        table.append(row)
    return pd.DataFrame(table, columns=list(RULE_COLUMNS))


def _count(old: list[Row], new: list[Row], compared: list[Row]) -> dict[str, int]:
    def changes(kind: str) -> int:
        return sum(row["change"] == kind for row in compared)

    both = [row for row in compared if row["joined_by"]]
    return {
        "items_before": len(old),
        "items_after": len(new),
        "kept_before": sum(row["decision"] == "kept" for row in old),
        "kept_after": sum(row["decision"] == "kept" for row in new),
        "common": len(both),
        "renamed": sum(row["joined_by"] == "content" for row in both),
        "added": changes("added"),
        "gone": changes("gone"),
        "changed_text": sum(bool(row["changed_fields"]) for row in both),
        "came_in": changes("came_in"),
        "went_out": changes("went_out"),
        "other_rules": sum(
            row["change"] == "same" and bool(row["rules_stopped"] or row["rules_started"])
            for row in both
        ),
    }
