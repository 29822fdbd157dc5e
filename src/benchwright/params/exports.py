"""What is exported for other harnesses, and under which names they have it already."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from benchwright.params.section import Section

ExportStyle = Literal["letters", "cloze", "generate"]


class StockTaskParams(Section):
    """The `harness` section of a benchmark file: the same questions as lm-evaluation-harness has.

    Rows of its tasks are numbered from 0 in the order of the hub's split, so an item's number is
    known where its id was built by ingestion from that order, or where a source keeps such ids.

    Attributes:
        task: the stock task; `{subject}` is the item's subject in lower case with underscores. Or
            a task for each subject by its exact name.
        order: what an item's row counts in: the whole evaluation split, whose ids are
            `<benchmark>/<row>`; or the subject's part of it, `<benchmark>/<subject>/<row>`.
        sources: the sources whose rows are known to be in that order.
    """

    task: Annotated[str, StringConstraints(min_length=1)] | dict[str, str]
    order: Literal["source_row", "source_row_within_subject"]
    sources: tuple[Literal["hub", "mirror", "local"], ...] = ("hub",)


class ExportsParams(Section):
    """The `exports` section of a variant or benchmark.

    Attributes:
        prefix: the first part of every task's name; keeps them apart from stock tasks.
        styles: tasks to write for questions with options; open-ended ones are always `generate`.
        original: also write the whole benchmark, beside what the variant keeps.
        max_shots: the most demonstrations that a task carries.
        num_fewshot: demonstrations shown where the command line does not say; None shows none.
            The harness takes a 0 in a task as final, so it is not accepted here.
    """

    prefix: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")] = "benchwright"
    styles: Annotated[tuple[ExportStyle, ...], Field(min_length=1)] = ("letters", "cloze")
    original: bool = True
    max_shots: int = Field(default=25, ge=0, le=1000)
    num_fewshot: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _shots_are_there(self) -> Self:
        if self.num_fewshot is not None and self.num_fewshot > self.max_shots:
            raise ValueError(
                f"num_fewshot is {self.num_fewshot}, more than max_shots ({self.max_shots})"
            )
        if len(set(self.styles)) < len(self.styles):
            raise ValueError("styles: each is accepted once")
        return self
