"""Questions with a level of difficulty, shown to a judge before the one it rates."""

import json
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError


class WorkedExample(NamedTuple):
    """A question with options, the index of the right one, and its level 0–9."""

    question: str
    choices: tuple[str, ...]
    answer: int
    rating: int


BUNDLED = (
    WorkedExample(
        "Which of these animals can fly?",
        ("A cow", "A sparrow", "A carp", "A dog"),
        1,
        0,
    ),
    WorkedExample(
        "Which metal is liquid at room temperature?",
        ("Mercury", "Copper", "Tin", "Iron"),
        0,
        2,
    ),
    WorkedExample(
        "A shop takes 20% off a coat and then another 10% off the lower price. By how much has the "
        "price fallen in all?",
        ("30%", "25%", "28%", "32%"),
        2,
        4,
    ),
    WorkedExample(
        "A buffer holds equal concentrations of a weak acid (pKa 4.8) and its salt. To which pH "
        "does it move when a tenth of the salt is turned into acid?",
        ("4.9", "4.8", "3.8", "4.7"),
        3,
        6,
    ),
    WorkedExample(
        "For which of these groups is every automorphism inner while the centre is not trivial?",
        (
            "The symmetric group on six letters",
            "The cyclic group of order two",
            "The quaternion group of order eight",
            "The cyclic group of order five",
        ),
        1,
        9,
    ),
)
"""Five levels over the whole scale; written for this project."""


def read_examples(table: pd.DataFrame) -> tuple[WorkedExample, ...]:
    """A user's examples: columns question, choices (a JSON list), answer (a letter), rating (0–9).

    Raises:
        InputError: a column is missing, or a row cannot be read.
    """
    columns = ["question", "choices", "answer", "rating"]
    if missing := [name for name in columns if name not in table.columns]:
        raise InputError(
            f"difficulty examples: column {missing[0]!r} is missing; "
            f"{', '.join(columns)} are needed"
        )
    return tuple(
        _example(number, *row)
        for number, row in enumerate(table[columns].itertuples(index=False), start=1)
    )


def _example(
    number: int, question: object, choices: object, answer: object, rating: object
) -> WorkedExample:
    where = f"difficulty examples, row {number}"
    try:
        options = json.loads(choices) if isinstance(choices, str) else choices
    except ValueError:
        options = None
    texts = tuple(map(str, options)) if isinstance(options, list | tuple | np.ndarray) else ()
    if not 2 <= len(texts) <= 26 or not str(question).strip():
        raise InputError(
            f"{where}: choices is {choices!r}; a question and a JSON list of 2–26 texts are needed"
        )
    letter = str(answer).strip().upper()
    if len(letter) != 1 or letter not in ascii_uppercase[: len(texts)]:
        last = ascii_uppercase[len(texts) - 1]
        raise InputError(f"{where}: answer is {answer!r}; a letter A–{last} is accepted")
    level = pd.to_numeric(pd.Series([rating]), errors="coerce").iloc[0]
    if level not in range(10):
        raise InputError(f"{where}: rating is {rating!r}; a whole number from 0 to 9 is accepted")
    return WorkedExample(str(question), texts, ascii_uppercase.index(letter), int(level))
