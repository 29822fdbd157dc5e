"""A question as a page shows it."""

from dataclasses import dataclass


@dataclass
class FoundQuestion:
    """The columns of a raw item at characters start … end − 1."""

    question: str
    choices: list[str]
    labels: list[str]
    answer: str | None
    explanation: str | None
    passage: str | None
    layout: str
    start: int
    end: int
