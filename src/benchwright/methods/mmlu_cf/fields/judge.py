"""Judges name the field of a question."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.language_models.protocol import Ask
from benchwright.methods.mmlu_cf.fields.names import FIELDS, SPELLINGS
from benchwright.methods.mmlu_cf.judging.judges import ask_in_rounds, rounds_table, shown_options
from benchwright.methods.mmlu_cf.judging.replies import parse_choice
from benchwright.tables.mmlu_cf import FieldPredictions, JudgeRounds

_TASK = (
    "Which field does the question below belong to? Do not answer the question. Reply with one of "
    f"these names and nothing else: {', '.join(FIELDS)}."
)


class JudgedFields(NamedTuple):
    """Tables `FieldPredictions` and `JudgeRounds`, and each judge's word: item_id, judge, field."""

    predictions: pd.DataFrame
    rounds: pd.DataFrame
    votes: pd.DataFrame


def field_prompt(question: str, choices: Sequence[str]) -> str:
    """What a judge is told."""
    return f"{_TASK}\n\nQuestion: {question}\n{shown_options(choices)}\n\nField:"


def judge_fields(items: pd.DataFrame, judges: Mapping[str, Ask], attempts: int) -> JudgedFields:
    """The field that most judges name, and the share of them that do.

    Equal numbers of votes go to the first in the list of fields. A single judge gives no
    confidence.

    Args:
        items: item_id, question, choices (list[str]).
        judges: each by its name.
        attempts: the most times a judge is asked where its reply cannot be read.
    """
    ids = [str(item_id) for item_id in items["item_id"]]
    asked = [
        (str(question), [str(choice) for choice in choices])
        for question, choices in zip(items["question"], items["choices"], strict=True)
    ]
    prompts = [field_prompt(question, choices) for question, choices in asked]

    def read(place: int, reply: str) -> str | None:
        question, choices = asked[place]
        return parse_choice(reply, SPELLINGS, "field", [_TASK, question, shown_options(choices)])

    rounds: list[pd.DataFrame] = []
    votes: list[tuple[str, str, str | None]] = []
    for judge in sorted(judges):
        said = ask_in_rounds(judges[judge], prompts, read, attempts)
        rounds.append(rounds_table("fields", judge, said))
        votes.extend(
            (item_id, judge, field) for item_id, field in zip(ids, said.values, strict=True)
        )
    named: dict[str, Counter[str]] = {item_id: Counter() for item_id in ids}
    for item_id, _, field in votes:
        if field is not None:
            named[item_id][field] += 1
    return JudgedFields(
        FieldPredictions.from_rows([_row(item_id, named[item_id]) for item_id in ids]),
        pd.concat(rounds, ignore_index=True) if rounds else JudgeRounds.empty(),
        pd.DataFrame(votes, columns=["item_id", "judge", "field"]),
    )


def _row(item_id: str, named: Counter[str]) -> tuple[Any, ...]:
    if not named:
        return (item_id, None, np.nan, None, "not_judged")
    ranked = sorted(named, key=lambda field: (-named[field], FIELDS.index(field)))
    total = named.total()
    confidence = named[ranked[0]] / total if total > 1 else np.nan
    return (item_id, ranked[0], confidence, ranked[1] if len(ranked) > 1 else None, "judges")
