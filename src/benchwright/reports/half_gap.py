"""The gap between the public and the closed half: plots, headline and page."""

from collections.abc import Mapping
from math import isnan
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.methods.mmlu_cf.splitting.gap import LEVEL, SIZE_GROUPS, ComparedHalves
from benchwright.params.mmlu_cf import HalfGapParams
from benchwright.reports.page import shapes
from benchwright.reports.page.parts import (
    LONGEST_TABLE,
    Cell,
    Column,
    Page,
    Plot,
    Section,
    Table,
    Text,
    as_count,
    as_share,
    as_text,
    between,
    cut_table,
    render_page,
    table_of,
)
from benchwright.reports.page.plot_style import KEPT, REMOVED, distinct_names
from benchwright.reports.page.provenance import Fact, provenance_section
from benchwright.reports.page.provenance import settings as facts_of
from benchwright.reports.page.shapes import Panel, Scale, dots, heatmap, nothing
from benchwright.reports.page.wording import number, percent, rows_of

_KINDS = ((False, "no alarm", KEPT, "circle"), (True, "looks leaked", REMOVED, "diamond"))
_CELLS = [[0, "#ef9a6f"], [0.5, "#d5d8dc"], [1, "#8bbbe6"]]


def plot_gaps(half_gap: pd.DataFrame) -> Any:
    """Draw test − validation of each configuration, grouped by size, with alarms marked."""
    table = by_size(half_gap[half_gap["field"].eq("")])
    shown = distinct_names(_names(table))
    names: list[str] = []
    places: list[int] = []
    headings = []
    for group, own in table.groupby("size_group", sort=False):
        headings.append(len(names))
        places += range(len(names) + 1, len(names) + 1 + len(own))
        names += [str(group), *(shown[row] for row in own.index)]
    traces = []
    for alarm, words, colour, symbol in _KINDS:
        own = table[table["suspicious"].eq(alarm) & table["delta"].notna()]
        if alarm and own.empty:
            continue
        delta, low, high = (100 * own[name] for name in ("delta", "low", "high"))
        hover = [
            f"{shown[row]}: {value:+.1f} points "
            + ("no interval" if isnan(below) else f"[{below:+.1f}, {above:+.1f}]")
            for row, value, below, above in zip(own.index, delta, low, high, strict=True)
        ]
        at = [places[row] for row in own.index]
        traces.append(
            dots(delta, at, colour, words, hover=hover, across=(low, high), symbol=symbol)
        )
    title = f"Test − validation in points, {LEVEL:.0%} intervals, by size of the model"
    across = Scale("test − validation, points", zero=True)
    return shapes.rows(title, names, Panel(traces, across), headings=headings)


def by_size(gaps: pd.DataFrame) -> pd.DataFrame:
    """Sort a `HalfGap` table from the largest models down, then by accuracy on the closed half."""
    keyed = gaps.assign(group=gaps["size_group"].map(SIZE_GROUPS.index))
    keys = ["group", "test", "model", "style", "shots"]
    return keyed.sort_values(keys, ascending=[True, False, True, True, True]).reset_index(drop=True)


def _names(table: pd.DataFrame) -> list[str]:
    keys = zip(table["model"], table["style"], table["shots"], strict=True)
    return [configuration_name(*key) for key in keys]


def plot_gaps_by_field(half_gap: pd.DataFrame) -> Any:
    """Draw Δ of models × fields as a heat map, orange where the public half is better."""
    title = "Test − validation in points by field; ! marks fields that look leaked"
    of_fields = by_size(half_gap[half_gap["field"].ne("")])
    if of_fields.empty:
        return nothing(title, "No field is reported separately in both halves.")
    of_fields = of_fields.assign(name=_names(of_fields)).set_index(["name", "field"])
    # The order of the other plot, by all fields together.
    whole = _names(by_size(half_gap[half_gap["field"].eq("")]))
    names = [name for name in whole if name in of_fields.index]
    fields = sorted(of_fields.index.unique("field"))
    placed = of_fields.reindex(pd.MultiIndex.from_product([names, fields]))
    cells = 100 * placed["delta"].to_numpy(np.float64).reshape(len(names), len(fields))
    marks = placed["suspicious"].to_numpy().reshape(cells.shape)
    texts = [
        [_written(*cell) for cell in zip(*row, strict=True)]
        for row in zip(cells.tolist(), marks.tolist(), strict=True)
    ]
    reach = max(float(np.nanmax(np.abs(cells), initial=0)), 1.0)
    ends = (-reach, reach)
    shown = distinct_names(names)
    return heatmap(title, shown, fields, cells.tolist(), texts, ends=ends, scale=_CELLS)


def _written(delta: float, mark: Any) -> str:
    if isnan(delta):
        return ""
    return f"{delta:+.1f}{'!' if mark is True else ''}".replace("-", "−")


_NAMED = 4  # configurations in a headline
_READING = (
    "A model that was trained on the public half is better on it, so test − validation is "
    "negative. The alarm is raised if the difference is significant after Holm's correction over "
    "all configurations (two-sided); in fields, over all models and fields that are reported in "
    "both halves. If old models differ in the same direction, the halves are not equally difficult."
)
_METHOD = (
    "Zhao et al. (2024), MMLU-CF: A Contamination-free Multi-task Language Understanding "
    "Benchmark, section 4.5."
)

Row = dict[Any, Any]


def _headline(half_gap: pd.DataFrame, settings: HalfGapParams) -> list[str]:
    """Write whether the public half looks leaked, for which models and fields, and how surely."""
    whole = half_gap[half_gap["field"].eq("")]
    tested = whole[whole["p_value"].notna()]
    if tested.empty:
        return ["No conclusion: no model has results with a standard error on both halves."]
    alarms = whole[whole["suspicious"]].sort_values("delta").to_dict("records")
    named = [f"{_name(row)} ({_points(row['delta'])} points {_bounds(row)})" for row in alarms]
    n = len(tested)
    who = f"none of {n:,} configurations is" if n > 1 else "the only configuration is not"
    sentences = [
        f"The public half looks leaked for {_first(named)}."
        if named
        else f"No evidence of a leak: {who} significantly better on the public half than on the "
        "closed half."
    ]
    fields = half_gap[half_gap["field"].ne("") & half_gap["suspicious"]].to_dict("records")
    if fields:
        listed = sorted(f"{row['field']} ({_name(row)})" for row in fields)
        sentences.append(f"Fields that look leaked: {_first(listed)}.")
    return [
        *sentences,
        "With these numbers of items, the public half must be better by about "
        f"{100 * _smallest_alarm(tested, settings):.1f} points to raise the alarm (median over "
        "models). Smaller leaks go undetected.",
    ]


def _smallest_alarm(tested: pd.DataFrame, settings: HalfGapParams) -> float:
    """Compute the |Δ|, 0–1, from which a single model raises the alarm: the median over models.

    The standard error comes from the interval. The test is two-sided at `alpha` over all models, as
    in the first step of Holm's correction.
    """
    z = NormalDist().inv_cdf
    error = (tested["high"] - tested["low"]) / (2 * z((1 + LEVEL) / 2))
    return float(error.median() * z(1 - settings.alpha / (2 * len(tested))))


def _points(share: float) -> str:
    """Format a difference of shares as `+1.4` or `−0.3` points."""
    written = f"{100 * share:+.1f}"
    return "0.0" if float(written) == 0 else written.replace("-", "−")


def _bounds(row: Row) -> str:
    return f"[{_points(row['low'])}, {_points(row['high'])}]"


def _name(row: Row) -> str:
    return configuration_name(str(row["model"]), str(row["style"]), int(row["shots"]))


def _first(listed: list[str]) -> str:
    more = f" and {len(listed) - _NAMED:,} more" if len(listed) > _NAMED else ""
    return f"{'; '.join(listed[:_NAMED])}{more}"


def render_half_gap_page(
    settings: HalfGapParams,
    compared_halves: ComparedHalves,
    half_gap: pd.DataFrame,
    half_gap_shares: pd.DataFrame,
    half_gap_plot: Any,
    half_gap_fields_plot: Any,
) -> str:
    """Render one HTML page that needs no network and shows no item.

    The same inputs give the same bytes.
    """
    first, *more = _headline(half_gap, settings)
    benchmark = compared_halves.benchmark
    facts = [
        Fact("Benchmark", benchmark.name),
        Fact("Canary of the public half", benchmark.canary),
        Fact("validation.jsonl, SHA-256", benchmark.validation),
        Fact("test.sealed, SHA-256", benchmark.test),
    ]
    used = facts_of("half_gap", settings)
    page = Page(
        f"{benchmark.name}: the gap between its halves",
        benchmark.name,
        [
            Section("Models", _models(half_gap, settings), "gaps"),
            Section("Fields", [Plot("fields")], "fields"),
            Section("Small gaps", [_small_gaps(half_gap_shares)], "shares"),
            provenance_section("Compared files", facts, "monitor", used, _METHOD),
        ],
        kicker="Public half and closed half",
        headline=first,
        lead=[Text(sentence, "judgement") for sentence in more],
        notes=compared_halves.notes,
        plots={"gaps": half_gap_plot, "fields": half_gap_fields_plot},
    )
    return render_page(page)


def _models(half_gap: pd.DataFrame, settings: HalfGapParams) -> list[Any]:
    where = f"{settings.original} and both halves" if settings.original else "both halves"
    label = (
        f"Accuracy in percent on {where}; difference (test − validation) in points with its "
        f"{LEVEL:.0%} interval"
    )
    scored = ("original", "validation", "test") if settings.original else ("validation", "test")
    columns: list[Column] = [
        ("Size", as_text, "size_group"),
        ("Configuration", lambda row, _: Cell(_name(dict(row)), _reason(row)), "model"),
        *((name.capitalize(), _accuracy, name) for name in scored),
        ("Difference", _difference, "delta"),
        ("p", _p, "p_value"),
        ("p, corrected", _p, "p_holm"),
        ("Alarm", as_text, "alarm"),
    ]
    whole = half_gap[half_gap["field"].eq("")]
    alarm = whole["suspicious"].map({True: "looks leaked", False: "no"})
    rows = rows_of(by_size(whole.assign(alarm=alarm)))
    table = cut_table(label, rows, columns, "half_gap")
    return [Plot("gaps"), *table, Text(_READING, "quiet")]


def _reason(row: Mapping[Any, Any]) -> list[str]:
    return [row["reason"]] if row["reason"] else []


def _accuracy(row: Mapping[Any, Any], name: str) -> Cell:
    return Cell(percent(row[name]), [f"n = {number(row[f'n_{name}'])}"])


def _difference(row: Mapping[Any, Any], name: str) -> Cell:
    if row[name] is None:
        return Cell("—")
    return Cell(_points(row[name]), [] if row["low"] is None else [_bounds(dict(row))])


def _p(row: Mapping[Any, Any], name: str) -> str:
    return number(row[name], 4)


def _small_gaps(half_gap_shares: pd.DataFrame) -> Table:
    label = (
        "Share of configurations with a small difference, and the share expected from sampling "
        "error for halves of equal difficulty; MMLU-CF reports 60% below 0.5 points and 96% below "
        "1 point at 10,000 + 10,000 items"
    )
    columns: list[Column] = [
        ("Style", lambda r, _: f"{r['style']}, {r['shots']} shots" if r["style"] else "all", ""),
        ("Size", lambda row, name: row[name] or "all", "size_group"),
        ("Below, points", lambda row, name: f"{100 * row[name]:g}", "below"),
        ("Configurations", as_count, "n"),
        ("Share", between(as_share), "share"),
        ("Expected", as_share, "expected"),
    ]
    return table_of(rows_of(half_gap_shares)[:LONGEST_TABLE], columns, range(2, 6), label)
