"""The page about the gap between the halves."""

from typing import Any

import pandas as pd

from benchwright.methods.mmlu_cf.splitting.gap import ComparedHalves
from benchwright.params.mmlu_cf import HalfGapParams
from benchwright.reports.half_gap.headline import name_of, say_bounds, say_points, write_headline
from benchwright.reports.half_gap.plots import by_size
from benchwright.reports.page.parts import (
    LONGEST_TABLE,
    Bullets,
    Cell,
    Page,
    Plot,
    Section,
    Table,
    Text,
    cut_note,
    render_page,
)
from benchwright.reports.page.provenance import Fact, provenance_section, settings
from benchwright.reports.page.wording import number, percent, rows_of

_GAPS_HEAD = (
    *("Size", "Model, as asked", "Validation", "Test", "Difference"),
    *("p", "p, corrected", "Alarm"),
)
_SHARES_HEAD = ("Asked", "Size", "Below, points", "Configurations", "Share", "Expected")
_READING = (
    "A model that was trained on the public half does better on it: test − validation is "
    "negative. The alarm needs that beyond chance, after Holm's correction over all "
    "configurations at {alpha}, two-sided.",
    "Where all models, old ones too, differ by as much in the same direction, the halves are not "
    "equally hard. Score some models before the public half is released and compare.",
    "No alarm is no proof: see above how large a gap has to be, with these numbers of items.",
    "Models asked in several ways are several configurations; their errors go together, and "
    "shares of small gaps take them for independent.",
)
_METHOD = (
    "Zhao et al. (2024), MMLU-CF: A Contamination-free Multi-task Language Understanding "
    "Benchmark, section 4.5."
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
    page = Page(
        f"{benchmark.name}: the gap between its halves",
        benchmark.name,
        [
            Section("Models", _models(half_gap, half_gap_settings.level), "gaps"),
            Section(
                "Fields",
                [
                    Plot("fields"),
                    Text(
                        "Only fields that both halves tell by themselves; p is corrected over all "
                        "models and fields.",
                        "quiet",
                    ),
                ],
                "fields",
            ),
            Section("Small gaps", _small_gaps(half_gap_shares), "shares"),
            Section(
                "How to read it",
                [Bullets([line.format(alpha=half_gap_settings.alpha) for line in _READING])],
                "reading",
            ),
            provenance_section(
                "What was compared",
                [
                    Fact("Benchmark", benchmark.name),
                    Fact("Canary of the public half", benchmark.canary),
                    Fact("validation.jsonl, SHA-256", benchmark.validation),
                    Fact("test.sealed, SHA-256", benchmark.test),
                ],
                "monitor",
                settings("half_gap", half_gap_settings),
                _METHOD,
            ),
        ],
        kicker="Public half and closed half",
        headline=first,
        lead=[Text(sentence, "judgement") for sentence in more],
        notes=compared_halves.notes,
        figures={"gaps": figure_half_gap, "fields": figure_half_gap_fields},
    )
    return render_page(page)


def _models(half_gap: pd.DataFrame, level: float) -> list[Any]:
    rows = rows_of(by_size(half_gap[half_gap["field"].eq("")]))
    label = (
        "Accuracy in percent on both halves; difference (test − validation) in points with its "
        f"{level:.0%} interval"
    )
    cells = [_model_cells(row) for row in rows[:LONGEST_TABLE]]
    table = Table(label, _GAPS_HEAD, cells, numbers=range(2, 7), header=1)
    return [Plot("gaps"), table, *cut_note(len(rows), "half_gap")]


def _model_cells(row: dict[Any, Any]) -> list[str | Cell]:
    bounds = [] if row["low"] is None else [say_bounds(row)]
    return [
        row["size_group"],
        Cell(name_of(row), [row["reason"]] if row["reason"] else []),
        *(
            Cell(percent(row[half]), [f"n = {number(row[f'n_{half}'])}"])
            for half in ("validation", "test")
        ),
        Cell("—" if row["delta"] is None else say_points(row["delta"]), bounds),
        number(row["p_value"], 4),
        number(row["p_holm"], 4),
        "looks leaked" if row["suspicious"] else "no",
    ]


def _small_gaps(half_gap_shares: pd.DataFrame) -> list[Any]:
    label = (
        "Share of configurations with a small difference, and what sampling alone gives halves of "
        "equal difficulty"
    )
    rows = [
        [
            f"{row['style']}, {row['shots']} shots" if row["style"] else "all",
            row["size_group"] or "all",
            f"{100 * row['below']:g}",
            number(row["n"]),
            Cell(
                percent(row["share"]),
                [] if row["low"] is None else [f"[{percent(row['low'])}, {percent(row['high'])}]"],
            ),
            percent(row["expected"]),
        ]
        for row in rows_of(half_gap_shares)[:LONGEST_TABLE]
    ]
    return [
        Table(label, _SHARES_HEAD, rows, numbers=range(2, 6), header=-1),
        Text(
            "MMLU-CF tells 60% below 0.5 points and 96% below 1 at 10,000 + 10,000 items, before "
            "its public half was released.",
            "quiet",
        ),
    ]
