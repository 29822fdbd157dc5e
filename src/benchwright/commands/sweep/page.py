"""The summary of a sweep as one page (SMART, Tables 1, 3 and 5, across benchmarks)."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from benchwright.commands.sweep.summary import duration, rule_columns, spread_over_seeds
from benchwright.reports.page.parts import Cell, Page, Section, Table, Text, render_page
from benchwright.reports.page.table_rows import is_missing, number, percent

# They report items and remove none.
_REPORTING_ONLY = {"share_removed.suspect_label", "share_removed.conflicting_gold"}
_NAMES = ("Benchmark", "Variant", "Seed")
_SHARES = (
    "Of all items of the benchmark. One item can go for several reasons, so the filters can add up "
    "to more than what is removed. Easy items are counted without those that are retained. A "
    "dash: the filter did not run. (SMART, Table 1)"
)
_AGREEMENT = (
    "Kendall's tau-b between accuracies on all and on the kept items, with its 95% interval over "
    "items where one was computed; held out: models that did not choose the items and share no "
    "family with those that did. Percentile: where tau-b over all models stands among random "
    "subsets of the same size (50: as good as chance). Arena: Pearson's correlation of accuracy "
    "with human ratings over the rated models, before and after. (SMART, Table 3)"
)
_IRE = (
    "What the filters remove and what an item response model would drop as too easy or too little "
    "discriminating, with tau-b of what each leaves. (SMART, Table 5)"
)

_Row = dict[Any, Any]


def render_sweep(summary: pd.DataFrame, pipeline: str, started: str, folder: Path) -> str:
    """The page of a sweep.

    Args:
        summary: of `summarise_sweep`.
        pipeline: what was run.
        started: when, as text.
        folder: where the page will lie; reports are linked from there.
    """
    rows = summary.to_dict("records")
    done = [row for row in rows if row["status"] == "done"]
    unfinished = f", {len(rows) - len(done)} not" if len(done) < len(rows) else ""
    said = (
        f"{len(rows)} combination{'' if len(rows) == 1 else 's'}, {len(done)} done{unfinished}. "
        f"Started {started}. The same numbers and all other metrics are in summary.csv and "
        "summary.parquet beside this page."
    )
    columns = rule_columns(list(summary.columns))
    sections = [
        _runs(rows, folder),
        *_shares(done, [column for column in columns if column not in _REPORTING_ONLY]),
        *_agreement(done),
        *_beside_ire(done),
        *_seeds(spread_over_seeds(summary).to_dict("records")),
    ]
    page = Page(f"Sweep {pipeline} {started}", f"Sweep of {pipeline}", sections, lead=[Text(said)])
    return render_page(page)


def _runs(rows: list[_Row], folder: Path) -> Section:
    head = (*_NAMES, "Status", "Items", "Kept", "Time", "Report")
    cells = [
        [
            *_who(row),
            row["status"].replace("_", " "),
            _count(row.get("n_items")),
            _count(row.get("n_kept")),
            "–" if row["status"] == "not_run" else duration(row["wall_seconds"]),
            Cell("report", link=_link(row["report"], folder)) if row["report"] else "–",
        ]
        for row in rows
    ]
    errors = [
        Text(f"{row['benchmark']} · {row['variant']} · seed {row['seed']}: {row['error']}")
        for row in rows
        if row["status"] != "done" and row["error"]
    ]
    return Section("Runs", [Table("", head, cells, numbers=(2, 4, 5, 6)), *errors])


def _shares(done: list[_Row], columns: list[str]) -> list[Section]:
    rules = [column.removeprefix("share_removed.").replace("_", " ") for column in columns]
    rows = [
        [*_who(row), *(_percent(row.get(name)) for name in (*columns, "share_removed"))]
        for row in done
    ]
    head = (*_NAMES, *rules, "Removed")
    return [_section("Share of items per filter", _SHARES, head, rows)] if rules else []


def _agreement(done: list[_Row]) -> list[Section]:
    known = ("kendall_tau_b", "kendall_tau_b.held_out", "arena_pearson_full", "arena_pearson_kept")
    if all(is_missing(row.get(name)) for row in done for name in known):
        return []
    head = (
        *(*_NAMES, "Tau-b, all models", "n", "Tau-b, held out", "n", "Percentile among random"),
        *("Arena, all items", "Arena, kept", "n rated"),
    )
    rows = [
        [
            *_who(row),
            _between(row, "kendall_tau_b"),
            _count(row.get("n_panel_models")),
            _between(row, "kendall_tau_b.held_out"),
            _count(row.get("n_held_out_models")),
            number(row.get("percentile.kendall_tau_b"), none="–"),
            _figure(row.get("arena_pearson_full")),
            _figure(row.get("arena_pearson_kept")),
            _count(row.get("n_rated_models")),
        ]
        for row in done
    ]
    return [_section("Does the ranking hold?", _AGREEMENT, head, rows)]


def _beside_ire(done: list[_Row]) -> list[Section]:
    if all(is_missing(row.get("ire_share_removed")) for row in done):
        return []
    head = (*_NAMES, "Removed here", "Removed by IRE", "Tau-b here", "Tau-b of IRE")
    rows = [
        [
            *_who(row),
            *(_percent(row.get(name)) for name in ("share_removed", "ire_share_removed")),
            *(_figure(row.get(name)) for name in ("kendall_tau_b", "ire.kendall_tau_b")),
        ]
        for row in done
    ]
    return [_section("Beside IRE", _IRE, head, rows)]


def _seeds(spreads: list[_Row]) -> list[Section]:
    head = (
        *("Benchmark", "Variant", "Seeds", "Removed"),
        *("Tau-b, all models", "Tau-b, held out"),
    )
    rows = [
        [
            *(row["benchmark"], row["variant"], str(row["seeds"])),
            _spread(row, "share_removed", _percent),
            *(_spread(row, f"kendall_tau_b{of}", _figure) for of in ("", ".held_out")),
        ]
        for row in spreads
    ]
    said = "Mean ± sample standard deviation over the seeds."
    return [_section("What the seed decides", said, head, rows)] if rows else []


def _section(title: str, said: str, head: Sequence[str], rows: list[list[Any]]) -> Section:
    table = Table("", head, rows, numbers=range(2, len(head)))
    return Section(title, [Text(said, "quiet"), table])


def _who(row: _Row) -> list[str]:
    return [row["benchmark"], row["variant"], str(row["seed"])]


def _between(row: _Row, name: str) -> Cell:
    low, high = row.get(f"{name}.low"), row.get(f"{name}.high")
    bounds = [] if is_missing(low) else [f"[{_figure(low)}, {_figure(high)}]"]
    return Cell(_figure(row.get(name)), bounds)


def _spread(row: _Row, name: str, write: Callable[[Any], str]) -> str:
    mean, sd = write(row[f"{name}_mean"]), write(row[f"{name}_sd"])
    return mean if sd == "–" else f"{mean} ± {sd}"


def _percent(value: Any) -> str:
    return percent(value, none="–")


def _figure(value: Any) -> str:
    return number(value, 3, none="–")


def _count(value: Any) -> str:
    return number(value, none="–")


def _link(report: str, folder: Path) -> str:
    return quote(Path(os.path.relpath(report, folder)).as_posix())
