"""A question as it was found on a page."""

from dataclasses import dataclass

from benchwright.methods.mmlu_cf.extraction.answer_lines import folded
from benchwright.methods.mmlu_cf.extraction.lines import Line
from benchwright.methods.mmlu_cf.extraction.question_tables import TableQuestion


@dataclass(slots=True)
class FoundQuestion:
    """The columns of a raw item, before it gets its number; characters start … end − 1."""

    question: str
    choices: list[str]
    labels: list[str]
    answer: str | None
    explanation: str | None
    passage: str | None
    layout: str
    start: int
    end: int
    linked: bool = False

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """Equal for the same question with the same choices in any order."""
        return folded(self.question), tuple(sorted(map(folded, self.choices)))

    @classmethod
    def of_table(cls, row: TableQuestion, line: Line) -> "FoundQuestion":
        """A question that is a row of a table."""
        return cls(
            row.question,
            row.choices,
            row.labels,
            row.answer,
            row.explanation,
            None,
            "rows",
            line.start,
            line.start + len(line.text),
        )
