"""Funnels of the cleaning rules and of the whole construction (MMLU-CF, Figure 3)."""

from typing import Any, NamedTuple

import pandas as pd

from benchwright.methods.mmlu_cf.construction_steps import Steps
from benchwright.reports.mmlu_cf.plots import CLOSED, PUBLIC
from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED, empty_plot, plain
from benchwright.reports.page.plots import bars, funnel


class _Bar(NamedTuple):
    name: str
    left: int
    note: str
    removed: int = 0
    colour: str = KEPT
    removed_colour: str = REMOVED


def plot_construction_funnel(construction_steps: Steps) -> Any:
    """Draw how many questions each step left and removed; documents have a row but no bar."""
    title = (
        "From documents to two halves: questions kept (blue), rejected (orange), not sampled (grey)"
    )
    if not (extracted := construction_steps.extracted):
        return empty_plot(title, "No question was extracted from the documents.")
    names, left, notes, removed, colours, removed_colours = map(
        list, zip(*_bars(construction_steps), strict=True)
    )
    traces = [
        bars(left, colours, "%{y}: %{x:,}", y=names),
        bars(
            removed,
            removed_colours,
            "%{y}: %{x:,} removed",
            y=names,
            text=[plain(n) for n in notes],
        ),
    ]
    reach = (1.45 * extracted, 2.1 * extracted)
    return funnel(title, 80 + 32 * len(names), traces, reach)


def _bars(steps: Steps) -> list[_Bar]:
    domains = f"{steps.domains:,} domains" if steps.domains != 1 else "1 domain"
    removed = steps.leaks.removed
    leaks = f" · {removed:,} removed as leaks" if removed else ""
    most = max(steps.altered.values(), default=0)
    rows = [
        _Bar(
            "documents", 0, f"{steps.documents:,} of {domains}", colour=QUIET, removed_colour=QUIET
        ),
        _Bar("questions extracted", steps.extracted, f"{steps.extracted:,}"),
        _row("clean", steps.clean, steps.extracted, REMOVED),
        _row("sampled", steps.sampled, steps.clean, QUIET),
    ]
    if steps.judged:
        rows.append(_row("checked", steps.checked, steps.sampled, REMOVED))
    else:
        rows.append(_Bar("checked", steps.checked, f"{steps.checked:,}, no judge"))
    if steps.final < steps.checked:
        rows.append(_row("final sample", steps.final, steps.checked, QUIET))
    altered = f"at least {most:,} altered" if most else "none altered"
    return [
        *rows,
        _Bar("after the rules", steps.final, altered),
        _Bar("public half", steps.public, f"{steps.public:,}{leaks}", colour=PUBLIC),
        _Bar("closed half", steps.closed, f"{steps.closed:,}, encrypted", colour=CLOSED),
    ]


def _row(name: str, left: int, before: int, removed_colour: str) -> _Bar:
    share = f" · {left / before:.1%}" if before else ""
    return _Bar(name, left, f"{left:,}{share}", before - left, KEPT, removed_colour)


def plot_cleaning_funnel(cleaning_funnel: pd.DataFrame) -> Any:
    """Draw the rows left after each rule, and those that it rejected or rewrote."""
    title = "From raw to clean items: kept after each rule (blue) and rejected by it (orange)"
    if cleaning_funnel.empty:
        return empty_plot(title, "No rule ran.")
    start = int(cleaning_funnel["rows_in"].iloc[0])
    if not start:
        return empty_plot(title, "No question was extracted from the documents.")
    rows = cleaning_funnel.to_dict("records")
    labels = ["raw items", *(plain(str(row["rule"]).replace("_", " ")) for row in rows)]
    left = [start, *(int(row["rows_out"]) for row in rows)]
    rejected = [0, *(int(row["rejected"]) for row in rows)]
    notes = [f"{start:,}", *map(_note, rows)]
    notes[-1] = f"{notes[-1] or f'{left[-1]:,}'} · {left[-1] / start:.1%}"
    colours = [QUIET, *[KEPT] * len(rows)]
    traces = [
        bars(left, colours, "%{y}: %{x:,} kept", y=labels, name="kept"),
        bars(rejected, REMOVED, "%{y}: %{x:,} rejected", y=labels, name="rejected", text=notes),
    ]
    reach = (1.35 * start, 1.8 * start)
    return funnel(title, 70 + 28 * len(labels), traces, reach, rangemode="tozero")


def _note(row: dict[Any, Any]) -> str:
    if row["kind"] == "rewrite":
        return f"{row['changed']:,} rewritten" if row["changed"] else ""
    return f"−{row['rejected']:,} → {row['rows_out']:,}" if row["rejected"] else ""
