"""Settings of the export to lm-evaluation-harness."""

from typing import Annotated, Literal

from pydantic import Field

from benchwright.params.section import Distinct, Section

ExportStyle = Literal["letters", "cloze", "generate"]


class ExportsParams(Section):
    """The `exports` section of a variant or benchmark."""

    # styles of tasks with options; open-ended tasks are always `generate`
    styles: Annotated[tuple[ExportStyle, ...], Field(min_length=1), Distinct] = ("letters", "cloze")
