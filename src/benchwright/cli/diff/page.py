"""Write a comparison of two item audits as text, as a page and as tables."""

from pathlib import Path
from typing import Any

import pandas as pd

from benchwright.cli.diff.compare import Comparison
from benchwright.core.atomic_files import written_aside
from benchwright.reports.page.parts import (
    Folded,
    ItemLists,
    Page,
    Question,
    Section,
    Sides,
    Table,
    Text,
    as_words,
    columns,
    render_page,
    table_of,
)

LONGEST_PAGE = 1_000
"""Maximum number of items on the page; the tables contain all."""
_PAIRS = ("judged", "flagged", "removed")
_UNKNOWN = "not compared, since those of both runs are not recorded."


def terminal_lines(comparison: Comparison) -> list[str]:
    """Return the summary of items, rules and settings."""
    lines = [
        f"{comparison.title}: {comparison.before.name} → {comparison.after.name}",
        *_totals(comparison.diff.counts),
    ]
    rules = _active(comparison.diff.rules)
    if len(rules):
        table = rules[["rule", "removed_before", "removed_after", "stopped", "started"]]
        lines += ["", table.to_string(index=False)]
    if comparison.settings is None:
        lines += ["", f"settings: {_UNKNOWN}"]
    elif len(comparison.settings):
        lines += ["", "changed settings:"]
        rows = comparison.settings.replace("", "–").itertuples(index=False)
        lines += [f"  {name}: {before} → {after}" for name, before, after in rows]
    return lines


def _totals(n: dict[str, int]) -> list[str]:
    """Count the items and the kept ones before and after."""
    return [
        f"Items: {n['items_before']:,} → {n['items_after']:,}. {n['added']:,} added, "
        f"{n['gone']:,} gone, {n['changed_text']:,} with a changed text, "
        f"{n['renamed']:,} with a new id.",
        f"Kept: {n['kept_before']:,} → {n['kept_after']:,}. {n['came_in']:,} now kept, "
        f"{n['went_out']:,} now removed, {n['other_rules']:,} with the same decision for other "
        "reasons.",
    ]


def write_diff(comparison: Comparison, page: Path) -> Path:
    """Write the page, with `<name>.items.csv` and `.rules.csv` next to it."""
    page = page if page.suffix == ".html" else page.with_name(page.name + ".html")
    for name in ("items", "rules"):
        with written_aside(page.with_suffix(f".{name}.csv")) as aside:
            getattr(comparison.diff, name).to_csv(aside, index=False)
    with written_aside(page) as aside:
        aside.write_text(render_diff(comparison), encoding="utf-8")
    return page


def render_diff(comparison: Comparison) -> str:
    """Render the page: counts, rules, settings, and the changed items with their texts."""
    items = comparison.diff.items
    title = f"{comparison.title}: what changed"
    versions = f"{comparison.before.name} → {comparison.after.name}"
    changed = _lists(items.head(LONGEST_PAGE))
    if (more := len(items) - LONGEST_PAGE) > 0:
        changed.append(Text(f"The tables next to this page contain {more:,} more items."))
    sections = [
        _rules(comparison),
        Section("Settings", [_settings(comparison.settings)]),
        Section("Changed items", changed),
    ]
    lead = [Text(text) for text in (versions, *_totals(comparison.diff.counts))]
    return render_page(Page(title, title, sections, lead=lead))


def _rules(comparison: Comparison) -> Section:
    rows = [
        {
            **row,
            **{name: f"{row[f'{name}_before']:,} → {row[f'{name}_after']:,}" for name in _PAIRS},
        }
        for row in _active(comparison.diff.rules).to_dict("records")
    ]
    label = (
        "Stopped: items that the rule removes only in the earlier run. Started: only in the later."
    )
    shown = [("Rule", as_words, "rule"), *columns(" ".join((*_PAIRS, "stopped", "started")))]
    table = [table_of(rows, shown, range(1, 6), label)] if rows else []
    return Section("Rules" if rows else "", table)


def _settings(settings: pd.DataFrame | None) -> Table | Text:
    if settings is None:
        return Text(_UNKNOWN.capitalize())
    if settings.empty:
        return Text("All settings are equal.")
    rows = settings.replace("", "–").to_numpy().tolist()
    return Table("", ("Parameter", "Before", "After"), rows)


def _active(rules: pd.DataFrame) -> pd.DataFrame:
    """Drop the rules that judged no item in either run."""
    return rules[(rules["judged_before"] + rules["judged_after"]) > 0]


_TITLES = {
    "came_in": "Now kept",
    "went_out": "Now removed",
    "added": "Added: not in the earlier run",
    "gone": "Gone: not in the later run",
    "same": "Same decision, with other reasons or a changed text",
}


def _lists(items: pd.DataFrame) -> list[Any]:
    by_kind = {
        title: [_item(row) for row in items[items["change"] == kind].to_dict("records")]
        for kind, title in _TITLES.items()
    }
    lists = {title: rows for title, rows in by_kind.items() if rows}
    return [ItemLists(lists)] if lists else [Text("No item differs.")]


def _item(row: dict[Any, Any]) -> Folded:
    """Show an item with both texts if they differ, else with one of them."""
    sides = [side for side in ("before", "after") if row[f"item_id_{side}"]]
    if not row["changed_fields"]:
        sides = sides[-1:]
    texts = [
        Question(
            row[f"question_{side}"],
            list(row[f"choices_{side}"]),
            row[f"answer_{side}"],
            above=side.capitalize() if len(sides) > 1 else "",
        )
        for side in sides
    ]
    was = f" (was {row['item_id_before']})" if row["joined_by"] == "content" else ""
    note = f"{row['item_id']}{was}: {_why(row)}"
    return Folded(texts[-1].question, [Sides(texts)], note=note)


def _why(row: dict[Any, Any]) -> str:
    """Name the decision on one side, the changed rules and fields, and the reasons."""
    one_side = {"added": row["decision_after"], "gone": f"was {row['decision_before']}"}
    decision = one_side.get(row["change"], "").capitalize()
    side, word = ("after", "Now") if row["reasons_after"] else ("before", "Before")
    changed = f"Changed: {row['changed_fields']}" if row["changed_fields"] else ""
    reasons = f"{word}: {row[f'reasons_{side}']}" if row[f"reasons_{side}"] else ""
    return "".join(f"{part}. " for part in (decision, row["why"], changed, reasons) if part).strip()
