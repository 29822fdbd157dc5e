"""Count the rows of a file by outcome, with a few examples."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass, field
from typing import Any

EXAMPLES = 3
_MIN_SHARED = 20
_MAX_DISAGREEMENT = 0.02


@dataclass
class Tally:
    """One row of the import report."""

    file: str
    layout: str
    models: int = 0
    rows: int = 0
    joined_by_id: int = 0
    joined_by_hash: int = 0
    not_joined: int = 0
    doubled: int = 0
    contradicting: int = 0
    dropped: int = 0
    failed: int = 0
    unreadable: int = 0
    accuracy: float | None = None
    log_score: float | None = None
    notes: list[str] = field(default_factory=list)
    _examples: dict[str, list[str]] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def add(self, counter: str, what: str, count: int, examples: Iterable[str]) -> None:
        """Add `count` rows to a counter and to the report, with up to three examples."""
        setattr(self, counter, getattr(self, counter) + int(count))
        self.report(what, count, examples)

    def report(self, what: str, count: int, examples: Iterable[str]) -> None:
        """Report `count` rows, with the first three examples by name."""
        if count == 0:
            return
        known = [*self._examples.get(what, []), *examples]
        self._examples[what] = sorted(set(known))[:EXAMPLES]
        self._counts[what] = self._counts.get(what, 0) + int(count)

    def absorb(self, other: "Tally") -> None:
        """Add another tally of the same file."""
        for counter in ("doubled", "not_joined", "dropped", "failed"):
            setattr(self, counter, getattr(self, counter) + getattr(other, counter))
        for what, count in other._counts.items():
            self.report(what, count, other._examples[what])
        self.notes += other.notes

    def note_disagreement(self, different: int, shared: int) -> None:
        """Add a note if two files disagree too often to be the same run of a model."""
        if shared >= _MIN_SHARED and different > _MAX_DISAGREEMENT * shared:
            self.notes.append(
                f"{different / shared:.0%} of the responses also in an earlier file differ; "
                "if the prompts differ, give the file's style and shots"
            )

    def detail(self) -> str:
        """Return the report as text."""
        counts = [
            f"{count} {what}, e.g. {', '.join(self._examples[what])}"
            for what, count in self._counts.items()
        ]
        return "; ".join([*counts, *self.notes])

    def as_row(self) -> tuple[Any, ...]:
        """Return the row of the `ImportReport` table."""
        return (*astuple(self)[:14], self.detail())
