"""`benchwright diff`: what changed between two refinements, by their item audits."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import pandas as pd

from benchwright.cli.command import Command, enter_project
from benchwright.cli.options import env_option, out_option, saved_run_options
from benchwright.cli.outputs import print_lines, write_output
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.natural_order import natural_key
from benchwright.core.text_table import table_lines
from benchwright.runs.project_conf import load_conf
from benchwright.runs.run_records import settings_of
from benchwright.runs.saved_runs import saved_versions

Row = dict[str, Any]

AUDIT = "item_audit.parquet"
_PRINTED = 20  # items that differ
_OF_AUDIT = (
    *("item_id", "subject", "decision", "removed_by", "reasons", "neighbour"),
    *("question", "choices", "answer"),
)
_OF_SIDE = ("item_id", "decision", "removed_by", "reasons", "question", "choices", "answer")
_COLUMNS = (
    *("change", "item_id", "joined_by", "changed_fields", "subject", "why"),
    *(f"{name}_{side}" for name in _OF_SIDE for side in ("before", "after")),
)
_MOVES = {("removed", "kept"): "came_in", ("kept", "removed"): "went_out"}
_CHANGES = ("came_in", "went_out", "added", "gone", "same")
_UNKNOWN = "not compared, since those of both runs are not recorded."


@click.command(cls=Command)
@click.argument("before", default="previous")
@click.argument("after", default="latest")
@saved_run_options
@out_option
@env_option
def diff_command(
    before: str, after: str, params: dict[str, Any], out: Path | None, env: str | None
) -> None:
    """Compare the kept items of two runs.

    The comparison names the rules behind each change. BEFORE and AFTER each name a run: a version
    or a unique prefix of one, `latest`, `previous`, a folder, or an item_audit.parquet file. By
    default, the last two runs are compared.
    """
    comparison = compare_saved(enter_project(), env, params, before, after)
    print_lines(terminal_lines(comparison))
    write_output(out, lambda: diff_json(comparison))


class SavedAudit(NamedTuple):
    """One saved item audit.

    Attributes:
        path: its item_audit.parquet.
        version: its version, "" if no run saved it.
        where: benchmark and variant, from the folder names; "" without a version.
    """

    path: Path
    version: str
    where: str = ""


class RefinementDiff(NamedTuple):
    """The differences of two item audits.

    Attributes:
        items: a row per item that differs in decision, removing rules or text, or that is in one
            audit only. `change` is `came_in` (removed → kept), `went_out` (kept → removed),
            `added`, `gone` or `same` (same decision with other reasons or another text).
        rules: a row per rule that removes an item. `stopped` and `started` count items in both
            audits that the rule removes in only one of them.
        counts: e.g. items_before, kept_after, common, renamed (same text under another id).
    """

    items: pd.DataFrame
    rules: pd.DataFrame
    counts: dict[str, int]


class Comparison(NamedTuple):
    """Two item audits and their differences.

    `settings` has parameter, before and after of those that differ, None if they are not recorded.
    """

    title: str
    before: SavedAudit
    after: SavedAudit
    diff: RefinementDiff
    settings: pd.DataFrame | None


def compare_saved(
    project: Path, env: str | None, params: Mapping[str, Any], before: str, after: str
) -> Comparison:
    """Find and compare two item audits.

    `before` and `after` are a version or its prefix, `latest`, `previous`, or a path. `params` may
    have benchmark, variant, limit, seed and data_root; the defaults are those in conf/.

    Raises:
        InputError: there is no such version, path or table.
    """
    audits = project / str(load_conf(project, env, params)["catalog"]["item_audit"]["filepath"])
    old = find_audit(before, audits)
    new = find_audit(after, audits)
    settings = differing_settings(
        settings_of(old.path, old.version), settings_of(new.path, new.version)
    )
    return Comparison(
        " → ".join(dict.fromkeys([old.where or str(old.path), new.where or str(new.path)])),
        old,
        new,
        diff=diff_audits(read_audit(old.path), read_audit(new.path)),
        settings=settings,
    )


def find_audit(name: str, versions: Path) -> SavedAudit:
    """Find the audit that `name` refers to.

    Args:
        name: a version or its prefix, `latest`, `previous`, an audit file, or the folder of a
            version or of a variant.
        versions: the folder with the versions of this benchmark and variant.

    Raises:
        InputError: there is no such audit; the message lists existing ones.
    """
    path = Path(name)
    if not path.exists():
        path = _pick_version(name, versions)
    elif path.is_dir():
        files = [*path.glob(AUDIT), *saved_versions(path / AUDIT)]
        files = [file for file in files if file.is_file()]
        if not files:
            raise InputError(f"{name}: no {AUDIT} in this folder")
        path = files[-1]
    path = path.resolve()
    if path.parent.parent.name != AUDIT:  # else a run saved it: …/item_audit.parquet/<version>/…
        return SavedAudit(path, "")
    where = path.as_posix().rpartition("/07_model_output/")[2].split("/")[-6:-3]
    return SavedAudit(path, path.parent.name, " · ".join(where))


def _pick_version(name: str, folder: Path) -> Path:
    files = saved_versions(folder)
    if name in ("latest", "previous"):
        place = -1 if name == "latest" else -2
        if len(files) < -place:
            has = f"{folder.parent} has {'one run' if files else 'no run'} of the two to compare"
            raise InputError(f"{name!r}: {has}; make one (kedro run), or see benchwright list runs")
        return files[place]
    # Also of runs with a limit or seed.
    known = {file.parent.name: file for file in [*files, *folder.parent.glob(f"*/{AUDIT}/*/*")]}
    matches = [version for version in sorted(known) if version.startswith(name)]
    if len(matches) != 1:
        problem = "matches several versions" if matches else "is neither a version nor a path"
        existing = ", ".join((matches or sorted(known))[-5:])
        raise InputError(f"{name!r} {problem}; {folder} has {existing or 'none'}")
    return known[matches[0]]


def read_audit(path: Path) -> pd.DataFrame:
    """Read an item_audit.parquet with the columns that a comparison needs.

    Raises:
        InputError: it is not a Parquet file, or lacks a column.
    """
    try:
        audit = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a valid Parquet file: {error}") from error
    if lacking := [column for column in _OF_AUDIT if column not in audit.columns]:
        raise InputError(f"{path}: not an item audit; missing columns: {', '.join(lacking)}")
    return audit


def differing_settings(
    before: Mapping[str, str] | None, after: Mapping[str, str] | None
) -> pd.DataFrame | None:
    """Return the parameters that differ; a missing value is "". None if either is unknown."""
    if before is None or after is None:
        return None
    rows = []
    for name in sorted(before.keys() | after.keys()):
        old = before.get(name, "")
        new = after.get(name, "")
        if old != new:
            rows.append((name, old, new))
    return pd.DataFrame(rows, columns=["parameter", "before", "after"], dtype=object)


def diff_audits(before: pd.DataFrame, after: pd.DataFrame) -> RefinementDiff:
    """Compare two `item_audit` tables.

    Items are matched by id and text (question and choices), then by text alone, then by id alone.
    Rules are the columns between `reasons` and `neighbour`; the two audits may have different
    rules. The order of rows does not matter.
    """
    rules = list(dict.fromkeys((*_rules(before), *_rules(after))))
    old, new = _rows(before), _rows(after)
    pairs = match_items(old, new)
    compared = [_compare(*pair, rules) for pair in pairs]
    differing = [
        row for row in compared if row["change"] != "same" or row["why"] or row["changed_fields"]
    ]
    differing.sort(key=lambda row: (_CHANGES.index(row["change"]), natural_key(row["item_id"])))
    both = [(a["rules"], b["rules"]) for a, b, _ in pairs if a and b]
    removed = [
        {
            "rule": rule,
            "removed_before": sum(rule in row["rules"] for row in old),
            "removed_after": sum(rule in row["rules"] for row in new),
            "stopped": sum(rule in a and rule not in b for a, b in both),
            "started": sum(rule in b and rule not in a for a, b in both),
        }
        for rule in rules
    ]
    removing = [row for row in removed if row["removed_before"] or row["removed_after"]]
    items = pd.DataFrame(differing, columns=list(_COLUMNS))
    return RefinementDiff(items, pd.DataFrame(removing), _count(old, new, compared))


def _rules(audit: pd.DataFrame) -> list[str]:
    columns = list(audit.columns)
    return columns[columns.index("reasons") + 1 : columns.index("neighbour")]


def _rows(audit: pd.DataFrame) -> list[Row]:
    """Return the rows by id, with choices as a list and the added keys `content` and `rules`."""
    rows: list[Row] = []
    for record in audit.to_dict("records"):
        row: Row = {str(key): value for key, value in record.items()}
        choices = [] if row["choices"] is None else list(map(str, row["choices"]))
        row |= {
            "choices": choices,
            "answer": int(row["answer"]),
            "content": content_hash(str(row["question"]), choices),
            "rules": list(filter(None, str(row["removed_by"]).split(","))),
        }
        rows.append(row)
    return sorted(rows, key=lambda row: natural_key(row["item_id"]))


def match_items(old: Sequence[Row], new: Sequence[Row]) -> list[tuple[Row | None, Row | None, str]]:
    """Return pairs of equal items; None stands for an item that one list lacks.

    The third entry is how the items were joined: `id`, `content`, `id_only` or "". Each item is in
    exactly one pair. Items with the same text are paired in order of their ids.
    """
    pairs: list[tuple[Row | None, Row | None, str]] = []
    steps: list[tuple[str, Callable[[Row], Hashable]]] = [
        ("id", lambda row: (row["item_id"], row["content"])),
        ("content", lambda row: (row["content"], row["answer"])),
        ("content", lambda row: row["content"]),
        ("id_only", lambda row: row["item_id"]),
    ]
    for by, key in steps:
        waiting: dict[Hashable, list[Row]] = defaultdict(list)
        for row in reversed(new):
            waiting[key(row)].append(row)
        alone = []
        for row in old:
            same = waiting[key(row)]
            if same:
                pairs.append((row, same.pop(), by))
            else:
                alone.append(row)
        old = alone
        left = {id(row) for rows in waiting.values() for row in rows}
        new = [row for row in new if id(row) in left]
    return pairs + [(row, None, "") for row in old] + [(None, row, "") for row in new]


def _compare(old: Row | None, new: Row | None, by: str, rules: Sequence[str]) -> Row:
    item = new or old or {}
    row = {
        "change": "gone" if old else "added",
        "item_id": item["item_id"],
        "joined_by": by,
        "changed_fields": "",
        "subject": item["subject"],
        "why": "",
    }
    if old and new:
        moved = (old["decision"], new["decision"])
        row["change"] = _MOVES.get(moved, "same")
        row["changed_fields"] = ", ".join(_changed_fields(old, new))
        row["why"] = "; ".join(
            f"{rule}: {_state(old, rule)} → {_state(new, rule)}"
            for rule in rules
            if (rule in old["rules"]) != (rule in new["rules"])
        )
    missing = dict.fromkeys(_OF_SIDE, "") | {"choices": [], "answer": -1}
    for name in _OF_SIDE:
        row[f"{name}_before"] = (old or missing)[name]
        row[f"{name}_after"] = (new or missing)[name]
    return row


def _state(row: Row, rule: str) -> str:
    """Return `removed`, else the state of the rule: flagged, clear, not_judged, off or absent."""
    return "removed" if rule in row["rules"] else str(row.get(rule, "absent"))


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


def _count(old: Sequence[Row], new: Sequence[Row], compared: Sequence[Row]) -> dict[str, int]:
    changes = Counter(row["change"] for row in compared)
    both = [row for row in compared if row["joined_by"]]
    return {
        "items_before": len(old),
        "items_after": len(new),
        "kept_before": sum(row["decision"] == "kept" for row in old),
        "kept_after": sum(row["decision"] == "kept" for row in new),
        "common": len(both),
        "renamed": sum(row["joined_by"] == "content" for row in both),
        "changed_text": sum(bool(row["changed_fields"]) for row in both),
        **{change: changes[change] for change in ("added", "gone", "came_in", "went_out")},
        "other_rules": sum(row["change"] == "same" and bool(row["why"]) for row in both),
    }


def terminal_lines(comparison: Comparison) -> list[str]:
    """Return the summary of items, rules and settings, and the first items that differ."""
    items, rules, n = comparison.diff
    lines = [
        f"{comparison.title}: {' → '.join(_sides(comparison))}",
        f"Items: {n['items_before']:,} → {n['items_after']:,}. {n['added']:,} added, "
        f"{n['gone']:,} gone, {n['changed_text']:,} with a changed text, "
        f"{n['renamed']:,} with a new id.",
        f"Kept: {n['kept_before']:,} → {n['kept_after']:,}. {n['came_in']:,} now kept, "
        f"{n['went_out']:,} now removed, {n['other_rules']:,} with the same decision for other "
        "reasons.",
    ]
    if len(rules):
        lines += ["", *table_lines(rules.to_dict("records"))]
    if comparison.settings is None:
        lines += ["", f"settings: {_UNKNOWN}"]
    elif len(comparison.settings):
        rows = comparison.settings.replace("", "–").itertuples(index=False)
        lines += ["", "changed settings:"]
        lines += [f"  {name}: {before} → {after}" for name, before, after in rows]
    if len(items):
        first = items.head(_PRINTED)
        rest = f" (the first {_PRINTED} of {len(items):,})" if len(items) > _PRINTED else ""
        shown = first[["change", "item_id", "why"]].assign(changed=first["changed_fields"])
        lines += ["", f"items that differ{rest}:", *table_lines(shown.to_dict("records"))]
    return lines


def _sides(comparison: Comparison) -> list[str]:
    return [side.version or str(side.path) for side in (comparison.before, comparison.after)]


def diff_json(comparison: Comparison) -> dict[str, Any]:
    """Return all differences as JSON; settings are null where they are not recorded."""
    items, rules, counts = comparison.diff
    before, after = _sides(comparison)
    settings = comparison.settings
    return {
        "format": 1,
        "before": before,
        "after": after,
        "counts": counts,
        "rules": rules.to_dict("records"),
        "settings": None if settings is None else settings.to_dict("records"),
        "items": items.to_dict("records"),
    }
