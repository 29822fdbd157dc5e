"""A judge is asked about everything, then again about what could not be read."""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

import pandas as pd

from benchwright.compute.asking import Ask
from benchwright.tables.mmlu_cf import JudgeRounds

T = TypeVar("T")


class Said(NamedTuple, Generic[T]):
    """What came of one question to a judge in one attempt.

    Attributes:
        place: which text was asked.
        attempt: from 1.
        reply: as the model wrote it; None where the text does not fit its context.
        value: what was read off the reply; None where nothing was.
        status: parsed, unparsed or too_long.
    """

    place: int
    attempt: int
    reply: str | None
    value: T | None
    status: str


class Rounds(NamedTuple, Generic[T]):
    """All attempts in order, and the last one on each text (n,)."""

    attempts: list[Said[T]]
    last: list[Said[T]]

    @property
    def values(self) -> list[T | None]:
        """What was read in the end, text by text."""
        return [said.value for said in self.last]


def ask_in_rounds(
    ask: Ask, texts: Sequence[str], parse: Callable[[int, str], T | None], attempts: int
) -> Rounds[T]:
    """Ask all texts, then those whose replies said nothing readable, up to so many times.

    A text that does not fit the model's context is not asked again.

    Args:
        ask: the judge.
        texts: n messages.
        parse: the place of a text and the reply to it → what it says, or None.
        attempts: the most times each is asked, at least 1.

    Raises:
        ValueError: `attempts` is below 1.
    """
    if attempts < 1:
        raise ValueError(f"attempts is {attempts}; 1 or more is accepted")
    told: list[Said[T]] = []
    last: dict[int, Said[T]] = {}
    open_places = list(range(len(texts)))
    for attempt in range(1, attempts + 1):
        if not open_places:
            break
        replies = ask([texts[place] for place in open_places], attempt)
        for place, reply in zip(open_places, replies, strict=True):
            value = None if reply is None else parse(place, reply)
            status = "too_long" if reply is None else "unparsed" if value is None else "parsed"
            last[place] = Said(place, attempt, reply, value, status)
            told.append(last[place])
        open_places = [place for place in open_places if last[place].status == "unparsed"]
    return Rounds(told, [last[place] for place in range(len(texts))])


def rounds_table(task: str, judge: str, rounds: Rounds[T]) -> pd.DataFrame:
    """A `JudgeRounds` table: how many were asked and read in each attempt."""
    rows: list[tuple[str, str, int, int, int, int, int, float]] = []
    for attempt in sorted({said.attempt for said in rounds.attempts}):
        statuses = [said.status for said in rounds.attempts if said.attempt == attempt]
        parsed = statuses.count("parsed")
        rows.append(
            (
                task,
                judge,
                attempt,
                len(statuses),
                parsed,
                statuses.count("unparsed"),
                statuses.count("too_long"),
                parsed / len(statuses),
            )
        )
    return JudgeRounds.from_rows(rows)
