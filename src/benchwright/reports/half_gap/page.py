"""The page about the gap between the halves."""

import json
from typing import Any

import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.methods.mmlu_cf.splitting.gap import ComparedHalves
from benchwright.params.mmlu_cf import HalfGapParams
from benchwright.reports.half_gap.headline import say_points, write_headline
from benchwright.reports.half_gap.plots.gaps import by_size
from benchwright.reports.page.page import render_report_page
from benchwright.reports.page.provenance import Fact, package_versions, settings
from benchwright.reports.page.table_rows import is_missing, rows_of

_PACKAGE = "benchwright.reports.half_gap"
_LONGEST_TABLE = 300  # rows of a table on the page; the dataset has them all
_SECTIONS = (
    ("gaps", "Models"),
    ("fields", "Fields"),
    ("shares", "Small gaps"),
    ("reading", "How to read it"),
    ("provenance", "Provenance"),
)


def render_half_gap_page(
    half_gap_settings: HalfGapParams,
    compared_halves: ComparedHalves,
    half_gap: pd.DataFrame,
    half_gap_shares: pd.DataFrame,
    figure_half_gap: Any,
    figure_half_gap_fields: Any,
) -> str:
    """Render one HTML page that needs no network; it holds figures only, nothing of an item.

    The same inputs give the same bytes.
    """
    first, *more = write_headline(half_gap, half_gap_settings)
    benchmark = compared_halves.benchmark
    figures = {"gaps": figure_half_gap, "fields": figure_half_gap_fields}
    context = {
        "sections": _SECTIONS,
        "titles": dict(_SECTIONS),
        "title": benchmark.name,
        "headline": first,
        "more": more,
        "notes": compared_halves.notes,
        "rows": [_row(row) for row in rows_of(by_size(half_gap[half_gap["field"].eq("")]))],
        "shares": [_share(row) for row in rows_of(half_gap_shares)],
        "longest": _LONGEST_TABLE,
        "level": half_gap_settings.level,
        "alpha": half_gap_settings.alpha,
        "facts": [
            Fact("Benchmark", benchmark.name),
            Fact("Canary of the public half", benchmark.canary),
            Fact("validation.jsonl, SHA-256", benchmark.validation),
            Fact("test.sealed, SHA-256", benchmark.test),
        ],
        "settings": settings("half_gap", half_gap_settings),
        "versions": package_versions(),
        "figures": {name: json.loads(figure.to_json()) for name, figure in figures.items()},
    }
    return render_report_page(_PACKAGE, "half_gap.html", context)


def _row(row: dict[Any, Any]) -> dict[str, Any]:
    missing = is_missing(row["delta"])
    bounds = ""
    if not is_missing(row["low"]):
        bounds = f"[{say_points(row['low'])}, {say_points(row['high'])}]"
    return {
        **row,
        "name": configuration_name(str(row["model"]), str(row["style"]), int(row["shots"])),
        "delta": "—" if missing else say_points(row["delta"]),
        "bounds": bounds,
    }


def _share(row: dict[Any, Any]) -> dict[str, Any]:
    asked = f"{row['style']}, {row['shots']} shots" if row["style"] else "all"
    return {**row, "asked": asked, "points": f"{100 * row['below']:g}"}
