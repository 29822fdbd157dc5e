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
CLEAN, REJECTED, CHANGES, FUNNEL = (
    arrow_schema(table, pa.large_list(pa.large_string()))
    for table in (CleanItems, RejectedRawItems, CleaningChanges, CleaningFunnel)
)


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
            labels = ("?" if labels else "",) * len(choices)
        texts = (record.get(name) for name in ("answer", "passage", "explanation"))
        return cls(record["question"] or "", choices, labels, *texts)

    @property
    def position(self) -> int:
        """Position of the only choice whose label is the answer; −1 if there is none."""
        return self.labels.index(self.answer) if self.labels.count(self.answer) == 1 else -1

    def differences(self, other: "Row") -> list[tuple[str, str, str]]:
        """Return column, text and other text wherever two rows with as many choices differ."""
        found = []
        for field in fields(self):
            old, new = getattr(self, field.name), getattr(other, field.name)
            if isinstance(old, tuple):
                pairs = enumerate(zip(old, new, strict=True))
                found += [(f"{field.name}[{at}]", *pair) for at, pair in pairs if len({*pair}) > 1]
            elif old != new:
                found.append((field.name, old, new))
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
