"""Items and a benchmark for the tests of the exports."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from benchwright.core.content_hash import content_hash
from benchwright.params.benchmark import BenchmarkParams
from benchwright.tables.items import ItemRows

COLOURS = ("red", "green", "blue", "grey")


def item(
    item_id: str,
    subject: str = "anatomy",
    question: str | None = None,
    choices: Sequence[str] = COLOURS,
    answer: int = 1,
    answer_text: str = "",
    explanation: str | None = None,
) -> tuple[Any, ...]:
    question = question if question is not None else f"Which colour has {item_id}?"
    return (
        item_id,
        "test",
        subject,
        question,
        list(choices),
        answer if choices else -1,
        choices[answer] if choices else answer_text,
        [answer] if choices else [],
        None,
        explanation,
        None,
        None,
        None,
        content_hash(question, choices),
    )


def table(*rows: tuple[Any, ...]) -> pd.DataFrame:
    return ItemRows.from_rows(rows)


def benchmark(**changes: Any) -> BenchmarkParams:
    fields = {
        "question": "question",
        "choices": {"column": "choices"},
        "gold": {"form": "index", "column": "answer"},
    }
    given = {
        "name": "colours",
        "title": "Colours",
        "licence": "CC0-1.0",
        "citation": "Nobody (2026).",
        "url": "",
        "sources": {"hub": {"id": "nobody/colours", "fields": fields}},
        "splits": {"evaluation": ["test"], "demonstrations": ["dev"]},
        **changes,
    }
    return BenchmarkParams.model_validate(given)
