"""Settings of the export to lm-evaluation-harness, and stock tasks with the same questions."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from benchwright.params.section import Distinct, Section

ExportStyle = Literal["letters", "cloze", "generate"]


class StockTaskParams(Section):
    """The `harness` section of a benchmark file: stock tasks of lm-evaluation-harness.

    Rows of these tasks are numbered from 0 in the order of the hub's split, so an item's row is
    known if ingestion built its id from that order, or a source keeps such ids.
    """

    # the stock task, where `{subject}` is the item's subject in lower case with underscores; or a
    # task for each subject by its exact name
    task: Annotated[str, StringConstraints(min_length=1)] | dict[str, str]
    # how ids number rows: `<benchmark>/<row>` counts in the whole evaluation split,
    # `<benchmark>/<subject>/<row>` in the subject's part of it
    order: Literal["source_row", "source_row_within_subject"]
    # the sources whose rows are known to be in that order
    sources: tuple[Literal["hub", "mirror", "local"], ...] = ("hub",)


class ExportsParams(Section):
    """The `exports` section of a variant or benchmark."""

    # styles of tasks with options; open-ended tasks are always `generate`
    styles: Annotated[tuple[ExportStyle, ...], Field(min_length=1), Distinct] = ("letters", "cloze")
