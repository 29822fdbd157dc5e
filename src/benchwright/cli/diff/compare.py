"""Compare the item audits of two runs."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchwright.cli.diff.saved_audits import SavedAudit, find_audit, read_audit
from benchwright.core.content_hash import content_hash
from benchwright.core.natural_order import natural_key
from benchwright.runs.project_conf import load_conf
from benchwright.runs.run_records import settings_of

Row = dict[str, Any]
Pair = tuple[int | None, int | None, str]


def _sides(*names: str) -> list[str]:
    return [f"{name}_{side}" for name in names for side in ("before", "after")]


ITEM_COLUMNS = (
    *("change", "item_id", *_sides("item_id"), "joined_by", "changed_fields", "subject"),
    *(*_sides("decision", "removed_by"), "rules_stopped", "rules_started", "why"),
    *_sides("reasons", "question", "choices", "answer"),
)
RULE_COLUMNS = ("rule", *_sides("judged", "flagged", "removed"), "stopped", "started")
_ABSENT = "absent"  # the audit has no column of the rule
_STOPPED = {
    "clear": "no longer applies",
    "not_judged": "can no longer be judged",
    "flagged": "still applies, but the item stays",
    "off": "is now off",
    _ABSENT: "is not in the later audit",
}
_STARTED = {
    "clear": "applies now",
    "not_judged": "applies now, but could not be judged before",
    "flagged": "also applied before, but the item stayed",
    "off": "was off before",
    _ABSENT: "was not in the earlier audit",
}


class RefinementDiff(NamedTuple):
    """The differences of two item audits.

    Attributes:
        items: a row per item that differs in decision, removing rules or text, or that is in one
            audit only. `change` is `added`, `gone`, `came_in` (removed → kept), `went_out` (kept →
            removed) or `same` (same decision with other reasons or another text).
        rules: a row per rule. `stopped` and `started` count items in both audits that the rule
            removes in only one of them.
        counts: e.g. items_before, kept_after, common, renamed (same text under another id).
    """

    items: pd.DataFrame
    rules: pd.DataFrame
    counts: dict[str, int]


def diff_audits(before: pd.DataFrame, after: pd.DataFrame) -> RefinementDiff:
    """Compare two `item_audit` tables.

    Items are matched by id and text (question and choices), then by text alone, then by id alone.
    Rules are the columns between `reasons` and `neighbour`; the two audits may have different
    rules. The order of rows does not matter.
    """
    rules = [*dict.fromkeys((*_rules(before), *_rules(after)))]
    old, new = _rows(before), _rows(after)
    compared = [
        _compare(None if i is None else old[i], None if j is None else new[j], by, rules)
        for i, j, by in match_items(old, new)
    ]
    differing = [
        row for row in compared if row["change"] != "same" or row["why"] or row["changed_fields"]
    ]
    differing.sort(key=lambda row: (_ORDER[row["change"]], natural_key(row["item_id"])))
    items = pd.DataFrame(differing, columns=list(ITEM_COLUMNS))
    return RefinementDiff(
        items, _count_rules(old, new, compared, rules), _count(old, new, compared)
    )


_ORDER = {"came_in": 0, "went_out": 1, "added": 2, "gone": 3, "same": 4}


def match_items(old: Sequence[Row], new: Sequence[Row]) -> list[Pair]:
    """Return pairs of positions of equal items; None stands for an item that one list lacks.

    The third entry is how the items were joined: `id`, `content`, `id_only` or "". Each item is in
    exactly one pair. Items with the same text are paired in order of their ids.
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
    """Return the rows by id, with choices as a list and the added keys `content` and `rules`."""
    rows: list[Row] = []
    for record in audit.to_dict("records"):
        row: Row = {str(key): value for key, value in record.items()}
        row["choices"] = [] if row["choices"] is None else [str(text) for text in row["choices"]]
        row["answer"] = int(row["answer"])
        row["content"] = content_hash(str(row["question"]), row["choices"])
        row["rules"] = [rule for rule in str(row["removed_by"]).split(",") if rule]
        rows.append(row)
    return sorted(rows, key=lambda row: natural_key(row["item_id"]))


_MISSING_ITEM: Row = {
    **dict.fromkeys(("item_id", "decision", "removed_by", "reasons", "question"), ""),
    "choices": [],
    "answer": -1,
}


def _compare(old: Row | None, new: Row | None, by: str, rules: list[str]) -> Row:
    item = new or old or {}
    sides = {"before": old or _MISSING_ITEM, "after": new or _MISSING_ITEM}
    row: Row = dict.fromkeys(ITEM_COLUMNS, "")
    row |= {"item_id": item["item_id"], "subject": item["subject"], "joined_by": by}
    row |= {f"{name}_{side}": sides[side][name] for side in sides for name in _MISSING_ITEM}
    if old is None or new is None:
        return row | {"change": "gone" if old else "added"}
    stopped = [rule for rule in old["rules"] if rule not in new["rules"]]
    started = [rule for rule in new["rules"] if rule not in old["rules"]]
    stopped, started = ([rule for rule in rules if rule in some] for some in (stopped, started))
    why = [f"{rule} {_STOPPED[new.get(rule, _ABSENT)]}" for rule in stopped]
    why += [f"{rule} {_STARTED[old.get(rule, _ABSENT)]}" for rule in started]
    came_in = {"kept": "came_in", "removed": "went_out"}
    return row | {
        "change": "same" if old["decision"] == new["decision"] else came_in[new["decision"]],
        "changed_fields": ", ".join(_changed_fields(old, new)),
        "rules_stopped": ",".join(stopped),
        "rules_started": ",".join(started),
        "why": "; ".join(why),
    }


def _changed_fields(old: Row, new: Row) -> list[str]:
    same_set = sorted(old["choices"]) == sorted(new["choices"])
    changed = {
        "question": old["question"] != new["question"],
        "order of choices" if same_set else "choices": old["choices"] != new["choices"],
        "answer": _gold(old) != _gold(new),
    }
    return [name for name, differs in changed.items() if differs]


def _gold(row: Row) -> Any:
    answer = row["answer"]
    return row["choices"][answer] if 0 <= answer < len(row["choices"]) else answer


def _count_rules(
    old: list[Row], new: list[Row], compared: list[Row], rules: list[str]
) -> pd.DataFrame:
    table = []
    for rule in rules:
        row: Row = {"rule": rule}
        for side, items in (("before", old), ("after", new)):
            states = Counter(item.get(rule, _ABSENT) for item in items)
            row[f"judged_{side}"] = states["flagged"] + states["clear"]
            row[f"flagged_{side}"] = states["flagged"]
            row[f"removed_{side}"] = sum(rule in item["rules"] for item in items)
        for way in ("stopped", "started"):
            row[way] = sum(rule in each[f"rules_{way}"].split(",") for each in compared)
        table.append(row)
    return pd.DataFrame(table, columns=list(RULE_COLUMNS))


def _count(old: list[Row], new: list[Row], compared: list[Row]) -> dict[str, int]:
    changes = Counter(row["change"] for row in compared)
    both = [row for row in compared if row["joined_by"]]
    return {
        "items_before": len(old),
        "items_after": len(new),
        "kept_before": sum(row["decision"] == "kept" for row in old),
        "kept_after": sum(row["decision"] == "kept" for row in new),
        "common": len(both),
        "renamed": sum(row["joined_by"] == "content" for row in both),
        "added": changes["added"],
        "gone": changes["gone"],
        "changed_text": sum(bool(row["changed_fields"]) for row in both),
        "came_in": changes["came_in"],
        "went_out": changes["went_out"],
        "other_rules": sum(row["change"] == "same" and bool(row["why"]) for row in both),
    }


class Comparison(NamedTuple):
    """Two item audits and their differences.

    `settings` has parameter, before and after of those that differ, None if they are not recorded.
    """

    title: str
    before: SavedAudit
    after: SavedAudit
    diff: RefinementDiff
    settings: pd.DataFrame | None
    default_page: Path


def compare_saved(
    project: Path, env: str | None, params: Mapping[str, Any], before: str, after: str
) -> Comparison:
    """Find and compare two item audits.

    `before` and `after` are a version or its prefix, `latest`, `previous`, or a path. `params` may
    have benchmark, variant, limit, seed and data_root; the defaults are those in conf/.

    Raises:
        InputError: there is no such version, path or table.
    """
    catalog = load_conf(project, env, params)["catalog"]
    audits, metrics = (
        project / str(catalog[name]["filepath"]) for name in ("item_audit", "metrics")
    )
    old, new = (find_audit(name, audits) for name in (before, after))
    recorded = [settings_of(audit.path, audit.version) for audit in (old, new)]
    return Comparison(
        title=" → ".join(dict.fromkeys(audit.where or str(audit.path) for audit in (old, new))),
        before=old,
        after=new,
        diff=diff_audits(read_audit(old.path), read_audit(new.path)),
        settings=differing_settings(*recorded),
        default_page=metrics.parent / "diffs" / f"{old.stem}_to_{new.stem}" / "diff.html",
    )


def differing_settings(
    before: Mapping[str, str] | None, after: Mapping[str, str] | None
) -> pd.DataFrame | None:
    """Return the parameters that differ; a missing value is "". None if either is unknown."""
    if before is None or after is None:
        return None
    sides = pd.DataFrame({"before": dict(before), "after": dict(after)}, dtype=object).fillna("")
    differing = sides[sides["before"] != sides["after"]].sort_index()
    return differing.rename_axis("parameter").reset_index()
