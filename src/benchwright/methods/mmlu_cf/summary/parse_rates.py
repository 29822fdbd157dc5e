"""How many of the questions put to a judge got a reply that could be read."""

from typing import NamedTuple

import pandas as pd

AGAIN = "difficulty again"
"""The task of rating the questions as they are after the rules."""


class ParseRate(NamedTuple):
    """Replies of one judge in one task.

    Attributes:
        task: fields, difficulty, checking, difficulty again (after the rules).
        judge: its name.
        asked: messages.
        first: share read at the first attempt, 0–1.
        read: share read in the end, 0–1.
        attempts: the most there were.
        too_long: messages that did not fit the judge's context.
    """

    task: str
    judge: str
    asked: int
    first: float
    read: float
    attempts: int
    too_long: int


def parse_rates(
    field_rounds: pd.DataFrame,
    difficulty_rounds: pd.DataFrame,
    checking_rounds: pd.DataFrame,
    difficulty_again_rounds: pd.DataFrame,
) -> list[ParseRate]:
    """Each judge's rates over all attempts, from `JudgeRounds` tables, task by task.

    A judge that was asked nothing is left out.
    """
    again = difficulty_again_rounds.assign(task=AGAIN)
    found = []
    for table in (field_rounds, difficulty_rounds, checking_rounds, again):
        for (task, judge), own in table.groupby(["task", "judge"], sort=True):
            first = own[own["attempt"] == own["attempt"].min()]
            asked = int(first["asked"].sum())
            if not asked:
                continue
            found.append(
                ParseRate(
                    str(task),
                    str(judge),
                    asked,
                    int(first["parsed"].sum()) / asked,
                    int(own["parsed"].sum()) / asked,
                    int(own["attempt"].max()),
                    int(own["too_long"].sum()),
                )
            )
    return found
