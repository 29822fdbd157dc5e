"""The summary of a sweep as one page (SMART, Tables 1, 3 and 5, across benchmarks)."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from benchwright.commands.sweep.combinations import duration
from benchwright.commands.sweep.summary import rule_columns, spread_over_seeds
from benchwright.reports.page.small_page import missing, render_page

# They report items and remove none.
_REPORTING_ONLY = {"share_removed.suspect_label", "share_removed.conflicting_gold"}
_FIGURES = {
    "n_items": "n_items",
    "n_kept": "n_kept",
    "share_removed": "share_removed",
    "tau": "kendall_tau_b",
    "tau_low": "kendall_tau_b.low",
    "tau_high": "kendall_tau_b.high",
    "held_out": "kendall_tau_b.held_out",
    "held_out_low": "kendall_tau_b.held_out.low",
    "held_out_high": "kendall_tau_b.held_out.high",
    "n_models": "n_panel_models",
    "n_held_out": "n_held_out_models",
    "arena_full": "arena_pearson_full",
    "arena_kept": "arena_pearson_kept",
    "n_rated": "n_rated_models",
    "ire_share": "ire_share_removed",
    "ire_tau": "ire.kendall_tau_b",
}


def render_sweep(summary: pd.DataFrame, pipeline: str, started: str, folder: Path) -> str:
    """The page of a sweep.

    Args:
        summary: of `summarise_sweep`.
        pipeline: what was run.
        started: when, as text.
        folder: where the page will lie; reports are linked from there.
    """
    columns = rule_columns(list(summary.columns))
    shares = [column for column in columns if column not in _REPORTING_ONLY]
    rows = [_row(record, shares, folder) for record in summary.to_dict("records")]
    done = [row for row in rows if row["status"] == "done"]
    agreement = ("tau", "held_out", "arena_full", "arena_kept")
    return render_page(
        "sweep.html",
        pipeline=pipeline,
        started=started,
        rows=rows,
        done=done,
        unfinished=[row for row in rows if row["status"] != "done"],
        rules=[column.removeprefix("share_removed.") for column in shares],
        agreement=any(not missing(row[name]) for row in done for name in agreement),
        ire=any(not missing(row["ire_share"]) for row in done),
        seeds=spread_over_seeds(summary).to_dict("records"),
    )


def _row(record: dict[Any, Any], shares: list[str], folder: Path) -> dict[str, Any]:
    percentile = record.get("percentile.kendall_tau_b")
    return {
        **{name: record.get(column) for name, column in _FIGURES.items()},
        **{name: record[name] for name in ("benchmark", "variant", "seed", "status", "error")},
        "shares": [record[column] for column in shares],
        "percentile": "–" if missing(percentile) else f"{percentile:.0f}",
        "time": "–" if record["status"] == "not_run" else duration(record["wall_seconds"]),
        "link": _link(record["report"], folder),
    }


def _link(report: str, folder: Path) -> str:
    return quote(Path(os.path.relpath(report, folder)).as_posix()) if report else ""
