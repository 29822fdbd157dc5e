"""Count the rows of a file by outcome, with a few examples."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from benchwright.logs.sample import Sample

EXAMPLES = 3
SAME_SCORE = 5e-4
"""Tools round their scores to three or four digits."""


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
    several: int = 0
    accuracy: float | None = None
    log_score: float | None = None
    notes: list[str] = field(default_factory=list)
    is_notable: bool = False  # whether a verdict on the file should show the notes
    model: str = ""  # of a log
    _examples: dict[str, list[str]] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def add(self, counter: str, what: str, count: int, examples: Iterable[str]) -> None:
        """Add `count` rows to a counter (unless "") and to the report, with the first three."""
        if counter:
            setattr(self, counter, getattr(self, counter) + count)
        if count:
            known = {*self._examples.get(what, ()), *examples}
            self._examples[what] = sorted(known)[:EXAMPLES]
            self._counts[what] = self._counts.get(what, 0) + count

    def add_samples(self, counter: str, what: str, samples: Iterable[Sample]) -> None:
        """Count samples of a log."""
        named = [f"doc {sample.number} × {self.model}" for sample in samples]
        self.add(counter, what, len(named), named)

    def detail(self) -> str:
        """Return the report as text."""
        parts = (
            f"{count} {what}, e.g. {', '.join(self._examples[what])}"
            for what, count in self._counts.items()
        )
        return "; ".join([*parts, *self.notes])


def unknown_condition(condition: str) -> str:
    """Return the report's text for responses under an unknown condition."""
    return f"not joined (unknown condition {condition})"


def different_texts(condition: str) -> str:
    """Return the report's text for responses to other texts than those of the copy."""
    return (
        f"not joined (texts differ from those of {condition} in this run; "
        "check the seed and settings of the perturbation)"
    )
