"""The summary of a sweep as one page (SMART, Tables 1, 3 and 5, across benchmarks)."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from benchwright.commands.sweep.summary import duration, rule_columns, spread_over_seeds
from benchwright.reports.page.parts import (
    Cell,
    Column,
    Page,
    Section,
    Text,
    as_count,
    as_figure,
    as_share,
    as_text,
    as_words,
    render_page,
    table_of,
)
from benchwright.reports.page.wording import is_missing

# They report items and remove none.
_REPORTING_ONLY = {"share_removed.suspect_label", "share_removed.conflicting_gold"}
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

_Row = Mapping[Any, Any]


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
    shares = [column for column in columns if column not in _REPORTING_ONLY]
    sections = [_runs(rows, folder), *_figures(done, shares)]
    if seeds := spread_over_seeds(summary).to_dict("records"):
        said_of_seeds = "Mean ± sample standard deviation over the seeds."
        sections.append(_section("What the seed decides", said_of_seeds, seeds, _SEED_COLUMNS))
    page = Page(f"Sweep {pipeline} {started}", f"Sweep of {pipeline}", sections, lead=[Text(said)])
    return render_page(page)


def _runs(rows: Sequence[_Row], folder: Path) -> Section:
    def link(row: _Row, name: str) -> str | Cell:
        return Cell("report", link=_link(row[name], folder)) if row[name] else "–"

    columns: list[Column] = [
        *_NAMES,
        ("Status", as_words, "status"),
        ("Items", as_count, "n_items"),
        ("Kept", as_count, "n_kept"),
        ("Time", _time, "wall_seconds"),
        ("Report", link, "report"),
    ]
    errors = [
        Text(f"{row['benchmark']} · {row['variant']} · seed {row['seed']}: {row['error']}")
        for row in rows
        if row["status"] != "done" and row["error"]
    ]
    return Section("Runs", [table_of(rows, columns, (2, 4, 5, 6)), *errors])


def _figures(done: Sequence[_Row], shares: list[str]) -> Iterator[Section]:
    """What was removed, whether the ranking holds, and IRE beside it, where that is known."""
    if shares:
        columns: list[Column] = [
            (name.removeprefix("share_removed.").replace("_", " "), as_share, name)
            for name in shares
        ]
        columns.append(("Removed", as_share, "share_removed"))
        yield _section("Share of items per filter", _SHARES, done, [*_NAMES, *columns])
    if any(not is_missing(row.get(name)) for row in done for name in _TELL_AGREEMENT):
        yield _section("Does the ranking hold?", _AGREEMENT, done, _AGREEMENT_COLUMNS)
    if any(not is_missing(row.get("ire_share_removed")) for row in done):
        yield _section("Beside IRE", _IRE, done, _IRE_COLUMNS)


def _section(title: str, said: str, rows: Sequence[_Row], columns: Sequence[Column]) -> Section:
    table = table_of(rows, columns, range(2, len(columns)))
    return Section(title, [Text(said, "quiet"), table])


def _between(row: _Row, name: str) -> Cell:
    known = not is_missing(row.get(f"{name}.low"))
    bounds = f"[{as_figure(row, f'{name}.low')}, {as_figure(row, f'{name}.high')}]"
    return Cell(as_figure(row, name), [bounds] if known else [])


def _time(row: _Row, name: str) -> str:
    return "–" if row["status"] == "not_run" else duration(row[name])


def _spread(write: Callable[[_Row, str], str]) -> Callable[[_Row, str], str]:
    def written(row: _Row, name: str) -> str:
        mean, sd = write(row, f"{name}_mean"), write(row, f"{name}_sd")
        return mean if sd == "–" else f"{mean} ± {sd}"

    return written


def _link(report: str, folder: Path) -> str:
    return quote(Path(os.path.relpath(report, folder)).as_posix())


_NAMES: list[Column] = [
    ("Benchmark", as_text, "benchmark"),
    ("Variant", as_text, "variant"),
    ("Seed", as_text, "seed"),
]
_TELL_AGREEMENT = (
    *("kendall_tau_b", "kendall_tau_b.held_out"),
    *("arena_pearson_full", "arena_pearson_kept"),
)
_AGREEMENT_COLUMNS: list[Column] = [
    *_NAMES,
    ("Tau-b, all models", _between, "kendall_tau_b"),
    ("n", as_count, "n_panel_models"),
    ("Tau-b, held out", _between, "kendall_tau_b.held_out"),
    ("n", as_count, "n_held_out_models"),
    ("Percentile among random", as_count, "percentile.kendall_tau_b"),
    ("Arena, all items", as_figure, "arena_pearson_full"),
    ("Arena, kept", as_figure, "arena_pearson_kept"),
    ("n rated", as_count, "n_rated_models"),
]
_IRE_COLUMNS: list[Column] = [
    *_NAMES,
    ("Removed here", as_share, "share_removed"),
    ("Removed by IRE", as_share, "ire_share_removed"),
    ("Tau-b here", as_figure, "kendall_tau_b"),
    ("Tau-b of IRE", as_figure, "ire.kendall_tau_b"),
]
_SEED_COLUMNS: list[Column] = [
    *_NAMES[:2],
    ("Seeds", as_text, "seeds"),
    ("Removed", _spread(as_share), "share_removed"),
    ("Tau-b, all models", _spread(as_figure), "kendall_tau_b"),
    ("Tau-b, held out", _spread(as_figure), "kendall_tau_b.held_out"),
]
