"""The gap between the public and the closed half: plot, headline and page."""

from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.core.wording import interval, number, percent, points, rows_of
from benchwright.methods.mmlu_cf.splitting.gap import ALPHA, LEVEL, SIZE_GROUPS, ComparedHalves
from benchwright.params.mmlu_cf import HalfGapParams
from benchwright.reports.page.figure import Scale
from benchwright.reports.page.parts import (
    Cell,
    Column,
    Plot,
    Section,
    Text,
    as_p,
    as_points,
    as_text,
    cut_table,
    render_sections,
)
from benchwright.reports.page.plot_style import KEPT, REMOVED, distinct_names
from benchwright.reports.page.provenance import MMLU_CF, provenance_section
from benchwright.reports.page.shapes import intervals
from benchwright.reports.verdict import Verdict, write_verdict


def plot_gaps(half_gap: pd.DataFrame) -> Any:
    """Draw test − validation of each configuration, the largest models first."""
    table = by_size(half_gap[half_gap["field"].eq("")])
    shown = distinct_names([_name(row) for row in table.to_dict("records")])
    values = 100 * table[["delta", "low", "high"]].set_axis(["difference", "low", "high"], axis=1)
    colours = [REMOVED if alarm else KEPT for alarm in table["suspicious"]]
    title = f"Test − validation in points, {LEVEL:.0%} intervals, the largest models first"
    scale = Scale("test − validation, points", zero=True)
    words = {KEPT: "no alarm", REMOVED: "looks leaked"}
    return intervals(title, shown, values, colours=colours, x=scale, words=words)


def by_size(gaps: pd.DataFrame) -> pd.DataFrame:
    """Sort a `HalfGap` table from the largest models down, then by accuracy on the closed half."""
    keyed = gaps.assign(group=gaps["size_group"].map(SIZE_GROUPS.index))
    keys = ["group", "test", "model", "style", "shots"]
    return keyed.sort_values(keys, ascending=[True, False, True, True, True]).reset_index(drop=True)


_NAMED = 4  # configurations in a headline
_READING = (
    "A model that was trained on the public half is better on it, so test − validation is "
    "negative. The alarm is raised if the difference is significant after Holm's correction over "
    "all configurations (two-sided); in fields, over all models and fields that are reported in "
    "both halves. If old models differ in the same direction, the halves are not equally difficult."
)
_METHOD = f"{MMLU_CF}, section 4.5."

Row = Mapping[Any, Any]


def judge_half_gap(half_gap: pd.DataFrame, compared_halves: ComparedHalves) -> Verdict:
    """Write for which models the public half looks leaked, and the smallest leak that shows."""
    headline, *judgements = _sentences(half_gap)
    return write_verdict(headline, judgements=judgements, notes=compared_halves.notes)


def _sentences(half_gap: pd.DataFrame) -> list[str]:
    whole = half_gap[half_gap["field"].eq("")]
    tested = whole[whole["p_value"].notna()]
    if tested.empty:
        return ["No conclusion: no model has results with a standard error on both halves."]
    alarms = whole[whole["suspicious"]].sort_values("delta").to_dict("records")
    named = [
        f"{_name(row)} ({points(row['delta'])} points {interval(row['low'], row['high'])})"
        for row in alarms
    ]
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
        f"{100 * _smallest_alarm(tested):.1f} points to raise the alarm (median over "
        "models). Smaller leaks go undetected.",
    ]


def _smallest_alarm(tested: pd.DataFrame) -> float:
    """Compute the |Δ|, 0–1, from which a single model raises the alarm: the median over models.

    The standard error comes from the interval. The test is two-sided at `alpha` over all models, as
    in the first step of Holm's correction.
    """
    z = NormalDist().inv_cdf
    error = (tested["high"] - tested["low"]) / (2 * z((1 + LEVEL) / 2))
    return float(error.median() * z(1 - ALPHA / (2 * len(tested))))


def _name(row: Row) -> str:
    return configuration_name(str(row["model"]), str(row["style"]), int(row["shots"]))


def _first(listed: list[str]) -> str:
    more = f" and {len(listed) - _NAMED:,} more" if len(listed) > _NAMED else ""
    return f"{'; '.join(listed[:_NAMED])}{more}"


def render_half_gap_page(
    settings: HalfGapParams,
    compared_halves: ComparedHalves,
    half_gap: pd.DataFrame,
    half_gap_verdict: Verdict,
    half_gap_plot: Any,
) -> str:
    """Render one HTML page that needs no network and shows no item.

    The same inputs give the same bytes.
    """
    benchmark = compared_halves.benchmark
    facts = [
        ("Benchmark", benchmark.name),
        ("Canary of the public half", benchmark.canary),
        ("validation.jsonl, SHA-256", benchmark.validation),
        ("test.sealed, SHA-256", benchmark.test),
    ]
    sections = [
        Section("Models", _models(half_gap, settings), "gaps"),
        Section("Fields", _fields(half_gap), "fields"),
        provenance_section(facts, _METHOD, half_gap=settings),
    ]
    return render_sections(
        f"{benchmark.name}: the gap between its halves",
        benchmark.name,
        "Public half and closed half",
        half_gap_verdict,
        {"half_gap_plot": half_gap_plot, "sections": sections},
    )


def _fields(half_gap: pd.DataFrame) -> list[Any]:
    of_fields = half_gap[half_gap["field"].ne("")]
    if of_fields.empty:
        return [Text("No field is reported separately in both halves.")]
    columns: list[Column] = [
        ("Field", as_text, "field"),
        ("Configuration", lambda row, _: _name(row), "model"),
        ("Difference", as_points, "delta"),
        ("p, corrected", as_p, "p_holm"),
        _ALARM,
    ]
    label = "Difference by field, the largest lead of the public half first"
    records = rows_of(of_fields.sort_values(["delta", "field", "model"]))
    return cut_table(label, records, columns, "half_gap")


_ALARM: Column = ("Alarm", lambda row, name: "looks leaked" if row[name] else "no", "suspicious")


def _models(half_gap: pd.DataFrame, settings: HalfGapParams) -> list[Any]:
    where = f"{settings.original} and both halves" if settings.original else "both halves"
    label = (
        f"Accuracy in percent on {where}; difference (test − validation) in points with its "
        f"{LEVEL:.0%} interval"
    )
    scored = ("original", "validation", "test") if settings.original else ("validation", "test")
    columns: list[Column] = [
        ("Size", as_text, "size_group"),
        ("Configuration", lambda row, _: Cell(_name(row), [row["reason"] or ""]), "model"),
        *((name.capitalize(), _accuracy, name) for name in scored),
        ("Difference", as_points, "delta"),
        ("p", as_p, "p_value"),
        ("p, corrected", as_p, "p_holm"),
        _ALARM,
    ]
    records = rows_of(by_size(half_gap[half_gap["field"].eq("")]))
    table = cut_table(label, records, columns, "half_gap")
    return [Plot("half_gap_plot"), *table, Text(_READING, "quiet")]


def _accuracy(row: Row, name: str) -> Cell:
    return Cell(percent(row[name]), [f"n = {number(row[f'n_{name}'])}"])
