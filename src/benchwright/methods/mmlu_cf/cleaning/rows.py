"""A question for the cleaning rules, and the results of cleaning."""

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import pyarrow as pa

from benchwright.tables.mmlu_cf import (
    CleaningChanges,
    CleaningFunnel,
    CleanItems,
    RejectedRawItems,
    arrow_schema,
)

LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_TEXTS = pa.large_list(pa.large_string())
CLEAN = arrow_schema(CleanItems, _TEXTS)
REJECTED = arrow_schema(RejectedRawItems, _TEXTS)
CHANGES = arrow_schema(CleaningChanges, _TEXTS)
FUNNEL = arrow_schema(CleaningFunnel, _TEXTS)


@dataclass(frozen=True)
class Row:
    """A question as on its page."""

    question: str
    choices: tuple[str, ...]
    labels: tuple[str, ...]  # one per choice: "" without labels, "?" where there are more or fewer
    answer: str | None
    passage: str | None
    explanation: str | None

    @classmethod
    def of(cls, record: dict[str, Any]) -> "Row":
        """Return the row of a `RawItems` record; labels, passage, explanation are optional."""
        choices = tuple(choice or "" for choice in record["choices"] or ())
        labels = tuple(label or "" for label in record.get("labels") or ())
        if len(labels) != len(choices):
            labels = tuple("?" if labels else "" for _ in choices)
        return cls(
            question=record["question"] or "",
            choices=choices,
            labels=labels,
            answer=record.get("answer"),
            passage=record.get("passage"),
            explanation=record.get("explanation"),
        )

    @property
    def position(self) -> int:
        """Position of the only choice whose label is the answer; −1 if there is none."""
        return self.labels.index(self.answer) if self.labels.count(self.answer) == 1 else -1

    def differences(self, other: "Row") -> list[tuple[str, str, str]]:
        """Return column, text and other text wherever two rows with as many choices differ."""
        found = []
        for field in fields(self):
            old = getattr(self, field.name)
            new = getattr(other, field.name)
            if not isinstance(old, tuple):
                if old != new:
                    found.append((field.name, old, new))
                continue
            for at, (text, rewritten) in enumerate(zip(old, new, strict=True)):
                if text != rewritten:
                    found.append((f"{field.name}[{at}]", text, rewritten))
        return found


class CleanedBatch(NamedTuple):
    """The result of the rules for single rows; each row is in `rows` or in `rejected`."""

    rows: pa.Table  # `CleanItems` (field and field_confidence null)
    rejected: pa.Table  # `RejectedRawItems`
    # `CleaningChanges`: one per text rewritten by a rule, also of rows rejected later
    changes: pa.Table


class Cleaned(NamedTuple):
    """The result of cleaning; each row is in `rows` or in `rejected`."""

    rows: pa.Table
    rejected: pa.Table
    changes: pa.Table
    counts: pa.Table  # `CleaningFunnel`
