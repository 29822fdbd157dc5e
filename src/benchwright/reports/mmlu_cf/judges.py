"""What a page says about judges: readable replies, and agreement beyond chance."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from benchwright.core.wording import bounds, coefficient, joined, percent, rows_of
from benchwright.reports.page.parts import (
    Cell,
    Column,
    Table,
    Text,
    as_count,
    as_share,
    as_text,
    as_words,
    cut_table,
    table_of,
)

_RELIABLE = 0.667  # below it, Krippendorff advises against conclusions (2019, chapter 12)
_LOW_PARSE_RATE = 0.9


def doubtful_judges(rates: pd.DataFrame, judge_agreement: pd.DataFrame) -> Iterator[str]:
    """Name judges with few readable replies, and criteria on which judges agree too little."""
    for rate in rates.to_dict("records"):
        if rate["read"] < _LOW_PARSE_RATE:
            yield (
                f"Only {percent(rate['read'])} of {rate['asked']:,} prompts to {rate['judge']} "
                f"({rate['task']}) got a readable reply: the judged items are not a random sample."
            )
    pooled = judge_agreement[judge_agreement["judge"].eq("") & judge_agreement["other"].eq("")]
    low = pooled[pooled["alpha"] < _RELIABLE].to_dict("records")
    if low:
        names = [f"{row['criterion'].replace('_', ' ')} ({row['alpha']:.2f})" for row in low]
        yield f"The judges agree too little (alpha below {_RELIABLE}) on {joined(names)}."


def replies_table(rates: pd.DataFrame) -> Table:
    """Return the shares of readable replies of each judge."""
    names: list[Column] = [
        ("Task", as_text, "task"),
        ("Judge", as_text, "judge"),
        ("Prompts", as_count, "asked"),
        ("Readable at the first attempt", as_share, "first"),
        ("Readable in the end", as_share, "read"),
        ("Attempts", as_count, "attempts"),
        ("Too long", as_count, "too_long"),
    ]
    return table_of(rows_of(rates), names, range(2, 7), "Readable replies")


def show_agreement(judge_agreement: pd.DataFrame) -> list[Any]:
    """Show Krippendorff's alpha of all judges and of each pair."""
    if judge_agreement.empty:
        why = "Fewer than two judges gave ratings, so there is no agreement to measure."
        return [Text(why, "quiet")]
    names: list[Column] = [
        ("Task", as_text, "task"),
        ("Criterion", as_words, "criterion"),
        ("Judges", _judges, "judge"),
        ("Questions", as_count, "n_items"),
        ("Alpha", _alpha, "alpha"),
    ]
    label = "Agreement of the judges: Krippendorff's alpha (0: by chance, 1: full)"
    return cut_table(label, rows_of(judge_agreement), names, "judge_agreement")


def _judges(row: Mapping[Any, Any], name: str) -> str:
    return f"{row[name]} and {row['other']}" if row[name] else "all judges"


def _alpha(row: Mapping[Any, Any], name: str) -> Cell:
    about = bounds(row["low"], row["high"], 2) or row["reason"]
    return Cell(coefficient(row[name], 2), [about] if about else [])
