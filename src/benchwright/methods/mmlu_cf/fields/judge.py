"""Judges name the field of a question."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.language_models.protocol import Ask
from benchwright.methods.mmlu_cf.fields.names import FIELDS, SPELLINGS
from benchwright.methods.mmlu_cf.judging.judges import ask_judges, shown_options
from benchwright.methods.mmlu_cf.judging.replies import parse_choice
from benchwright.tables.mmlu_cf import FieldPredictions

_TASK = (
    "Which field does the question below belong to? Do not answer the question. Reply with one of "
    f"these names and nothing else: {', '.join(FIELDS)}."
)


class JudgedFields(NamedTuple):
    """Tables `FieldPredictions` and `JudgeRounds`."""

    predictions: pd.DataFrame
    rounds: pd.DataFrame


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

    said, rounds = ask_judges("fields", judges, prompts, read, attempts)
    named: dict[str, Counter[str]] = {item_id: Counter() for item_id in ids}
    for one in said.values():
        for item_id, last in zip(ids, one.last, strict=True):
            named[item_id].update([last.value] if last.value is not None else [])
    return JudgedFields(
        FieldPredictions.from_rows([_row(item_id, named[item_id]) for item_id in ids]), rounds
    )


def _row(item_id: str, named: Counter[str]) -> tuple[Any, ...]:
    if not named:
        return (item_id, None, np.nan, None, "not_judged")
    ranked = sorted(named, key=lambda field: (-named[field], FIELDS.index(field)))
    total = named.total()
    confidence = named[ranked[0]] / total if total > 1 else np.nan
    return (item_id, ranked[0], confidence, ranked[1] if len(ranked) > 1 else None, "judges")
