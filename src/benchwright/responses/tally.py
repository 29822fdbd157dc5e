"""Count the rows of a file by outcome, with a few examples."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from benchwright.tables.responses import ImportReport

EXAMPLES = 3
SAME_SCORE = 5e-4
"""Tools round their scores to three or four digits."""
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
    several: int = 0
    accuracy: float | None = None
    log_score: float | None = None
    notes: list[str] = field(default_factory=list)
    mean_mark: float | None = None  # of a log, NaN without marks
    marks: int = 0
    shared: int = 0  # rows also in an earlier file, and those with another response
    different: int = 0
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

    def detail(self) -> str:
        """Return the report as text.

        Two files that disagree often are not the same run of a model, which is said.
        """
        parts = [
            f"{count} {what}, e.g. {', '.join(self._examples[what])}"
            for what, count in self._counts.items()
        ]
        parts += self.notes
        if self.shared >= _MIN_SHARED and self.different > _MAX_DISAGREEMENT * self.shared:
            parts.append(
                f"{self.different / self.shared:.0%} of the responses also in an earlier file "
                "differ; if the prompts differ, give the file's style and shots"
            )
        return "; ".join(parts)

    def as_row(self) -> tuple[Any, ...]:
        """Return the row of the `ImportReport` table."""
        *names, _ = ImportReport.columns()
        return (*(getattr(self, name) for name in names), self.detail())
