"""Count the rows of a file by what happened to them, with a few examples."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass, field
from typing import Any

EXAMPLES = 3
MANY = 20
UNLIKE = 0.02


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
    notes: list[str] = field(default_factory=list)
    _examples: dict[str, list[str]] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def add(self, counter: str, what: str, count: int, examples: Iterable[str]) -> None:
        """Add `count` rows to a counter and to the report, with three examples."""
        setattr(self, counter, getattr(self, counter) + int(count))
        self.tell(what, count, examples)

    def tell(self, what: str, count: int, examples: Iterable[str]) -> None:
        """Report `count` rows, with the first three examples by name."""
        if count == 0:
            return
        seen = [*self._examples.get(what, []), *examples]
        self._examples[what] = sorted(set(seen))[:EXAMPLES]
        self._counts[what] = self._counts.get(what, 0) + int(count)

    def absorb(self, other: "Tally") -> None:
        """Add another tally of the same file."""
        for counter in ("doubled", "not_joined", "dropped"):
            setattr(self, counter, getattr(self, counter) + getattr(other, counter))
        for what, count in other._counts.items():
            self.tell(what, count, other._examples[what])
        self.notes += other.notes

    def note_unlike(self, unlike: int, shared: int) -> None:
        """Add a note if a model's answers in two files differ too often to be the same run."""
        if shared >= MANY and unlike > UNLIKE * shared:
            self.notes.append(
                f"{unlike / shared:.0%} of the answers that another file has too are not the same: "
                "if the model was asked in another way, say so with style and shots"
            )

    def detail(self) -> str:
        """Describe in words what was reported."""
        counts = [
            f"{count} {what}, e.g. {', '.join(self._examples[what])}"
            for what, count in self._counts.items()
        ]
        return "; ".join([*counts, *self.notes])

    def as_row(self) -> tuple[Any, ...]:
        """Return the row of the `ImportReport` table."""
        return (*astuple(self)[:10], self.detail())
