"""A comparison of two refinements on the terminal, as a page and as tables."""

from pathlib import Path
from typing import Any

import pandas as pd

from benchwright.commands.diff.saved_audits import Comparison
from benchwright.datasets.atomic import written_aside
from benchwright.reports.page.small_page import render_page

LONGEST_PAGE = 1_000
"""Items on the page; the tables have them all."""


def terminal_lines(comparison: Comparison) -> list[str]:
    """The summary: how many items, which rules, which settings."""
    n = comparison.diff.counts
    lines = [
        f"{comparison.title}: {comparison.before.name} → {comparison.after.name}",
        f"items  {n['items_before']:,} → {n['items_after']:,}: {n['added']:,} added, "
        f"{n['gone']:,} gone, {n['changed_text']:,} with another text, "
        f"{n['renamed']:,} the same under another id",
        f"kept   {n['kept_before']:,} → {n['kept_after']:,}: {n['came_in']:,} came in, "
        f"{n['went_out']:,} went out, {n['other_rules']:,} the same for other reasons",
    ]
    rules = _active(comparison.diff.rules)
    if len(rules):
        shown = rules[["rule", "removed_before", "removed_after", "stopped", "started"]]
        lines += ["", shown.to_string(index=False)]
    for row in comparison.coverage.to_dict("records"):
        lines.append(f"{row['rule']}: {_status(row, 'before')} → {_status(row, 'after')}")
    if len(comparison.settings):
        lines += ["", "settings that differ (MLflow):"]
        lines += [
            f"  {row['parameter']}: {row['before'] or '–'} → {row['after'] or '–'}"
            for row in comparison.settings.to_dict("records")
        ]
    elif not comparison.settings_known:
        lines += ["", "settings: not compared, MLflow does not know both runs"]
    return lines


def write_diff(comparison: Comparison, page: Path) -> Path:
    """Write the page, and beside it `<name>.items.csv`, `.items.parquet` and `.rules.csv`."""
    page = page if page.suffix == ".html" else page.with_name(page.name + ".html")
    tables = comparison.diff
    with written_aside(page.with_suffix(".items.csv")) as aside:
        tables.items.to_csv(aside, index=False)
    with written_aside(page.with_suffix(".items.parquet")) as aside:
        tables.items.to_parquet(aside, index=False)
    with written_aside(page.with_suffix(".rules.csv")) as aside:
        tables.rules.to_csv(aside, index=False)
    with written_aside(page) as aside:
        aside.write_text(render_diff(comparison), encoding="utf-8")
    return page


def render_diff(comparison: Comparison) -> str:
    """The page: counts, rules, settings, and the items that changed with their texts."""
    items = comparison.diff.items
    return render_page(
        "refinement_diff.html",
        title=comparison.title,
        before=comparison.before.name,
        after=comparison.after.name,
        n=comparison.diff.counts,
        rules=_active(comparison.diff.rules).to_dict("records"),
        coverage=comparison.coverage.to_dict("records"),
        settings=comparison.settings.to_dict("records"),
        settings_known=comparison.settings_known,
        sections=_sections(items.head(LONGEST_PAGE)),
        left_out=max(0, len(items) - LONGEST_PAGE),
    )


def _active(rules: pd.DataFrame) -> pd.DataFrame:
    """Without the rules that judged nothing on either side."""
    return rules[(rules["judged_before"] + rules["judged_after"]) > 0]


def _status(row: dict[Any, Any], side: str) -> str:
    reason = row[f"reason_{side}"]
    return (row[f"status_{side}"] or "absent") + (f" ({reason})" if reason else "")


_TITLES = {
    "came_in": "Came in",
    "went_out": "Went out",
    "added": "Added: not in the earlier run",
    "gone": "Gone: not in the later run",
    "same": "Same decision, other reasons or another text",
}


def _sections(items: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            "kind": kind,
            "title": title,
            "items": [_shown(row) for row in items[items["change"] == kind].to_dict("records")],
        }
        for kind, title in _TITLES.items()
        if (items["change"] == kind).any()
    ]


def _shown(row: dict[Any, Any]) -> dict[str, Any]:
    sides = [_side(row, "before"), _side(row, "after")]
    if row["change"] == "added" or (row["item_id_before"] and not row["changed_fields"]):
        sides = sides[1:] if row["item_id_after"] else sides[:1]
    if row["change"] == "gone":
        sides = [_side(row, "before")]
    return {**row, "sides": sides}


def _side(row: dict[Any, Any], side: str) -> dict[str, Any]:
    return {
        "name": side,
        "question": row[f"question_{side}"],
        "choices": list(row[f"choices_{side}"]),
        "answer": row[f"answer_{side}"],
    }
