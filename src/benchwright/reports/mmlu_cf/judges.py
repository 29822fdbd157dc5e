"""What a page says about judges: readable replies, and agreement beyond chance."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from benchwright.methods.mmlu_cf.construction_steps import ParseRate
from benchwright.reports.page.parts import LONGEST_TABLE, Cell, Table, Text, cut_note
from benchwright.reports.page.wording import bounds, coefficient, joined, number, percent, rows_of

_RELIABLE = 0.667  # below it, Krippendorff advises against conclusions (2019, chapter 12)
_LOW_PARSE_RATE = 0.9


def doubtful_judges(rates: Sequence[ParseRate], judge_agreement: pd.DataFrame) -> Iterator[str]:
    """Name judges with few readable replies, and criteria on which judges agree too little."""
    for rate in rates:
        if rate.read < _LOW_PARSE_RATE:
            yield (
                f"Only {percent(rate.read)} of {rate.asked:,} prompts to {rate.judge} "
                f"({rate.task}) got a readable reply: the judged items are not a random sample."
            )
    pooled = judge_agreement[judge_agreement["judge"].eq("") & judge_agreement["other"].eq("")]
    low = pooled[pooled["alpha"] < _RELIABLE].to_dict("records")
    if low:
        names = [f"{row['criterion'].replace('_', ' ')} ({row['alpha']:.2f})" for row in low]
        yield f"The judges agree too little (alpha below {_RELIABLE}) on {joined(names)}."


def replies_table(rates: Sequence[ParseRate]) -> Table:
    """Return the shares of readable replies of each judge."""
    head = (
        *("Task", "Judge", "Prompts", "Readable at the first attempt", "Readable in the end"),
        *("Attempts", "Too long"),
    )
    rows = [
        [
            *(rate.task, rate.judge, number(rate.asked), percent(rate.first), percent(rate.read)),
            *(str(rate.attempts), number(rate.too_long)),
        ]
        for rate in rates
    ]
    return Table("Readable replies", head, rows, range(2, 7), header=1)


def show_agreement(judge_agreement: pd.DataFrame) -> list[Any]:
    """Show Krippendorff's alpha of all judges and of each pair."""
    if judge_agreement.empty:
        why = "Fewer than two judges gave ratings, so there is no agreement to measure."
        return [Text(why, "quiet")]
    head = ("Criterion", "Judges", "Questions", "Alpha")
    rows: list[list[Any]] = []
    for row in rows_of(judge_agreement.head(LONGEST_TABLE)):
        about = bounds(row["low"], row["high"], 2) or row["reason"]
        rows.append(
            [
                f"{row['task']}: {row['criterion'].replace('_', ' ')}",
                f"{row['judge']} and {row['other']}" if row["judge"] else "all judges",
                number(row["n_items"]),
                Cell(coefficient(row["alpha"], 2), [about] if about else []),
            ]
        )
    label = "Agreement of the judges: Krippendorff's alpha (0: by chance, 1: full)"
    table = Table(label, head, rows, (2, 3))
    return [table, *cut_note(len(judge_agreement), "judge_agreement")]
